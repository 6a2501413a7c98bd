package cli

import (
	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm"
	"patterngate/server"
)

// declared is what runs are made of under a configuration: its catalog, its patterns and who answers their questions. What
// is served and what a record is carried on with are made here alike.
type declared struct {
	hash, catalog string // of the configuration and of the catalog
	tools         *catalog.Catalog
	patterns      []declaredPattern
	model         patterns.Model
	configured    bool // the user set the model up
	redact        []string
}

// declaredPattern is one tool of a pattern that is enabled.
type declaredPattern struct {
	spec   patterns.Spec
	policy string         // hash
	model  patterns.Model // who answers its questions
}

// declare makes what a configuration declares, in an environment that may say where the demo's effects happen.
func declare(c Config, environ []string) (*declared, error) {
	hash := c.Hash()
	if err := outside(&c.Demo, environ); err != nil {
		return nil, err
	}
	tools, err := demo.Tools(c.Demo)
	if err != nil {
		return nil, err
	}
	all, err := catalog.New(tools...)
	if err != nil {
		return nil, err
	}
	model, err := newModel(c.LLM)
	if err != nil {
		return nil, err
	}
	d := &declared{redact: c.redacted(), hash: hash, catalog: all.Hash(), tools: all, model: model, configured: c.LLM.Resolved() == "openai"}
	refunds, _ := c.Pattern("supervised_refund")
	for _, p := range c.Patterns {
		if !p.Enabled {
			continue
		}
		p.Refunds = refunds.Refunds // one policy, whoever calls the refund tools
		if err := d.add(p, c.LLM); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// add declares a pattern.
func (d *declared) add(p PatternConfig, c LLMConfig) error {
	model := d.model
	if own := c.laidOver(p.Planning); own.Model != c.Model || own.Temperature != c.Temperature {
		var err error
		if model, err = newModel(own); err != nil {
			return err
		}
	}
	spec := newSpec(p, d.tools)
	specs := []patterns.Spec{spec}
	if p.Kind == gateway.Planning {
		spec.LLM = d.configured
		specs = planningSpecs(spec)
	}
	for _, spec := range specs {
		d.patterns = append(d.patterns, declaredPattern{spec, p.policyHash(), model})
	}
	return nil
}

// planningSpecs are those of a planning pattern's tools that are runs: the same pattern under three names. What a run is
// to do says its call.
func planningSpecs(spec patterns.Spec) []patterns.Spec {
	spec.Plans = spec.Name
	var list []patterns.Spec
	for _, verb := range planVerbs {
		if verb == patterns.StatusVerb { // no run; the server adds it
			continue
		}
		spec.Name = spec.Plans + "_" + string(verb)
		list = append(list, spec)
	}
	return list
}

// offered are the patterns as tools.
func (d *declared) offered() []server.Pattern {
	var list []server.Pattern
	for _, p := range d.patterns {
		list = append(list, server.Pattern{Spec: p.spec, Model: p.model, PolicyHash: p.policy, Completions: builtinCompletions[p.spec.Kind]})
	}
	return list
}

// job is the job of a run that was begun under this configuration.
func (d *declared) job(b patterns.Begun) (patterns.Job, error) {
	for _, p := range d.patterns {
		if p.spec.Name == b.Pattern {
			job := server.JobOf(p.spec, p.model, d.configured, b)
			job.Config, job.Policy, job.Catalog, job.Redact = d.hash, p.policy, d.catalog, d.redact
			return job, nil
		}
	}
	return patterns.Job{}, &patterns.Lacking{Cause: "tool_missing", Needs: []string{b.Pattern}}
}

// newModel is who answers questions.
func newModel(c LLMConfig) (patterns.Model, error) {
	if c.Resolved() == "rules" {
		return llm.NewRules(), nil
	}
	return llm.NewOpenAI(c.OpenAI())
}

// newSpec declares a built-in pattern as it is configured.
func newSpec(p PatternConfig, all *catalog.Catalog) patterns.Spec {
	s := patterns.Spec{
		Name: p.Name, Kind: p.Kind, Catalog: all, Tools: p.Tools, Budget: p.Budget, Reviewer: p.reviewer(), Approver: p.Approver, Prompts: llm.Prompts(p.Kind),
	}
	s.Policy, s.Execution = p.allows()
	switch p.Kind {
	case gateway.Orchestrator:
		s.Aggregate = patterns.Operations
	case gateway.Planning:
		s.Envelope = p.Planning.Require
		s.Prompts = instructed(s.Prompts, p.Planning.Instructions)
	}
	return s
}
