package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
)

// searchable is a policy of one function whose rules read what it says; it counts its passes.
type searchable struct {
	review func(gateway.Case) gateway.Verdict
	reads  []string
	passes *int
}

func (s searchable) Review(c gateway.Case) gateway.Verdict {
	if s.passes != nil {
		*s.passes++
	}
	return s.review(c)
}

func (s searchable) Reads(string, string) []string { return s.reads }

// payWith is a tool with these arguments, as a JSON object of schemas.
func payWith(t testing.TB, properties string) catalog.Tool {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(`{"type":"object","additionalProperties":false,"properties":` + properties + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Tool{Name: "pay", Effect: catalog.Write, Input: input, Do: func(context.Context, catalog.Call) (any, error) { return nil, nil }}
}

// nearest is what a gate with one tool offers in place of a call that it blocks: "cents 50", or "".
func nearest(t testing.TB, config gateway.Config, tool catalog.Tool, args map[string]any) string {
	t.Helper()
	tools, err := catalog.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	config.Catalog, config.Execution, config.Budget = tools, []string{"pay"}, gateway.NoBudget()
	g, p := gateway.NewGate(config), gateway.Proposal{Tool: "pay", Args: args, Attempt: 1}
	_, stop := g.Admit(p)
	if stop == nil || stop.Block == nil {
		t.Fatalf("%v was not blocked by the policy: %+v", args, stop)
	}
	got, argument := g.Nearest(p, *stop.Block)
	if argument == "" {
		if got != nil {
			t.Errorf("%v of no argument", got)
		}
		return ""
	}
	return argument + " " + string(ijson.Canonical(got[argument]))
}

// fits is a policy that lets through what a function does.
func fits(fine func(map[string]any) bool, reads ...string) searchable {
	return searchable{review: func(c gateway.Case) gateway.Verdict {
		if fine(c.Args) {
			return gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
		}
		return gateway.Verdict{Reason: "no", Values: map[string]any{"args.cents": c.Args["cents"], "params.only": 777777.0}}
	}, reads: reads}
}

func number(args map[string]any, name string) float64 { v, _ := args[name].(float64); return v }

func TestNearest(t *testing.T) {
	cents := func(fine func(float64) bool) searchable {
		return fits(func(args map[string]any) bool { return fine(number(args, "cents")) }, "cents")
	}
	tests := map[string]struct {
		properties string
		policy     gateway.Reviewer
		args       map[string]any
		want       string
	}{
		"at most":            {`{"cents":{"type":"integer","minimum":1}}`, cents(func(v float64) bool { return v <= 50000 }), values{"cents": 60000.0}, "cents 50000"},
		"at least":           {`{"cents":{"type":"integer"}}`, cents(func(v float64) bool { return v >= 120 }), values{"cents": -7.0}, "cents 120"},
		"between, from both": {`{"cents":{"type":"integer"}}`, cents(func(v float64) bool { return v <= 90 || v >= 120 }), values{"cents": 100.0}, "cents 90"},
		"exactly":            {`{"cents":{"type":"integer"}}`, cents(func(v float64) bool { return v == 777777 }), values{"cents": 3.0}, "cents 777777"},
		"dollars":            {`{"cents":{"type":"number"}}`, cents(func(v float64) bool { return v <= 19.99 }), values{"cents": 500.0}, "cents 19.99"},
		"between two cents":  {`{"cents":{"type":"number"}}`, cents(func(v float64) bool { return v <= 19.99 }), values{"cents": 19.995}, "cents 19.99"},
		"the next cent":      {`{"cents":{"type":"number"}}`, cents(func(v float64) bool { return v >= 0.01 }), values{"cents": 0.001}, "cents 0.01"},
		"a number or null":   {`{"cents":{"type":["number","null"]}}`, cents(func(v float64) bool { return v <= 1 }), values{"cents": 2.0}, "cents 1"},
		"huge":               {`{"cents":{"type":"number"}}`, cents(func(v float64) bool { return v <= 100 }), values{"cents": 1e300}, "cents 100"},
		"huge below zero":    {`{"cents":{"type":"integer"}}`, cents(func(v float64) bool { return v >= 5 }), values{"cents": -9e15}, "cents 5"},
		"the schema's least": {`{"cents":{"type":"integer","minimum":30}}`, cents(func(v float64) bool { return v <= 20 }), values{"cents": 60.0}, ""},
		"above the least":    {`{"cents":{"type":"integer","exclusiveMinimum":20}}`, cents(func(v float64) bool { return v <= 20 }), values{"cents": 60.0}, ""},
		"the schema's most":  {`{"cents":{"type":"number","maximum":99.5}}`, cents(func(v float64) bool { return v >= 99.5 }), values{"cents": 60.0}, "cents 99.5"},
		"below the most":     {`{"cents":{"type":"number","exclusiveMaximum":99.5}}`, cents(func(v float64) bool { return v >= 99.5 }), values{"cents": 60.0}, ""},
		"of a kind":          {`{"cents":{"type":"integer","multipleOf":25}}`, cents(func(v float64) bool { return v <= 90 }), values{"cents": 300.0}, "cents 75"},
		"of a small kind":    {`{"cents":{"type":"number","multipleOf":0.125}}`, cents(func(v float64) bool { return v < 0.5 }), values{"cents": 3.0}, "cents 0.375"},
		"of a tiny kind":     {`{"cents":{"type":"number","multipleOf":1e-300}}`, cents(func(v float64) bool { return v < 0 }), values{"cents": 3.0}, "cents -1e-300"},
		"nowhere":            {`{"cents":{"type":"integer"}}`, cents(func(float64) bool { return false }), values{"cents": 60.0}, ""},
		"words": {`{"level":{"enum":["high","mid","low"]}}`, fits(func(args map[string]any) bool { return args["level"] != "high" }, "level"),
			values{"level": "high"}, `level "mid"`},
		"numbers as words": {`{"level":{"enum":[1,100,9,12]}}`, fits(func(args map[string]any) bool { return number(args, "level") > 5 && number(args, "level") != 9 }, "level"),
			values{"level": 1.0}, "level 12"},
		"a yes": {`{"express":{"type":"boolean"}}`, fits(func(args map[string]any) bool { return args["express"] == false }, "express"), values{"express": true}, "express false"},
		"a text": {`{"note":{"type":"string"}}`, fits(func(args map[string]any) bool { return args["note"] == "" }, "note"),
			values{"note": "x"}, ""},
		"the smaller change": {`{"n":{"type":"integer"},"cents":{"type":"integer"}}`, fits(func(args map[string]any) bool { return number(args, "n") <= 1 || number(args, "cents") <= 950 }, "n", "cents"),
			values{"n": 9.0, "cents": 1000.0}, "cents 950"},
		"a number before a word": {`{"level":{"enum":["high","low"]},"cents":{"type":"integer"}}`,
			fits(func(args map[string]any) bool { return args["level"] == "low" || number(args, "cents") <= 5 }, "level", "cents"), values{"level": "high", "cents": 10.0}, "cents 5"},
		"not what is not read": {`{"n":{"type":"integer"},"cents":{"type":"integer"}}`, fits(func(args map[string]any) bool { return number(args, "n") <= 1 }, "cents"),
			values{"n": 9.0, "cents": 10.0}, ""},
		"not what is not given": {`{"n":{"type":"integer"},"cents":{"type":"integer"}}`, fits(func(args map[string]any) bool { return number(args, "n") == 1 }, "n"), values{"cents": 10.0}, ""},
		"not another thing": {`{"order_id":{"type":"integer"},"cents":{"type":"integer"}}`, fits(func(args map[string]any) bool { return number(args, "order_id") > 7 || number(args, "cents") < 5 }, "order_id", "cents"),
			values{"order_id": 7.0, "cents": 100.0}, "cents 4"},
		"changed, then blocked": {`{"cents":{"type":"integer"}}`, searchable{reads: []string{"cents"}, review: func(c gateway.Case) gateway.Verdict {
			switch v := number(c.Args, "cents"); {
			case v > 100:
				return gateway.Verdict{Decision: gateway.Revise, Reason: "less", Args: values{"cents": v - 50}}
			case v > 60:
				return gateway.Verdict{Reason: "no"}
			}
			return gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
		}}, values{"cents": 140.0}, "cents 151"},
		"put to a person": {`{"cents":{"type":"integer"}}`, searchable{reads: []string{"cents"}, review: func(c gateway.Case) gateway.Verdict {
			if number(c.Args, "cents") > 100 {
				return gateway.Verdict{Reason: "no"}
			}
			return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
		}}, values{"cents": 190.0}, "cents 100"},
		"not known": {`{"cents":{"type":"integer"}}`, searchable{reads: []string{"cents"}, review: func(gateway.Case) gateway.Verdict {
			return gateway.Verdict{Unknown: true, Reason: "later", Decision: gateway.Approve}
		}}, values{"cents": 190.0}, ""},
		"no rule's": {`{"cents":{"type":"integer"}}`, searchable{reads: []string{"cents"}, review: func(c gateway.Case) gateway.Verdict {
			if number(c.Args, "cents") > 100 {
				return gateway.Verdict{}
			}
			return gateway.Verdict{Decision: gateway.Approve}
		}}, values{"cents": 190.0}, ""},
		"nobody says what it reads": {`{"cents":{"type":"integer"}}`, gateway.ReviewerFunc(cents(func(v float64) bool { return v < 5 }).review), values{"cents": 190.0}, ""},
		"of two policies": {`{"cents":{"type":"integer"}}`, gateway.Among{Pattern: cents(func(v float64) bool { return v <= 70 }), Tools: map[string]gateway.Reviewer{
			"pay": fits(func(args map[string]any) bool { return number(args, "cents") <= 30 }),
		}}, values{"cents": 190.0}, "cents 30"},
		"that earlier runs count for": {`{"cents":{"type":"integer"}}`, windowedSearch{cents(func(v float64) bool { return v <= 70 })}, values{"cents": 190.0}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := string(ijson.Canonical(tt.args))
			if got := nearest(t, gateway.Config{Reviewer: tt.policy}, payWith(t, tt.properties), tt.args); got != tt.want {
				t.Errorf("nearest is %q, want %q", got, tt.want)
			}
			if after := string(ijson.Canonical(tt.args)); after != before {
				t.Errorf("the proposal became %s, was %s", after, before)
			}
		})
	}
}

type values = map[string]any

// windowedSearch depends on earlier runs.
type windowedSearch struct{ searchable }

func (windowedSearch) Windows(string) []gateway.Window { return []gateway.Window{{Name: "p.today"}} }

// What was called before is judged with it: what the run spent, and the same call twice.
func TestNearestAfterOthers(t *testing.T) {
	capped := searchable{reads: []string{"cents"}, review: func(c gateway.Case) gateway.Verdict {
		sum := number(c.Args, "cents")
		for _, e := range c.Effects {
			sum += number(e.Args, "cents")
		}
		if sum > 100 {
			return gateway.Verdict{Reason: "cap"}
		}
		return gateway.Verdict{Decision: gateway.Approve}
	}}
	tools, err := catalog.New(payWith(t, `{"cents":{"type":"integer","minimum":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		first, want float64
		same        gateway.Limit
	}{"what is left": {70, 30, gateway.Unlimited}, "what is left and not the same": {50, 49, 1}, "the same again": {50, 50, 2}} {
		config := gateway.Config{Catalog: tools, Execution: []string{"pay"}, Reviewer: capped, Budget: gateway.NoBudget()}
		config.Budget.MaxSameCall = tt.same
		g := gateway.NewGate(config)
		permit, stop := g.Admit(gateway.Proposal{Tool: "pay", Args: values{"cents": tt.first}, Attempt: 1})
		if stop != nil {
			t.Fatal(stop)
		}
		g.Note(permit, gateway.Entry{Key: "pay#1", Status: gateway.Finished, Order: 1})
		p := gateway.Proposal{Tool: "pay", Args: values{"cents": 90.0}, Attempt: 1}
		_, stop = g.Admit(p)
		args, _ := g.Nearest(p, *stop.Block)
		if diff := cmp.Diff(values{"cents": tt.want}, args); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// Whatever a call holds, a search ends after so many reviews; much data is searched less.
func TestNearestIsBounded(t *testing.T) {
	var properties []string
	args := values{"data": strings.Repeat("x", 100)}
	var reads []string
	for i := range 20 {
		name := fmt.Sprint("n", i)
		properties, reads = append(properties, fmt.Sprintf(`%q:{"type":"number"}`, name)), append(reads, name)
		args[name] = 1e300
	}
	tool := payWith(t, `{"data":{"type":"string"},`+strings.Join(properties, ",")+`}`)
	for size, most := range map[int]int{100: 401, 1 << 20: 65} {
		passes := 0
		args["data"] = strings.Repeat("x", size)
		policy := searchable{reads: reads, passes: &passes, review: func(gateway.Case) gateway.Verdict { return gateway.Verdict{Reason: "no"} }}
		if got := nearest(t, gateway.Config{Reviewer: policy}, tool, args); got != "" || passes > most || passes < most/2 {
			t.Errorf("%d bytes: %q after %d passes, want none after at most %d", size, got, passes, most)
		}
	}
}

// What is offered is the proposal with one argument changed, of those that are read; the same review does not block it, it fits the
// schema, and it is the same every time.
func TestNearestIsLetThrough(t *testing.T) {
	tool := payWith(t, `{"a":{"type":"integer","minimum":-50,"maximum":1000},"b":{"type":"number","multipleOf":0.5},"c":{"enum":["x","y","z",4]},"d":{"type":"boolean"},"e":{"type":"integer"}}`)
	tools, err := catalog.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		low, high := rapid.IntRange(-80, 1100).Draw(rt, "low"), rapid.IntRange(-80, 1100).Draw(rt, "high")
		word, flag := rapid.SampledFrom([]any{"x", "y", 4.0, "never"}).Draw(rt, "word"), rapid.Bool().Draw(rt, "flag")
		how := rapid.IntRange(0, 5).Draw(rt, "how")
		reads := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "zz"}), rapid.ID[string]).Draw(rt, "reads")
		policy := searchable{reads: reads, review: func(c gateway.Case) gateway.Verdict {
			a, b := number(c.Args, "a"), number(c.Args, "b")
			within := a >= float64(low) && a <= float64(high)
			switch {
			case how == 0 && within, how == 1 && !within, how == 2 && b*2 < float64(low), how == 3 && c.Args["c"] == word && c.Args["d"] == flag, how == 4 && int(a)%7 == 3:
				return gateway.Verdict{Decision: gateway.Approve, Reason: "fine"}
			case how == 5 && within && c.Args["d"] == flag:
				return gateway.Verdict{Decision: gateway.Revise, Reason: "less", Args: values{"a": float64(low) - 1, "b": b, "c": c.Args["c"], "d": c.Args["d"], "e": 1.0}}
			case how == 5 && a < float64(low):
				return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
			}
			return gateway.Verdict{Reason: "no", Rule: "r", Values: map[string]any{"args.a": a, "low": float64(low), "high": float64(high)}}
		}}
		args := values{"a": float64(rapid.IntRange(-50, 1000).Draw(rt, "a")), "b": float64(rapid.IntRange(-9000, 9000).Draw(rt, "b")) / 2,
			"c": rapid.SampledFrom([]any{"x", "y", "z", 4.0}).Draw(rt, "c"), "d": rapid.Bool().Draw(rt, "d"), "e": 1.0}
		config := gateway.Config{Catalog: tools, Execution: []string{"pay"}, Reviewer: policy, Budget: gateway.NoBudget()}
		g, p := gateway.NewGate(config), gateway.Proposal{Tool: "pay", Args: args, Attempt: 1}
		_, stop := g.Admit(p)
		if stop == nil || stop.Block == nil {
			return
		}
		got, argument := g.Nearest(p, *stop.Block)
		again, _ := g.Nearest(p, *stop.Block)
		if !cmp.Equal(got, again) {
			rt.Fatalf("%v, then %v", got, again)
		}
		if got == nil {
			if alone := how <= 1 && slices.Contains(reads, "a") && (how == 1 && (low > -50 || high < 1000) && low <= high); alone {
				rt.Fatalf("%v: there is one outside of %d to %d", args, low, high)
			}
			return
		}
		var changed []string
		for name := range args {
			if !ijson.Equal(args[name], got[name]) {
				changed = append(changed, name)
			}
		}
		if !slices.Equal(changed, []string{argument}) || !slices.Contains(reads, argument) || len(got) != len(args) {
			rt.Fatalf("%v became %v, changed is %v, of %q", args, got, changed, argument)
		}
		if wrong := tool.Check(got); len(wrong) > 0 {
			rt.Fatalf("%v does not fit: %v", got, wrong)
		}
		if r := gateway.NewGate(config).Review(gateway.Case{Tool: "pay", Args: got}); r.Decision == gateway.Block {
			rt.Fatalf("%v is blocked: %+v", got, r)
		}
	})
}
