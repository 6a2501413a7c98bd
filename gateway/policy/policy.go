package policy

import (
	"slices"
	"sync"
	"time"
	_ "time/tzdata" // a calendar's day begins in the zone that is named, on systems without zones too

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// Policy is a set of compiled rules, fixed and safe for concurrent use. It judges nothing by itself: [Policy.For] does.
type Policy struct {
	source  Source
	reached *reached
	shapes  shapes
	params  params
	vars    map[string]int
	rules   []*rule
	byTool  map[string][]bound
	terms   map[string][]*term // the vars that a tool's rules read, by their places
	zones   []*time.Location   // of the windows
	judges  map[string]*Judge  // by the pattern; "" is the policy by itself
}

// New compiles a policy for what it reaches. It is nil where a fault is more than a warning. The tests of the source are not run:
// see [Policy.Test].
func New(source Source, reach Reach) (*Policy, []expr.Fault) {
	c, err := newCompiler(source, reach)
	if err != nil {
		return nil, []expr.Fault{{Line: 1, Column: 1, Reason: "no policies here: " + err.Error()}}
	}
	p := &Policy{source: source, reached: c.reached, params: c.params, vars: map[string]int{}, terms: map[string][]*term{}, judges: map[string]*Judge{}}
	p.shapes = c.shapes
	for i, v := range source.Vars {
		p.vars[v.Name] = i
	}
	if c.reached.nobody {
		c.tell(expr.Fault{Reason: "no pattern and no tool names this policy", Warning: true})
	}
	p.zones = c.windows()
	if len(source.Rules) == 0 {
		c.tell(expr.Fault{Member: "rules", Reason: "no rule, so that everything is blocked", Warning: true})
	}
	p.rules, p.byTool = c.rules()
	c.compileVars()
	for name, rules := range p.byTool {
		p.terms[name] = c.varsOf(rules, c.reached.all[name])
	}
	p.judge(c)
	c.rows()
	if expr.HasErrors(c.faults) {
		return nil, c.faults
	}
	return p, c.faults
}

// judge makes the policy's judges.
func (p *Policy) judge(c *compiler) {
	p.judges[""] = newJudge(p, c.params)
	for _, pattern := range c.reached.reach.Patterns {
		laid, faults := c.params.over(pattern.Params)
		for i := range faults {
			faults[i].Pattern = pattern.Name
		}
		for _, f := range faults { // two patterns may have the same wrong
			f.Line, f.Column = 1, 1
			c.faults = append(c.faults, f)
		}
		p.judges[pattern.Name] = newJudge(p, laid)
	}
}

// varsOf are the terms of the vars that rules read for a tool's calls, by their places.
func (c *compiler) varsOf(rules []bound, t *judged) []*term {
	terms := make([]*term, len(c.source.Vars))
	var need func(r reads, above int)
	need = func(r reads, above int) {
		for i, v := range c.source.Vars[:above] {
			if terms[i] == nil && r.reads("vars", v.Name) {
				if terms[i] = c.varOf(i, t); terms[i] != nil {
					need(terms[i].reads, i)
				}
			}
		}
	}
	for _, b := range rules {
		for _, term := range b.terms() {
			need(term.reads, len(terms))
		}
	}
	return terms
}

// terms are all texts of a rule.
func (b bound) terms() []*term {
	var all []*term
	if b.when != nil {
		all = append(all, b.when)
	}
	for _, s := range b.set {
		if s.term != nil {
			all = append(all, s.term)
		}
	}
	return all
}

// For is the policy as it judges one pattern, with the pattern's params laid over its own; "" are the policy's own params. A
// pattern that does not name the policy has these too.
func (p *Policy) For(pattern string) *Judge {
	if p == nil {
		return nil
	}
	if j := p.judges[pattern]; j != nil {
		return j
	}
	return p.judges[""]
}

// Reasons lists the reasons that the policy's rules give for a block, for the registry of stop reasons; those of the review
// itself and policy_error: with a rule's id may come beside them.
func (p *Policy) Reasons() []string {
	if p == nil {
		return nil
	}
	var all []string
	for _, r := range p.rules {
		if r.decision == gateway.Block && !slices.Contains(all, r.reason) {
			all = append(all, r.reason)
		}
	}
	return all
}

func (p *Policy) varAt(name string) int {
	if i, ok := p.vars[name]; ok {
		return i
	}
	return -1
}

// Judge is a policy with its params: the reviewer of one pattern's calls.
type Judge struct {
	policy *Policy
	params map[string]any // as rules read them
	given  map[string]any // as decoded
	tools  map[string]*docket
	hash   func() string
}

// docket is what the judge has for one tool: rules that can never be true for it are left out, of those that always are the
// condition.
type docket struct {
	tool  *judged
	rules func() []bound
}

var (
	_ gateway.Foreteller = (*Judge)(nil)
	_ gateway.Hashed     = (*Judge)(nil)
	_ gateway.Windowed   = (*Judge)(nil)
)

func newJudge(p *Policy, in params) *Judge {
	j := &Judge{policy: p, params: in.typed(), given: in.values, tools: map[string]*docket{}}
	for name, rules := range p.byTool {
		d := &docket{tool: p.reached.all[name]}
		d.rules = sync.OnceValue(func() []bound { return j.sift(d.tool, rules) })
		j.tools[name] = d
	}
	j.hash = sync.OnceValue(func() string { return hashOf(j.Value()) })
	return j
}

// Hash implements [gateway.Hashed]: over rules, vars, windows and the params in force.
func (j *Judge) Hash() string {
	if j == nil {
		return ""
	}
	return j.hash()
}

// docket is what there is for a tool, "" for the closing answer; nil: nothing, and its calls are blocked.
func (j *Judge) docket(tool string) *docket {
	switch {
	case j == nil || tool == finalName: // no tool has this name
		return nil
	case tool == "":
		tool = finalName
	}
	return j.tools[tool]
}

// Windows implements [gateway.Windowed]: those that the tool's rules, and the vars that these read, read.
func (j *Judge) Windows(tool string) []gateway.Window {
	d := j.docket(tool)
	if d == nil || len(j.policy.source.Windows) == 0 {
		return nil
	}
	terms := slices.Clone(j.policy.terms[d.tool.name])
	for _, b := range d.rules() {
		terms = append(terms, b.terms()...)
	}
	var all []gateway.Window
	for i, w := range j.policy.source.Windows {
		if slices.ContainsFunc(terms, func(t *term) bool { return t != nil && t.reads.reads("windows", w.Name) }) {
			all = append(all, gateway.Window{
				Name: j.policy.source.Name + "." + w.Name, Tools: slices.Clone(w.Tools), OfPrincipal: w.Principal, Since: sinceOf(w, j.policy.zones[i]),
			})
		}
	}
	return all
}
