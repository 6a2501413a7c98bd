package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
)

// Result is the result of a test.
type Result struct {
	Row    Row
	Got    gateway.Ruling
	Err    error  // the row could not be run
	Passed bool   // the ruling is what the row wants
	Differ string // the first difference, or "", such as "want escalate, got block run_cap (vars.spent 49000, params.run_cap_cents 50000)"
}

// testRun is the id of the run in a test. testNow is its time if the row has none: a Wednesday at noon.
const testRun = "run_test"

var testNow = time.Date(2026, time.January, 14, 12, 0, 0, 0, time.UTC)

// Test runs one test through the whole review. See [Result].
func (p *Policy) Test(row Row) Result {
	r := Result{Row: row}
	if p == nil {
		r.Err = fmt.Errorf(testNoPolicy, row.Name)
		return r
	}
	judge, err := p.judgeOf(row)
	if err != nil {
		r.Err = err
		return r
	}
	r.Got = p.rule(judge, row)
	r.Differ = p.differ(row, r.Got)
	r.Passed = r.Differ == ""
	return r
}

// judgeOf returns the judge of a row's pattern with the row's params.
func (p *Policy) judgeOf(row Row) (*Judge, error) {
	judge := p.judges[row.Pattern]
	switch t := p.reached.all[row.Call.Tool]; {
	case judge == nil:
		return nil, fmt.Errorf(testNoPattern, row.Name, row.Pattern)
	case t == nil || !p.reached.judges(row.Call.Tool):
		return nil, fmt.Errorf(testNotJudged, row.Name, row.Call.Tool)
	case len(row.Params) == 0:
		return judge, nil
	}
	laid, faults := params{fields: p.params.fields, values: judge.given}.over(row.Params)
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: %s: %s", row.Name, faults[0].Member, faults[0])
	}
	return newJudge(p, laid), nil
}

// rule reviews a row's call until nothing changes. If a person approved it, it reviews the changed call once more.
func (p *Policy) rule(judge *Judge, row Row) gateway.Ruling { return p.ruleBy(judge, judge, row) }

func (p *Policy) ruleBy(by gateway.Reviewer, judge *Judge, row Row) gateway.Ruling {
	c := p.caseOf(judge, row)
	tool := p.reached.all[row.Call.Tool].tool
	r := gateway.JudgeAlone(by, tool, c, false)
	if !row.Approved || r.Decision != gateway.Escalate {
		return r
	}
	c.Args = r.Args
	again := gateway.JudgeAlone(by, tool, c, true)
	again.Revisions, again.RevisedBy = append(r.Revisions, again.Revisions...), append(r.RevisedBy, again.RevisedBy...)
	return again
}

// caseOf returns a row as the reviewer sees it.
func (p *Policy) caseOf(judge *Judge, row Row) gateway.Case {
	c := gateway.Case{Tool: row.Call.Tool, Args: row.Call.Args, Facts: p.factsOf(row)}
	if c.Tool == finalName {
		c.Tool, c.Args = "", nil
		c.Answer, _ = row.Call.Args[finalField].(string)
	}
	var all []gateway.Entry
	for i, e := range row.Effects {
		entry := p.entryOf(e, i, c.Facts)
		all = append(all, entry)
		if !e.OtherRun {
			c.Effects = append(c.Effects, entry)
		}
	}
	c.Facts.Steps = len(c.Effects)
	c.Facts.Spent = map[string]float64{}
	for _, name := range budgets {
		c.Facts.Spent[name] = 0
	}
	c.Facts.Spent["max_tool_calls"], c.Facts.Spent["max_steps"] = float64(len(c.Effects)), float64(len(c.Effects))
	slices.SortStableFunc(all, func(a, b gateway.Entry) int { return a.At.Compare(b.At) })
	for _, w := range judge.Windows(c.Tool) {
		seen := gateway.Seen{Since: w.Since(c.Facts.Now)}
		for _, e := range all {
			if slices.Contains(w.Tools, e.Tool) && !e.At.Before(seen.Since) {
				seen.Effects = append(seen.Effects, e)
			}
		}
		if c.Windows == nil {
			c.Windows = map[string]gateway.Seen{}
		}
		c.Windows[w.Name] = seen
	}
	return c
}

func (p *Policy) factsOf(row Row) gateway.Facts {
	f := gateway.Facts{
		RunID: testRun, Pattern: row.Pattern, Kind: gateway.Supervisor, Input: row.Input,
		Principal: row.Principal, Client: row.Client, Now: row.Now,
	}
	for _, pattern := range p.reached.reach.Patterns {
		if pattern.Name == row.Pattern {
			f.Kind = pattern.Kind
		}
	}
	if f.Principal == (gateway.Principal{}) {
		f.Principal = gateway.Principal{ID: "local:1000", Kind: "local", Name: "1000"}
	}
	if f.Now.IsZero() {
		f.Now = testNow
	}
	return f
}

func (p *Policy) entryOf(e RowEffect, at int, f gateway.Facts) gateway.Entry {
	t := p.reached.all[e.Tool]
	entry := gateway.Entry{
		Key: "effect/" + strconv.Itoa(at), RunID: testRun, Tool: e.Tool, Args: orEmpty(e.Args), Order: at, Status: e.Status,
		At: f.Now.Add(-time.Duration(e.SecondsAgo * float64(time.Second))),
	}
	if t != nil {
		entry.Effect, entry.Args = t.tool.Effect, t.tool.Whole(t.tool.Filled(entry.Args))
	}
	if entry.Status == "" {
		entry.Status = gateway.Finished
	}
	if e.OtherRun {
		entry.RunID = "run_other"
	}
	if entry.Status == gateway.Finished {
		result := map[string]any{}
		maps.Copy(result, e.Result)
		if _, failed := gateway.Reported(any(result)); e.OK != nil && !*e.OK && !failed {
			result["error"] = notOK
		}
		entry.Observation = result
	}
	return entry
}

// differ returns the first difference between what a row wants and the ruling; "" for none.
func (p *Policy) differ(row Row, got gateway.Ruling) string {
	decision, reason := got.Recorded()
	rule := got.Rule
	if decision == gateway.Revise {
		rule = got.RevisedBy[0].Rule
	}
	want := row.Want.String()
	switch {
	case decision != row.Want:
	case row.WantReason != "" && row.WantReason != reason:
		want += " " + row.WantReason
	case row.WantRule != "" && row.WantRule != rule:
		want += " by " + row.WantRule
	default:
		return differArgs(row, got)
	}
	return wantDecision(want, decision.String(), reason, p.because(got, rule))
}

// differArgs does the same for the arguments after all changes, and for what a block needs.
func differArgs(row Row, got gateway.Ruling) string {
	for _, name := range slices.Sorted(maps.Keys(row.WantArgs)) {
		v, there := got.Args[name]
		shown := "none"
		if there {
			shown = ijson.Cut(string(shownValue(v)), maxShownText)
		}
		if !there || !ijson.Equal(v, row.WantArgs[name]) {
			return wantArgs(name, ijson.Cut(string(shownValue(row.WantArgs[name])), maxShownText), shown)
		}
	}
	if row.WantNeed != nil && !slices.Equal(row.WantNeed, got.Need) {
		return wantNeed(needWords(row.WantNeed), needWords(got.Need))
	}
	return ""
}

func needWords(need []string) string {
	if len(need) == 0 {
		return noNeed
	}
	return "need " + strings.Join(need, ", ")
}

// because returns the values behind a ruling as text, in the order of the rule's text. It leaves out the call's
// arguments, because the row shows them.
func (p *Policy) because(got gateway.Ruling, rule string) string {
	values := got.Values
	if decision, _ := got.Recorded(); decision == gateway.Revise {
		values = got.RevisedBy[0].Values
	}
	var parts []string
	for _, name := range p.inOrder(rule, values) {
		if !strings.HasPrefix(name, "args.") {
			parts = append(parts, name+" "+string(shownValue(values[name])))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// inOrder returns the names of values in the order of the rule's text.
func (p *Policy) inOrder(rule string, values map[string]any) []string {
	var names []string
	for _, tool := range slices.Sorted(maps.Keys(p.byTool)) {
		for _, b := range p.byTool[tool] {
			if b.id != rule {
				continue
			}
			for _, l := range leavesOf(b.terms(), p.terms[tool], p.source.Vars) {
				if _, there := values[l.text]; there && !slices.Contains(names, l.text) {
					names = append(names, l.text)
				}
			}
		}
	}
	return names
}
