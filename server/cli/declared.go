package cli

import (
	"cmp"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
	"patterngate/server"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
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
	reach         tools.Catalog // the servers and requests that it names
	llm           settings.LLM
	lock          *pins.Lock // what people accepted of its servers' tools; nil: nothing
	recorded      bool       // it was made of a snapshot
}

// holds reports whether a tool is held until a person accepts what its server declares.
func (c Loaded) holds(tool string) bool {
	return c.own != nil && slices.ContainsFunc(c.own.held, func(h heldTool) bool { return h.name == tool })
}

// declaredPattern is one tool of a pattern that is enabled.
type declaredPattern struct {
	spec    patterns.Spec
	policy  string         // hash
	reasons []string       // by which its policies may block
	model   patterns.Model // who answers its questions
	// configured: the user set that model up.
	configured bool
	// title and description are what the file says of it; "": what its kind or its tool does.
	title, description string
	// unlisted: it is a call of a held tool, which has no schema to show. No client sees it; a run that began before it was held
	// goes on, to be stopped with the tool's reason.
	unlisted bool
}

// declare makes what a configuration declares, in an environment that may say where the demo's effects happen.
func declare(c Loaded, environ []string) (*declared, error) {
	hash := c.Hash()
	if err := outside(&c.Demo, environ); err != nil {
		return nil, err
	}
	all, err := c.catalog()
	if err != nil {
		return nil, err
	}
	if c.parts, err = c.patternSet(all); err != nil {
		return nil, err
	}
	ruled, err := c.ruled(all, c.parts)
	if err != nil {
		return nil, err
	}
	policies, err := c.policies(ruled)
	if err != nil {
		return nil, err
	}
	who := c.answerers(environ)
	first, err := who.of(settings.Pattern{})
	if err != nil {
		return nil, err
	}
	d := &declared{reach: c.Catalog, llm: c.LLM, lock: c.lock, redact: c.HiddenValues(), hash: hash, catalog: all.Hash(), tools: all, model: first.model, configured: first.configured}
	for _, p := range slices.Concat(c.Patterns, c.Exposed()) {
		if !p.Enabled || !p.Equipped() {
			continue
		}
		if _, made := d.tools.Tool(p.Tool); p.Kind == gateway.Call && !made {
			continue
		}
		view, err := c.view(p, ruled)
		if err != nil {
			return nil, err
		}
		if err := d.add(p, c, c.newSpec(p, view), c.reviewer(p, policies), who); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// add declares a pattern.
func (d *declared) add(p settings.Pattern, c Loaded, spec patterns.Spec, reviewer gateway.Reviewer, answerers *answerers) error {
	who, err := answerers.of(p)
	if err != nil {
		return err
	}
	spec.Reviewer, spec.LLM, spec.Prices, spec.RepairTurns = reviewer, who.configured, who.prices, who.repairs
	specs := []patterns.Spec{spec}
	if p.Kind == gateway.Planning {
		specs = planningSpecs(spec)
	}
	title, description := p.Texts()
	for _, spec := range specs {
		made := declaredPattern{
			spec: spec, policy: policyHash(reviewer), reasons: c.blockReasons(p), model: who.model, configured: who.configured,
			unlisted: p.Kind == gateway.Call && c.holds(p.Tool), title: title, description: description,
		}
		if p.Kind == gateway.Planning {
			made.title, made.description = planWords(spec, title, description)
		}
		d.patterns = append(d.patterns, made)
	}
	return nil
}

// planningSpecs are those of a planning pattern's tools that are runs: the same pattern under three names. What a run is
// to do says its call.
func planningSpecs(spec patterns.Spec) []patterns.Spec {
	spec.Plans = spec.Name
	var list []patterns.Spec
	for _, verb := range settings.PlanVerbs {
		if verb == patterns.StatusVerb { // no run; the server adds it
			continue
		}
		spec.Name = spec.Plans + "_" + string(verb)
		list = append(list, spec)
	}
	return list
}

// planWords is what the tool of a planning pattern says of itself, made of what the pattern says; "": what its kind does.
func planWords(spec patterns.Spec, title, description string) (ofTool, words string) {
	verb, titles := strings.TrimPrefix(spec.Name, spec.Plans+"_"), map[patterns.PlanVerb]string{
		patterns.DecomposeVerb: "make a plan", patterns.ExecuteVerb: "carry a plan out", patterns.ReplanVerb: "plan again what remains",
	}
	if title != "" {
		ofTool = title + ": " + titles[patterns.PlanVerb(verb)]
	}
	if description != "" && patterns.PlanVerb(verb) == patterns.DecomposeVerb {
		words = description + " Makes and stores a plan; then call " + spec.Plans + "_" + string(patterns.ExecuteVerb) + "."
	}
	return ofTool, words
}

// offered are the patterns as tools.
func (d *declared) offered() []server.Pattern {
	var list []server.Pattern
	for _, p := range d.patterns {
		if p.unlisted {
			continue
		}
		offer := server.Pattern{Spec: p.spec, Model: p.model, Configured: p.configured, PolicyHash: p.policy, Reasons: p.reasons, Title: p.title, Description: p.description}
		if !p.spec.Declared { // what the demo is asked
			offer.Completions = settings.Completions[p.spec.Kind]
		}
		list = append(list, offer)
	}
	return list
}

// job is the job of a run that was begun under this configuration.
func (d *declared) job(b patterns.Begun) (patterns.Job, error) {
	for _, p := range d.patterns {
		if p.spec.Name == b.Pattern {
			job := server.JobOf(p.spec, p.model, p.configured, b)
			job.Config, job.Policy, job.Catalog, job.Redact = d.hash, p.policy, d.catalog, d.redact
			return job, nil
		}
	}
	return patterns.Job{}, &patterns.Lacking{Cause: "tool_missing", Needs: []string{b.Pattern}}
}

// newSpec declares a pattern as it is configured, over the catalog as it sees it.
func (c *Loaded) newSpec(p settings.Pattern, view *catalog.Catalog) patterns.Spec {
	parts := c.parts.by[p.Name]
	s := patterns.Spec{
		Name: p.Name, Kind: p.Kind, Catalog: view, Tools: p.CallNames(), Budget: p.Budget, Approver: p.Approver,
		RulesMayWrite: cmp.Or(p.LLM.Provider, c.LLM.Provider) == "rules",
		Declared:      p.IsOwn() && p.Kind != gateway.Call, Goal: p.GoalName(), Input: inputsOf(p, parts), Critical: p.Critical, Finalize: p.Finalize,
	}
	s.Policy, s.Execution = p.Allows()
	make := makeBelieve(p, c, view)
	if s.Prompts = prompts.Of(p.Kind); !make || p.IsOwn() {
		s.Prompts = prompts.OfDeclared(p.Kind)
	}
	switch p.Kind {
	case gateway.Orchestrator:
		if make && !p.IsOwn() {
			s.Aggregate = patterns.Operations
		}
	case gateway.Planning:
		s.Envelope = p.Planning.Require
	case gateway.Call:
		s.Tool, s.Tools = p.Tool, []string{p.Tool}
		s.Policy, s.Execution = s.Tools, s.Tools
	}
	if parts != nil {
		parts.over(&s)
	}
	return s
}

// over puts what a declaration came to into a spec.
func (p *patternParts) over(s *patterns.Spec) {
	s.Answer, s.Reroute = p.answer, p.joins.reroute
	if joined := p.joins.joined(); joined != nil {
		s.Aggregate = joined
	}
	if !s.Declared && p.input == nil { // the same in every run
		s.Prompts = settings.Instructed(s.Prompts, p.instructions)
		return
	}
	s.Instructions = p.words()
}
