package policy

import (
	"maps"
	"slices"
	"time"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// Cover collects which rules are ever true and which ever decide. It uses the policy's tests, variations of them, and
// recorded calls. Only one goroutine at a time may use it.
//
//	tests ──Tests──▶ each row, and each with other numbers, words and times ─┐
//	recorded calls ──Add──────────────────────────────────────────────────────┴─▶ Rules
type Cover struct {
	policy *Policy
	rules  map[string]*RuleCover
	cases  int
}

// RuleCover is what a [Cover] found out about one rule.
type RuleCover struct {
	Rule    string         `json:"rule"`
	Cases   int            `json:"cases"`   // calls that the rule matches
	True    int            `json:"true"`    // passes in which it was true
	Decided int            `json:"decided"` // passes that it decided
	By      map[string]int `json:"by"`      // rules that decided instead when it was true
}

// Dead reports whether the rule matched calls and was never true.
func (r RuleCover) Dead() bool { return r.Cases > 0 && r.True == 0 }

// Shadowed reports whether the rule was true, and another rule decided each time.
func (r RuleCover) Shadowed() bool { return r.True > 0 && r.Decided == 0 }

// Cover returns an empty [Cover] of the policy.
func (p *Policy) Cover() *Cover {
	c := &Cover{policy: p, rules: map[string]*RuleCover{}}
	for _, r := range p.rules {
		c.rules[r.id] = &RuleCover{Rule: r.id, By: map[string]int{}}
	}
	return c
}

// Cases returns how many calls were judged.
func (c *Cover) Cases() int { return c.cases }

// Rules returns all rules in the order of the file.
func (c *Cover) Rules() []RuleCover {
	all := make([]RuleCover, len(c.policy.rules))
	for i, r := range c.policy.rules {
		all[i] = *c.rules[r.id]
	}
	return all
}

// Add judges a call with the policy and params of a pattern.
func (c *Cover) Add(pattern string, call gateway.Case) { c.add(c.policy.For(pattern), call) }

func (c *Cover) add(j *Judge, call gateway.Case) {
	name := call.Tool
	if call.Final() {
		name = finalName
	}
	t := c.policy.reached.all[name]
	if j == nil || t == nil || !c.policy.reached.judges(name) {
		return
	}
	c.cases++
	touched := map[string]bool{}
	gateway.JudgeAlone(gateway.ReviewerFunc(func(call gateway.Case) gateway.Verdict {
		verdict, heard := j.Explain(call)
		for _, h := range heard {
			r := c.rules[h.Rule]
			if !touched[h.Rule] {
				touched[h.Rule] = true
				r.Cases++
			}
			switch {
			case h.Is == IsFalse || h.Is == IsUnknown:
			case h.Decided:
				r.True, r.Decided = r.True+1, r.Decided+1
			default:
				r.True++
				r.By[verdict.Rule]++
			}
		}
		return verdict
	}), t.tool, call, false)
}

// maxVariations is how many variations of one test are judged.
const maxVariations = 400

// Tests judges the policy's tests and variations of each. A variation has other numbers around those in rules, other
// words of enums, one optional argument less, or no earlier calls. If rules read the time, it also has other hours and
// days.
func (c *Cover) Tests() {
	for _, row := range c.policy.source.Tests {
		c.row(row)
		for _, other := range c.variations(row) {
			c.row(other)
		}
	}
}

func (c *Cover) row(row Row) {
	j, err := c.policy.judgeOf(row)
	if err != nil {
		return
	}
	c.add(j, c.policy.caseOf(j, row))
}

// variations returns the variations of one test.
func (c *Cover) variations(row Row) []Row {
	t := c.policy.reached.all[row.Call.Tool]
	if t == nil {
		return nil
	}
	var all []Row
	with := func(args map[string]any, effects []RowEffect, now time.Time) {
		if len(all) < maxVariations && (!t.made || fits(t.tool, args)) {
			row.Call.Args, row.Effects, row.Now = args, effects, now
			all = append(all, row)
		}
	}
	args, effects, now := row.Call.Args, row.Effects, row.Now
	if len(effects) > 0 {
		with(args, nil, now)
	}
	if c.policy.readsTime(row.Call.Tool) {
		for hour := range 7 * 24 {
			with(args, effects, testNow.Add(time.Duration(hour)*time.Hour))
		}
	}
	if t.args.Kind() != expr.ObjectKind {
		return all
	}
	numbers := c.policy.numbers(row.Call.Tool)
	for _, f := range t.args.Fields() {
		for _, v := range variantsOf(f.Type, numbers) {
			changed := maps.Clone(args)
			if changed == nil {
				changed = map[string]any{}
			}
			changed[f.Name] = v
			with(changed, effects, now)
			if len(effects) > 0 {
				with(changed, nil, now)
			}
		}
		if _, there := args[f.Name]; there && f.Optional {
			less := maps.Clone(args)
			delete(less, f.Name)
			with(less, effects, now)
		}
	}
	return all
}

// fits reports whether a tool accepts the arguments.
func fits(tool catalog.Tool, args map[string]any) bool {
	rest, _ := tool.Proposed(args)
	return len(tool.Check(tool.Filled(rest))) == 0
}

// variantsOf returns values of a type to try.
func variantsOf(t expr.Type, numbers []float64) []any {
	var all []any
	switch {
	case t.Values() != nil:
		return t.Values()
	case t.Kind() == expr.BoolKind:
		return []any{true, false}
	case t.Kind() != expr.IntKind && t.Kind() != expr.DoubleKind:
		return nil
	}
	for _, n := range numbers {
		all = append(all, n-1, n, n+1)
		if t.Kind() == expr.DoubleKind {
			all = append(all, n-0.01, n+0.01)
		}
	}
	return all
}

// termsOf returns all texts that matter for a tool's calls.
func (p *Policy) termsOf(tool string) []*term {
	var all []*term
	for _, b := range p.byTool[tool] {
		all = append(all, b.terms()...)
	}
	return append(all, slices.DeleteFunc(slices.Clone(p.terms[tool]), func(t *term) bool { return t == nil })...)
}

func (p *Policy) readsTime(tool string) bool {
	return slices.ContainsFunc(p.termsOf(tool), func(t *term) bool { return t.reads.of("now") })
}

// numbers returns the numbers in the rules for a tool and in the params.
func (p *Policy) numbers(tool string) []float64 {
	all := []float64{0}
	for _, t := range p.termsOf(tool) {
		all = append(all, literals(t.checked.AST.Expr())...)
	}
	for _, param := range p.source.Params {
		if n, ok := param.Value.(float64); ok {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func literals(e ast.Expr) (all []float64) {
	if v, ok := expr.Literal(e); ok {
		switch v := v.(type) {
		case types.Int:
			all = append(all, float64(v))
		case types.Double:
			all = append(all, float64(v))
		}
	}
	for _, child := range expr.Children(e) {
		all = append(all, literals(child)...)
	}
	return all
}

// Unread returns the arguments of a tool that no rule reads. It returns none if the arguments are unknown.
func (p *Policy) Unread(tool string) []string {
	t := p.reached.all[tool]
	if t == nil || !t.made || t.args.Kind() != expr.ObjectKind {
		return nil
	}
	var read []string
	for _, b := range p.byTool[tool] {
		read = append(read, p.judges[""].Reads(tool, b.id)...)
	}
	var unread []string
	for _, f := range t.args.Fields() {
		if _, set := t.tool.Fixed[f.Name]; !set && !slices.Contains(read, f.Name) {
			unread = append(unread, f.Name)
		}
	}
	return unread
}
