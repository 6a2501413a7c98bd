package assembly

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/catalog/demo/ledger"
	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
	"patterngate/patterns/reference"
	"patterngate/server"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
)

// Declaration is what a configuration declares: its catalog, its patterns and the models for their questions. Both new runs
// and recorded runs that continue are made from it.
type Declaration struct {
	hash, catalog string // of the configuration and of the catalog
	Tools         *catalog.Catalog
	patterns      []declaredPattern
	model         patterns.Model
	configured    bool // the user configured the model
	redact        []string
	reach         tools.Catalog // the servers and http tools that it names
	llm           settings.LLM
	lock          *pins.Lock // the accepted definitions of its servers' tools; nil: none
	recorded      bool       // made from a snapshot
}

// holds reports whether a tool is held until a person accepts what its server declares.
func (c Loaded) holds(tool string) bool {
	return c.own != nil && slices.ContainsFunc(c.own.held, func(h HeldTool) bool { return h.name == tool })
}

// declaredPattern is one tool of an enabled pattern.
type declaredPattern struct {
	spec    patterns.Spec
	policy  string         // hash
	reasons []string       // with which its policies can block
	model   patterns.Model // answers its questions
	// configured is true if the user configured that model.
	configured bool
	// title and description are those of the file; "": those of its kind or its tool.
	title, description string
	// completions are the values to offer while a person fills in an argument of its prompt.
	completions map[string][]string
	// unlisted is true for a call of a held tool, which has no schema to show. Clients do not see it. A run that began
	// earlier continues, and ends with the reason of the held tool.
	unlisted bool
}

// Declare makes what a configuration declares. The environment can say where the demo's effects happen.
func Declare(c Loaded, environ []string) (*Declaration, error) {
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
	d := &Declaration{reach: c.Catalog, llm: c.LLM, lock: c.lock, redact: c.HiddenValues(), hash: hash, catalog: all.Hash(), Tools: all, model: first.model, configured: first.configured}
	for _, p := range slices.Concat(c.Patterns, c.Exposed()) {
		if !p.Enabled || !p.Equipped() {
			continue
		}
		if _, made := d.Tools.Tool(p.Tool); p.Kind == gateway.Call && !made {
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

// add adds a pattern.
func (d *Declaration) add(p settings.Pattern, c Loaded, spec patterns.Spec, reviewer gateway.Reviewer, answerers *answerers) error {
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
		if !p.IsOwn() && spec.Simulated() { // the examples are about what the simulation has
			made.completions = settings.Completions[p.Kind]
		}
		if p.Kind == gateway.Planning {
			made.title, made.description = planWords(spec, title, description)
		}
		d.patterns = append(d.patterns, made)
	}
	return nil
}

// planningSpecs returns the specs of the tools of a planning pattern that are runs: the same pattern under three names. The
// call says what a run does.
func planningSpecs(spec patterns.Spec) []patterns.Spec {
	spec.Plans = spec.Name
	var list []patterns.Spec
	for _, verb := range settings.PlanVerbs {
		if verb == patterns.StatusVerb { // not a run; the server adds it
			continue
		}
		spec.Name = spec.Plans + "_" + string(verb)
		list = append(list, spec)
	}
	return list
}

// planWords returns the title and description of a planning pattern's tool, made from those of the pattern. It returns ""
// for the kind's own text.
func planWords(spec patterns.Spec, title, description string) (ofTool, words string) {
	verb, titles := strings.TrimPrefix(spec.Name, spec.Plans+"_"), map[patterns.PlanVerb]string{
		patterns.DecomposeVerb: verbDecompose, patterns.ExecuteVerb: verbExecute, patterns.ReplanVerb: verbReplan,
	}
	if title != "" {
		ofTool = title + ": " + titles[patterns.PlanVerb(verb)]
	}
	if description != "" && patterns.PlanVerb(verb) == patterns.DecomposeVerb {
		words = planToolDescription(description, spec.Plans, string(patterns.ExecuteVerb))
	}
	return ofTool, words
}

// Offered returns the listed patterns as tools.
func (d *Declaration) Offered() []server.Pattern {
	var list []server.Pattern
	for _, p := range d.patterns {
		if p.unlisted {
			continue
		}
		offer := server.Pattern{Spec: p.spec, Model: p.model, Configured: p.configured, PolicyHash: p.policy, Reasons: p.reasons, Title: p.title, Description: p.description}
		offer.Completions = p.completions
		list = append(list, offer)
	}
	return list
}

// Specs returns the specs of all tools of the patterns, also of those that are not listed.
func (d *Declaration) Specs() []patterns.Spec {
	specs := make([]patterns.Spec, len(d.patterns))
	for i, p := range d.patterns {
		specs[i] = p.spec
	}
	return specs
}

// Job returns the job of a run that began under this configuration.
func (d *Declaration) Job(b patterns.Begun) (patterns.Job, error) {
	for _, p := range d.patterns {
		if p.spec.Name == b.Pattern {
			job := server.JobOf(p.spec, p.model, p.configured, b)
			job.Config, job.Policy, job.Catalog, job.Redact = d.hash, p.policy, d.catalog, d.redact
			return job, nil
		}
	}
	return patterns.Job{}, &patterns.Lacking{Cause: "tool_missing", Needs: []string{b.Pattern}}
}

// newSpec returns the spec of a pattern over view, the catalog as the pattern sees it.
func (c *Loaded) newSpec(p settings.Pattern, view *catalog.Catalog) patterns.Spec {
	parts := c.parts.by[p.Name]
	s := patterns.Spec{
		Name: p.Name, Kind: p.Kind, Catalog: view, Tools: p.CallNames(), Budget: p.Budget, Approver: p.Approver,
		RulesMayWrite: cmp.Or(p.LLM.Provider, c.LLM.Provider) == "rules",
		Goal:          p.GoalName(), Input: inputsOf(p, parts), Critical: p.Critical, Finalize: p.Finalize,
	}
	s.Policy, s.Execution = p.Allows()
	if !p.IsOwn() {
		reference.Declare(&s)
	}
	simulated, _ := c.simulated(p, view)
	if s.Prompts = prompts.Of(p.Kind); !simulated || p.IsOwn() {
		s.Prompts = prompts.OfOwn(p.Kind)
	}
	switch p.Kind {
	case gateway.Orchestrator:
		if simulated && !p.IsOwn() {
			s.Aggregate = reference.Operations
		}
	case gateway.Planning:
		s.Envelope = p.Planning.Require
	case gateway.Call:
		s.Tool, s.Tools = p.Tool, []string{p.Tool}
		s.Policy, s.Execution = s.Tools, s.Tools
	}
	if parts != nil {
		parts.over(p, &s)
	}
	return s
}

// over sets the parts of a declaration in a spec.
func (p *patternParts) over(of settings.Pattern, s *patterns.Spec) {
	s.Answer, s.Reroute = p.answer, p.joins.reroute
	if joined := p.joins.joined(); joined != nil {
		s.Aggregate, s.ShowsAggregate = joined, of.IsOwn()
	}
	if !of.IsOwn() && p.input == nil { // the same in every run
		s.Prompts = settings.Instructed(s.Prompts, p.instructions)
		return
	}
	s.Instructions = p.words()
}

// outside makes the demo's effects happen in the ledger that the environment names, if it names one.
func outside(c *demo.Config, environ []string) error {
	where := machine.Lookup(environ, settings.LedgerVariable)
	if where == "" {
		return nil
	}
	book, err := ledger.Parse(where)
	if err != nil {
		return fmt.Errorf("%s: %w", settings.LedgerVariable, err)
	}
	book.Configure(c)
	return nil
}
