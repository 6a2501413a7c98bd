package planning_test

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/ijson"
)

// payCatalog has a tool that reads and two that write; of one the amount has bounds.
func payCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	tool := func(name string, effect catalog.Effect, input string) catalog.Tool {
		schema, err := catalog.CompileSchema([]byte(input))
		if err != nil {
			t.Fatal(err)
		}
		return catalog.Tool{Name: name, Effect: effect, Input: schema, Do: func(context.Context, catalog.Call) (any, error) { return map[string]any{}, nil }}
	}
	c, err := catalog.New(
		tool("look", catalog.Read, `{"type":"object","properties":{"id":{"type":"integer"}},"additionalProperties":false}`),
		tool("pay", catalog.Write, `{"type":"object","description":"Words.","properties":{"n":{"type":"number","minimum":0,"maximum":100,"description":"Words."},
			"to":{"type":"string"},"tags":{"type":"array","items":{"enum":["a","b"]}},"note":{"type":"object"}},"required":["n"],"additionalProperties":false}`),
		tool("burn", catalog.Destructive, `{"type":"object"}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func payEnvelope(t testing.TB, args map[string]any) planning.Envelope {
	t.Helper()
	c := payCatalog(t)
	return planning.Envelope{
		Plan: "plan_0123456789abcdef", Revision: 2, Goal: "pay", Change: &planning.EnvelopeChange{Kind: "replan", Added: []string{"p"}, Removed: []string{"old"}},
		Steps: []planning.EnvelopeStep{
			planning.NewEnvelopeStep(planning.Subtask{ID: "l", Tool: "look", Description: "Look."}, c),
			planning.NewEnvelopeStep(planning.Subtask{ID: "p", Tool: "pay", Args: args, Description: strings.Repeat("x", 4000)}, c),
			planning.NewEnvelopeStep(planning.Subtask{ID: "m", Tool: planning.ModelExecutor, Args: map[string]any{"free": "$results.p"}}, c),
			planning.NewEnvelopeStep(planning.Subtask{ID: "g", Tool: "gone"}, c),
		},
	}
}

// What was shown of a step is what its share lets through: values as they are, references within their bounds.
func TestEnvelopeCovers(t *testing.T) {
	input := func(tool string) string {
		tl, _ := payCatalog(t).Tool(tool)
		return tl.Input.Hash()
	}
	const ref = "$results.l./n"
	type args = map[string]any
	tests := map[string]struct {
		shown, sent args
		change      func(*gateway.Question)
		step        string
		covers      bool
		bounded     bool
	}{
		"as shown":                  {args{"n": 5.0, "to": "x"}, args{"n": 5.0, "to": "x"}, nil, "p", true, true},
		"another value":             {args{"n": 5.0}, args{"n": 6.0}, nil, "p", false, true},
		"one more":                  {args{"n": 5.0}, args{"n": 5.0, "to": "x"}, nil, "p", false, true},
		"one less":                  {args{"n": 5.0, "to": "x"}, args{"n": 5.0}, nil, "p", false, true},
		"one for another":           {args{"n": 5.0, "to": "x"}, args{"n": 5.0, "note": "x"}, nil, "p", false, true},
		"a reference":               {args{"n": ref}, args{"n": 99.5}, nil, "p", true, true},
		"beyond its bounds":         {args{"n": ref}, args{"n": 100.5}, nil, "p", false, true},
		"of another type":           {args{"n": ref}, args{"n": "5"}, nil, "p", false, true},
		"the reference itself":      {args{"n": ref}, args{"n": ref}, nil, "p", false, true},
		"without bounds":            {args{"n": 5.0, "to": ref}, args{"n": 5.0, "to": "mallory"}, nil, "p", true, false},
		"without them, no text":     {args{"n": 5.0, "to": ref}, args{"n": 5.0, "to": 7.0}, nil, "p", false, false},
		"in a list":                 {args{"n": 5.0, "tags": []any{"a", ref}}, args{"n": 5.0, "tags": []any{"a", "b"}}, nil, "p", true, true},
		"in a list, not of it":      {args{"n": 5.0, "tags": []any{"a", ref}}, args{"n": 5.0, "tags": []any{"a", "c"}}, nil, "p", false, true},
		"a longer list":             {args{"n": 5.0, "tags": []any{"a", ref}}, args{"n": 5.0, "tags": []any{"a", "b", "b"}}, nil, "p", false, true},
		"a list for a text":         {args{"n": 5.0, "tags": []any{"a"}}, args{"n": 5.0, "tags": "a"}, nil, "p", false, true},
		"within a free object":      {args{"n": 5.0, "note": args{"a": ref}}, args{"n": 5.0, "note": args{"a": []any{1.0}}}, nil, "p", true, false},
		"and more of it":            {args{"n": 5.0, "note": args{"a": ref}}, args{"n": 5.0, "note": args{"a": 1.0, "b": 2.0}}, nil, "p", false, false},
		"a text that begins so":     {args{"n": 5.0, "to": "$$results.x"}, args{"n": 5.0, "to": "$results.x"}, nil, "p", true, true},
		"as it stands":              {args{"n": 5.0, "to": "$$results.x"}, args{"n": 5.0, "to": "$$results.x"}, nil, "p", false, true},
		"another tool":              {args{"n": 5.0}, args{"n": 5.0}, func(q *gateway.Question) { q.Tool = "burn" }, "p", false, true},
		"another schema":            {args{"n": 5.0}, args{"n": 5.0}, func(q *gateway.Question) { q.Schema = input("look") }, "p", false, true},
		"no schema":                 {args{"n": 5.0}, args{"n": 5.0}, func(q *gateway.Question) { q.Schema = "" }, "p", false, true},
		"another step":              {args{"n": 5.0}, args{"n": 5.0}, nil, "l", false, true},
		"no step":                   {args{"n": 5.0}, args{"n": 5.0}, nil, "", false, true},
		"a step that is no call":    {nil, args{"free": "x"}, func(q *gateway.Question) { q.Tool, q.Schema = planning.ModelExecutor, "" }, "m", false, true},
		"a tool that was not there": {nil, nil, func(q *gateway.Question) { q.Tool, q.Schema = "gone", "" }, "g", false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sent := gateway.Question{Tool: "pay", Schema: input("pay"), Args: tt.sent}
			if tt.change != nil {
				tt.change(&sent)
			}
			e := payEnvelope(t, tt.shown)
			if got := e.Covers(tt.step, sent); got != tt.covers {
				t.Errorf("Covers(%q, %v) of %v = %t, want %t", tt.step, tt.sent, tt.shown, got, tt.covers)
			}
			read, ok := planning.ReadEnvelope(gateway.Question{Args: e.Value()})
			if !ok || read.Covers(tt.step, sent) != tt.covers {
				t.Errorf("read again: %t, Covers = %t", ok, !tt.covers)
			}
			if p, _ := e.Step("p"); p.Bounded() != tt.bounded {
				t.Errorf("Bounded with %v = %t, want %t", p.Bounds, !tt.bounded, tt.bounded)
			}
		})
	}
	if (planning.Envelope{}).Covers("", gateway.Question{}) {
		t.Error("the zero envelope covers something")
	}
}

func TestEnvelopeValue(t *testing.T) {
	e := payEnvelope(t, map[string]any{"n": "$results.l./n", "to": "$$x"})
	v := e.Value()
	want := map[string]any{"read": 1.0, "write": 1.0, "destructive": 0.0, "model": 1.0, "caller": 0.0, "gone": 1.0}
	if diff := cmp.Diff(want, v["counts"]); diff != "" {
		t.Errorf("counts (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"id": "p", "tool": "pay", "effect": "write"}}, v["reserved"]); diff != "" {
		t.Errorf("reserved (-want +got)\n%s", diff)
	}
	step := v["steps"].([]any)[1].(map[string]any)
	if diff := cmp.Diff(map[string]any{"/n": map[string]any{"type": "number", "minimum": 0.0, "maximum": 100.0}}, step["bounds"]); diff != "" {
		t.Errorf("bounds (-want +got)\n%s", diff)
	}
	if n := len(step["description"].(string)); n > 512 {
		t.Errorf("a description of %d bytes", n)
	}
	known := payEnvelope(t, map[string]any{"n": 5.0, "to": "$$x"}).Value()["reserved"].([]any)[0].(map[string]any)
	if want := ijson.ArgsHash(map[string]any{"n": 5.0, "to": "$x"}); known["args_hash"] != want {
		t.Errorf("args_hash %v, want %s", known["args_hash"], want)
	}
	if e.Effect() != catalog.Write || len(e.Writing()) != 1 {
		t.Errorf("it is %s: %v", e.Effect(), e.Writing())
	}
}

// Only what Value made is an envelope.
func TestReadEnvelopeRefuses(t *testing.T) {
	whole := func() map[string]any { return payEnvelope(t, map[string]any{"n": 5.0}).Value() }
	steps := func(v map[string]any) []any { return v["steps"].([]any) }
	for name, change := range map[string]func(map[string]any){
		"another type":         func(v map[string]any) { v["type"] = "patterngate/envelope/v2" },
		"no type":              func(v map[string]any) { delete(v, "type") },
		"a member more":        func(v map[string]any) { v["more"] = 1.0 },
		"a step more":          func(v map[string]any) { v["steps"] = append(steps(v), steps(v)[0]) },
		"a step without an id": func(v map[string]any) { delete(steps(v)[0].(map[string]any), "id") },
		"another count":        func(v map[string]any) { v["counts"].(map[string]any)["write"] = 0.0 },
		"no reserved":          func(v map[string]any) { v["reserved"] = []any{} },
		"steps that are none":  func(v map[string]any) { v["steps"] = "all" },
		"a fraction":           func(v map[string]any) { v["revision"] = 1.5 },
		"an empty member":      func(v map[string]any) { v["goal"] = "" },
	} {
		v := whole()
		change(v)
		if e, ok := planning.ReadEnvelope(gateway.Question{Args: v}); ok {
			t.Errorf("%s: read as %+v", name, e)
		}
	}
	if _, ok := planning.ReadEnvelope(gateway.Question{Args: whole(), Schema: "sha256:5c"}); ok {
		t.Error("read of a question about a tool with a schema")
	}
	if _, ok := planning.ReadEnvelope(gateway.Question{}); ok {
		t.Error("read of no arguments")
	}
}

func FuzzReadEnvelope(f *testing.F) {
	f.Add(ijson.Canonical(payEnvelope(f, map[string]any{"n": "$results.l./n"}).Value()))
	f.Add([]byte(`{"type":"patterngate/envelope/v1","plan_id":"","revision":0,"steps":[],"counts":{"read":0,"write":0,"destructive":0,"model":0,"caller":0},"reserved":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := ijson.Decode(text)
		args, _ := v.(map[string]any)
		if err != nil {
			return
		}
		e, ok := planning.ReadEnvelope(gateway.Question{Args: maps.Clone(args)})
		if !ok {
			return
		}
		if again := ijson.Canonical(e.Value()); !bytes.Equal(again, ijson.Canonical(args)) {
			t.Errorf("read %s\nwritten %s", text, again)
		}
		for _, s := range e.Steps { // nothing of it may panic, and what is no tool's is never covered
			if e.Covers(s.ID, gateway.Question{Tool: s.Tool, Schema: s.Schema, Args: s.Sent()}) && s.Effect == "" {
				t.Errorf("%s covers a call", s.ID)
			}
			s.Bounded()
		}
	})
}
