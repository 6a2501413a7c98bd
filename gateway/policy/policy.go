package policy

import (
	"slices"
	"sync"
	"time"
	_ "time/tzdata" // a day begins in the window's time zone, also on systems without zone data

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// Policy is a set of compiled rules. It does not change and is safe for concurrent use. To judge calls, get a [Judge]
// from [Policy.For].
type Policy struct {
	source  Source
	reached *reached
	shapes  shapes
	params  params
	vars    map[string]int
	rules   []*rule
	byTool  map[string][]bound
	terms   map[string][]*term // the vars that a tool's rules read, by index
	zones   []*time.Location   // of the windows
	judges  map[string]*Judge  // by pattern; "" has the policy's own params
}

// New compiles a policy for the tools and patterns in reach. The Policy is nil if a fault is more than a warning. New
// does not run the tests of the source: see [Policy.Test].
func New(source Source, reach Reach) (*Policy, []expr.Fault) {
	c, err := newCompiler(source, reach)
	if err != nil {
		return nil, []expr.Fault{{Line: 1, Column: 1, Reason: noPolicies(err.Error())}}
	}
	p := &Policy{source: source, reached: c.reached, params: c.params, vars: map[string]int{}, terms: map[string][]*term{}, judges: map[string]*Judge{}}
	p.shapes = c.shapes
	for i, v := range source.Vars {
		p.vars[v.Name] = i
	}
	if c.reached.nobody {
		c.tell(expr.Fault{Reason: policyUnused, Warning: true})
	}
	p.zones = c.windows()
	if len(source.Rules) == 0 {
		c.tell(expr.Fault{Member: "rules", Reason: policyEmpty, Warning: true})
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

// judge makes the policy's judges, one for each pattern.
func (p *Policy) judge(c *compiler) {
	p.judges[""] = newJudge(p, c.params)
	for _, pattern := range c.reached.reach.Patterns {
		laid, faults := c.params.over(pattern.Params)
		for i := range faults {
			faults[i].Pattern = pattern.Name
		}
		for _, f := range faults { // two patterns may have the same fault
			f.Line, f.Column = 1, 1
			c.faults = append(c.faults, f)
		}
		p.judges[pattern.Name] = newJudge(p, laid)
	}
}

// varsOf returns the compiled vars that rules read for a tool's calls, by index.
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

// terms returns all compiled texts of a rule.
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

// For returns the judge of one pattern: the policy with the pattern's params instead of its own. With "", or for a
// pattern that does not name the policy, it has the policy's own params.
func (p *Policy) For(pattern string) *Judge {
	if p == nil {
		return nil
	}
	if j := p.judges[pattern]; j != nil {
		return j
	}
	return p.judges[""]
}

// Reasons returns the reasons that the policy's rules give for a block, for the registry of stop reasons. Calls may
// also have the reasons of the review itself, and policy_error: with a rule's id.
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

// Judge is a policy with its params. It reviews one pattern's calls.
type Judge struct {
	policy *Policy
	params map[string]any // as rules read them
	given  map[string]any // as decoded
	tools  map[string]*docket
	hash   func() string
}

// docket holds the judge's rules for one tool. It leaves out rules that can never be true for the tool, and marks rules
// that are always true.
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

// Hash implements [gateway.Hashed]. It is over rules, vars, windows and the params in force.
func (j *Judge) Hash() string {
	if j == nil {
		return ""
	}
	return j.hash()
}

// docket returns the docket of a tool; "" is the final answer. It returns nil if there is none, and calls of that tool
// are blocked.
func (j *Judge) docket(tool string) *docket {
	switch {
	case j == nil || tool == finalName: // no tool has this name
		return nil
	case tool == "":
		tool = finalName
	}
	return j.tools[tool]
}

// Windows implements [gateway.Windowed]. It returns the windows that the tool's rules read, themselves or through vars.
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
