package server

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/patterns"
	"patterngate/server/status"
)

// A plan is a resource of its principal. patterngate://plans/{plan_id} is a page about its current state, in Markdown
// with a drawing of its subtasks. Other principals' plans do not exist for the caller.
const (
	plansURI      = "patterngate://plans/"
	plansTemplate = plansURI + "{plan_id}"
	markdownType  = "text/markdown"
)

// listedTemplates removes the plan template from the list if no pattern makes plans.
func (s *Server) listedTemplates(_ context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
	if len(s.newest().planStatus) > 0 {
		return
	}
	result.ResourceTemplates = slices.DeleteFunc(slices.Clone(result.ResourceTemplates), func(t mcp.ResourceTemplate) bool {
		return t.URITemplate != nil && t.URITemplate.Raw() == plansTemplate
	})
}

// addPlans adds the resource template for plans.
func (s *Server) addPlans() {
	t := mcp.NewResourceTemplate(plansTemplate, "plan",
		mcp.WithTemplateDescription(planResourceAbout),
		mcp.WithTemplateMIMEType(markdownType))
	t.Title = planResource
	s.mcp.AddResourceTemplate(t, func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		state, err := s.config.Engine.Plan(s.principalOf(ctx), "", strings.TrimPrefix(req.Params.URI, plansURI))
		switch {
		case errors.Is(err, patterns.ErrNoPlan), errors.Is(err, patterns.ErrPlanCorrupt):
			return nil, errNoPlan
		case err != nil:
			return nil, s.fault(ctx, err)
		}
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: markdownType, Text: status.PlanPage(state)}}, nil
	})
}

// hidePlans moves the URI of a plan that the principal does not have to a URI without a template; see
// [Server.hideRuns].
func (s *Server) hidePlans(ctx context.Context, _ any, req *mcp.ReadResourceRequest) {
	id, isPlan := strings.CutPrefix(req.Params.URI, plansURI)
	if !isPlan {
		return
	}
	if _, err := s.config.Engine.Plan(s.principalOf(ctx), "", id); errors.Is(err, patterns.ErrNoPlan) || errors.Is(err, patterns.ErrPlanCorrupt) {
		req.Params.URI = plansURI + "//" + id // no template has so many parts
	}
}

// planIDs returns the ids of the principal's newest plans.
func (s *Server) planIDs(principal string) []string {
	page, err := s.config.Engine.ListPlans(patterns.PlanFilter{Principal: principal, Limit: maxCompletions})
	if err != nil {
		return nil
	}
	ids := make([]string, len(page.Plans))
	for i, state := range page.Plans {
		ids[i] = state.Plan.ID
	}
	return ids
}
