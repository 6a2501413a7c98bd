package server

import (
	"fmt"
	"slices"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/status"
)

// A planning pattern has four tools. Three of them begin runs; each is a [Pattern] with the same Spec except for its
// name. The fourth, plan_status, begins no run and is offered wherever one of the three is.

// planListing returns the title and description of one planning tool.
func planListing(spec patterns.Spec) listing {
	execute := arguments.PlanTool(spec.Plans, patterns.ExecuteVerb)
	switch arguments.VerbOf(spec) {
	case patterns.DecomposeVerb:
		return listing{planDecomposeTitle, planDecomposeAbout(execute)}
	case patterns.ExecuteVerb:
		return listing{planExecuteTitle, planExecuteAbout}
	case patterns.ReplanVerb:
		return listing{planReplanTitle, planReplanAbout}
	case patterns.StatusVerb:
		return listing{planStatusTitle, planStatusAbout}
	}
	return listing{}
}

// statusSpec returns the spec of the tool that shows a pattern's plans.
func statusSpec(spec patterns.Spec) patterns.Spec {
	spec.Name = arguments.PlanTool(spec.Plans, patterns.StatusVerb)
	return spec
}

// checkPlanning returns an error if the spec does not have the name of a planning tool.
func checkPlanning(spec patterns.Spec) error {
	switch arguments.VerbOf(spec) {
	case patterns.DecomposeVerb, patterns.ExecuteVerb, patterns.ReplanVerb:
		return nil
	}
	return errPlanningName(spec.Plans, arguments.PlanTool(spec.Plans, patterns.DecomposeVerb),
		arguments.PlanTool(spec.Plans, patterns.ExecuteVerb), arguments.PlanTool(spec.Plans, patterns.ReplanVerb))
}

// declareStatus makes the tools that show plans, one for each planning pattern.
func (s *Server) declareStatus() error {
	s.planStatus = map[string]*status.Tool{}
	for _, p := range s.config.Patterns {
		if p.Spec.Kind != gateway.Planning || s.planStatus[p.Spec.Plans] != nil {
			continue
		}
		t, err := s.newPlanStatus(statusSpec(p.Spec))
		if err != nil {
			return fmt.Errorf("%s: %w", arguments.PlanTool(p.Spec.Plans, patterns.StatusVerb), err)
		}
		s.planStatus[p.Spec.Plans] = t
	}
	return nil
}

// newPlanStatus makes the tool that shows the plans of one planning pattern.
func (s *Server) newPlanStatus(spec patterns.Spec) (*status.Tool, error) {
	words := planListing(spec)
	words.title = remarked(words.title, spec)
	return status.NewPlanStatus(s.status(), spec, words.title, words.description)
}

// statusAfter returns the tool that shows plans if the i-th pattern is the last of its planning pattern, otherwise nil.
func (s *Server) statusAfter(i int) *status.Tool {
	spec := s.tools[i].Spec
	if spec.Kind != gateway.Planning {
		return nil
	}
	for _, later := range s.tools[i+1:] {
		if later.Spec.Kind == gateway.Planning && later.Spec.Plans == spec.Plans {
			return nil
		}
	}
	return s.planStatus[spec.Plans]
}

// plansOffered returns the names of the planning patterns that are served.
func (s *Server) plansOffered() []string {
	var names []string
	for i, t := range s.tools {
		if s.statusAfter(i) != nil {
			names = append(names, t.Spec.Plans)
		}
	}
	return names
}

// offers reports whether clients of this server see a tool.
func (s *Server) offers(name string) bool {
	if slices.Contains(ownTools, name) {
		return s.config.offers(name)
	}
	for _, t := range s.planStatus {
		if t.Name() == name {
			return true
		}
	}
	return s.toolOf(name) != nil
}

// listedAs returns how the instructions name a pattern. A planning pattern's tools share one name.
func listedAs(spec patterns.Spec) string {
	if spec.Kind == gateway.Planning {
		return spec.Plans + "_*"
	}
	return spec.Name
}
