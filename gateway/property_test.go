package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
)

// parser is one of the four, seen as: what was accepted, written as an intent again, or why it was refused.
type parser struct {
	family, kind, phase string
	good                []string // acceptable replies to begin with
	parse               func(document.Intent) (map[string]any, *document.Refusal)
	fault               func(doc any) string // the oracle's first fault
}

// intentKinds are the patterns of the parsers below, by their short names.
var intentKinds = map[string]gateway.Kind{
	"TD": gateway.TaskDecomposition, "OR": gateway.Orchestrator, "RT": gateway.Routing, "SV": gateway.Supervisor, "PL": gateway.Planning, "C": gateway.Call,
}

func parsers(t testing.TB) map[string]parser {
	rules := actionRules(t)
	return map[string]parser{
		"ParsePlan": {"invalid_plan", "TD", "plan", []string{planOf(), planOf(steps(6)...)}, func(in document.Intent) (map[string]any, *document.Refusal) {
			p, r := gateway.ParsePlan(in, planRules)
			return map[string]any{"kind": "plan", "steps": value(p.Steps)}, r
		}, func(doc any) string { return firstPlanFault(doc, 3, 6, planRules.Allowed) }},
		"ParseTasks": {"invalid_plan", "OR", "plan", []string{tasksOf(goodTask), tasksOf(goodTask, strings.Replace(goodTask, "t1", "t2", 1), `{"id":"c","worker":"payments_worker","args":{"region":"EU"},"critical":false}`)},
			func(in document.Intent) (map[string]any, *document.Refusal) {
				p, r := gateway.ParseTasks(in, taskRules)
				return map[string]any{"kind": "plan", "tasks": value(p.Tasks)}, r
			}, func(doc any) string { return firstTasksFault(doc, 4, workers) }},
		"ParseRoute": {"invalid_route", "RT", "route", []string{`{"kind":"route","target":"billing_specialist","args":{"ticket":"x"}}`, `{"kind":"route","target":"technical_specialist","args":{"ticket":"x","more":[1]}}`},
			func(in document.Intent) (map[string]any, *document.Refusal) {
				p, r := gateway.ParseRoute(in, routeRules)
				return p.Row(), r
			}, func(doc any) string { return firstRouteFault(doc, routeRules.Allowed, routeRules.Forbidden) }},
		"ParseAction": {"invalid_action", "SV", "worker", []string{`{"kind":"final","answer":"Done."}`, `{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":10,"reason":"r"}}`, `{"kind":"tool","name":"send_refund_email","args":{"user_id":42,"amount_usd":10,"message":"m"}}`},
			func(in document.Intent) (map[string]any, *document.Refusal) {
				p, r := gateway.ParseAction(in, rules)
				return p.Row(), r
			}, firstActionFault},
	}
}

// value is a Go value as a decoded one.
func value(v any) any {
	out, err := ijson.Of(v)
	if err != nil {
		panic(err)
	}
	return out
}

// spots are all places in a value.
func spots(v any, at ijson.Pointer) []ijson.Pointer {
	list := []ijson.Pointer{at}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sorted(v) {
			list = append(list, spots(v[name], at.Member(name))...)
		}
	case []any:
		for i, element := range v {
			list = append(list, spots(element, at.Index(i))...)
		}
	}
	return list
}

var junk = []any{
	nil, true, false, 0.0, 7.0, -1.5, 1e22, "", " ", "\u001c\u00a0", "x", "42", "true", "s1", "t1", " s2\u2003", "PLAN", "fetch_sale_data", "\tfetch_sales_data",
	"sales_workr", "technical_specialist", "get_refund_context", "tool", "final", []any{}, []any{1.0}, map[string]any{}, map[string]any{"ticket": " a  b "},
}

var names = []string{"x", "kind", "Kind", "steps", "step", "tasks", "id", "ID", "title", "tool", "args", "arg", "worker", "critical", "target", "ticket", "name", "answer", "user_id", "userid", "reason", "message", "~/"}

// spoilt is a good intent, changed at up to five places.
func spoilt(rt *rapid.T, good []string) any {
	doc, err := ijson.Decode([]byte(rapid.SampledFrom(good).Draw(rt, "good")))
	if err != nil {
		rt.Fatal(err)
	}
	for range rapid.IntRange(0, 5).Draw(rt, "changes") {
		all := spots(doc, "")
		at := rapid.SampledFrom(all).Draw(rt, "at")
		switch rapid.IntRange(0, 5).Draw(rt, "change") {
		case 0:
			doc, _ = ijson.Remove(doc, at)
		case 1:
			doc, _ = ijson.Set(doc, at, rapid.SampledFrom(junk).Draw(rt, "junk"))
		case 2:
			doc, _ = ijson.Set(doc, at.Member(rapid.SampledFrom(names).Draw(rt, "name")), rapid.SampledFrom(junk).Draw(rt, "junk"))
		case 3:
			other, _ := rapid.SampledFrom(all).Draw(rt, "from").In(doc)
			doc, _ = ijson.Set(doc, at, other)
		case 4:
			other, _ := rapid.SampledFrom(all).Draw(rt, "from").In(doc)
			doc, _ = ijson.Set(doc, at.Member("-"), other)
		case 5:
			if s, ok := at.In(doc); ok {
				if s, ok := s.(string); ok {
					doc, _ = ijson.Set(doc, at, string(rapid.SampledFrom(blanks).Draw(rt, "blank"))+s)
				}
			}
		}
	}
	return doc
}

// The parsers stop for what the contract's text says, in its order, and nothing else about a proposal changes that.
func TestParsersAgreeWithTheOracle(t *testing.T) {
	for name, p := range parsers(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				doc := spoilt(rt, p.good)
				want := p.fault(doc)
				if want != "" {
					want = p.family + ":" + want
				}
				_, refusal := p.parse(document.ReadReply(spell(doc)))
				got := ""
				if refusal != nil {
					got = refusal.Reason
				}
				if got != want {
					rt.Fatalf("%s(%s) stops with %q, want %q", name, compact(doc), got, want)
				}
				if _, refusal := p.parse(document.FromCaller(doc, "/it")); want == "" && refusal != nil {
					rt.Fatalf("%s(%s) takes it from a model but not from a caller: %v", name, compact(doc), verdict(refusal))
				}
			})
		})
	}
}

func TestParserProperties(t *testing.T) {
	for name, p := range parsers(t) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				doc := spoilt(rt, p.good)
				p.check(rt, document.FromCaller(doc, "/it"))
				p.check(rt, document.ReadReply(spell(doc)))
			})
		})
	}
}

// failer is what tests, fuzz targets and properties fail by.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check holds one intent against what is true of all.
func (p parser) check(t failer, in document.Intent) {
	t.Helper()
	before := string(ijson.Canonical(in.Value()))
	accepted, refusal := p.parse(in)
	if after := string(ijson.Canonical(in.Value())); after != before {
		t.Fatalf("parsing changed %s into %s", before, after)
	}
	if refusal == nil {
		p.checkAccepted(t, accepted)
		return
	}
	p.checkReason(t, refusal)
	for _, problem := range refusal.Problems {
		checkProblem(t, in, problem)
		p.checkFix(t, in, refusal, problem)
	}
}

// checkAccepted parses what was accepted once more: it is the same.
func (p parser) checkAccepted(t failer, accepted map[string]any) {
	t.Helper()
	text := spell(accepted)
	again, refusal := p.parse(document.ReadReply(text))
	if refusal != nil {
		t.Fatalf("%s was accepted, but not again: %v", text, verdict(refusal))
	}
	if diff := cmp.Diff(accepted, again); diff != "" {
		t.Fatalf("%s is parsed to something else again:\n%s", text, diff)
	}
}

// checkReason holds the stop reason against the first problem and the registry.
func (p parser) checkReason(t failer, refusal *document.Refusal) {
	t.Helper()
	if n := len(refusal.Problems); n == 0 || n > 51 || refusal.Reason != p.family+":"+refusal.Problems[0].Reason {
		t.Fatalf("the stop reason %s is not that of the first of the problems %v", refusal.Reason, lines(refusal.Problems))
	}
	for _, problem := range refusal.Problems {
		row, ok := stopreason.Lookup(p.family + ":" + problem.Reason)
		if problem.Reason != "more" && (!ok || !row.Occurs(intentKinds[p.kind], p.phase)) {
			t.Fatalf("%s:%s is no stop reason of %s in phase %s", p.family, problem.Reason, p.kind, p.phase)
		}
	}
}

// checkProblem holds a problem against the input: its place is there, or could be, and it shows what stands there.
func checkProblem(t failer, in document.Intent, problem document.Problem) {
	t.Helper()
	if len(problem.Want) > 200 || strings.ContainsAny(problem.Want, "\r\n") || problem.Want == "" && problem.Reason != "more" {
		t.Fatalf("%s: want %q", problem.Reason, problem.Want)
	}
	if problem.Reason == "more" || problem.Reason == "non_json" && in.Value() == nil {
		return
	}
	inside, ok := strings.CutPrefix(string(problem.Pointer), string(in.At))
	if !ok {
		t.Fatalf("%s is not within %s", problem.Pointer, in.At)
	}
	v, there := ijson.Pointer(inside).In(in.Value())
	if there && string(document.Got(v)) != string(problem.Got) && len(problem.Pointer) < 900 {
		t.Fatalf("%s shows %s, but there stands %s", problem.Pointer, problem.Got, document.Got(v))
	}
	for !there && inside != "" {
		inside = inside[:strings.LastIndexByte(inside, '/')]
		if _, there = ijson.Pointer(inside).In(in.Value()); !there && !strings.HasSuffix(inside, "/args") {
			t.Fatalf("%s: nor is its parent there", problem.Pointer)
		}
		if problem.Got != nil {
			t.Fatalf("%s shows %s, but nothing stands there", problem.Pointer, problem.Got)
		}
	}
}

// checkFix applies a repair alone: its problem is gone.
func (p parser) checkFix(t failer, in document.Intent, refusal *document.Refusal, problem document.Problem) {
	t.Helper()
	if problem.Fix == nil || len(refusal.Problems) > 50 || len(problem.Pointer) > 900 {
		return
	}
	fix := *problem.Fix
	fix.At = fix.At[len(in.At):]
	if fix.From != "" {
		fix.From = fix.From[len(in.At):]
	}
	fixed, ok := fix.Apply(in.Value())
	if !ok {
		t.Fatalf("the repair of %v does not fit", lines([]document.Problem{problem}))
	}
	in2 := document.ReadReply(spell(fixed))
	if in.Caller {
		in2 = document.FromCaller(fixed, in.At)
	}
	_, after := p.parse(in2)
	if after == nil {
		return
	}
	for _, left := range after.Problems {
		if left.Pointer == problem.Pointer && left.Reason == problem.Reason {
			t.Fatalf("the repair of %v leaves it in %s", lines([]document.Problem{problem}), ijson.Canonical(fixed))
		}
	}
}
