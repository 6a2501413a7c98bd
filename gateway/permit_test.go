package gateway_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
)

// permitFor is a permit to call a tool that does that, with that output schema; "" is any output.
func permitFor(t testing.TB, output string, do catalog.Func) gateway.Permit {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(lookSchema))
	if err != nil {
		t.Fatal(err)
	}
	tool := catalog.Tool{Name: "look", Effect: catalog.Read, Input: input, Do: do}
	if output != "" {
		if tool.Output, err = catalog.CompileSchema([]byte(output)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	gate := gateway.NewGate(gateway.Config{Catalog: c, Execution: []string{"look"}, Budget: gateway.NoBudget()})
	permit, stop := gate.Admit(gateway.Proposal{Tool: "look", Args: n(1), Attempt: 2})
	if stop != nil {
		t.Fatal(stop)
	}
	return permit
}

func returning(v any) catalog.Func {
	return func(context.Context, catalog.Call) (any, error) { return v, nil }
}

func nested(depth int) any {
	var v any = "x"
	for range depth {
		v = []any{v}
	}
	return v
}

func cycle() any {
	m := map[string]any{}
	m["again"] = m
	return m
}

func TestZeroPermitPermitsNothing(t *testing.T) {
	var p gateway.Permit
	done := p.Perform(context.Background(), "k")
	if done.State != gateway.DoneRefused || !errors.Is(done.Cause, gateway.ErrNoPermit) || done.Value != nil {
		t.Errorf("the zero Permit's Perform = %+v, want refused, %v", done, gateway.ErrNoPermit)
	}
	if p.Valid() || p.Repeatable() {
		t.Errorf("the zero Permit is valid: %v, repeatable: %v", p.Valid(), p.Repeatable())
	}
	if p.Tool() != "" || p.Effect() != "" || p.Hash() != "" || p.Args() != nil {
		t.Errorf("the zero Permit is for %q, %q, %q, %v; want nothing", p.Tool(), p.Effect(), p.Hash(), p.Args())
	}
	var gate gateway.Gate
	gate.Note(p, gateway.Entry{Status: gateway.Finished, Order: 1})
	if l := gate.Ledger(); len(l) != 0 {
		t.Errorf("a call without permit stands in the ledger: %v", l)
	}
}

func TestPerformHandsOver(t *testing.T) {
	var got catalog.Call
	type key struct{}
	ctx := context.WithValue(context.Background(), key{}, "mine")
	permit := permitFor(t, "", func(ctx context.Context, c catalog.Call) (any, error) {
		if ctx.Value(key{}) != "mine" {
			t.Error("the tool got another context")
		}
		got = c
		return map[string]any{"ok": true}, nil
	})
	done := permit.Perform(ctx, "run_1/step")
	want := gateway.Done{State: gateway.DoneOK, Value: map[string]any{"ok": true}, Bytes: len(`{"ok":true}`)}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("Perform, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(catalog.Call{Args: n(1), Key: "run_1/step", Attempt: 2}, got); diff != "" {
		t.Errorf("the tool was called with, -want +got:\n%s", diff)
	}
	if permit.Tool() != "look" || permit.Effect() != catalog.Read || !permit.Repeatable() || permit.Hash() != ijson.ArgsHash(n(1)) {
		t.Errorf("the permit is for %s, %s, repeatable %v, hash %s", permit.Tool(), permit.Effect(), permit.Repeatable(), permit.Hash())
	}
}

func TestPerformContainsFaults(t *testing.T) {
	fault := errors.New("no such account")
	tests := map[string]struct {
		do    catalog.Func
		state gateway.DoneState
		cause string
	}{
		"error":              {func(context.Context, catalog.Call) (any, error) { return nil, fault }, gateway.DoneError, "look: no such account"},
		"error and value":    {func(context.Context, catalog.Call) (any, error) { return 1.0, fault }, gateway.DoneError, "look: no such account"},
		"panic":              {func(context.Context, catalog.Call) (any, error) { panic("boom") }, gateway.DonePanic, "look panicked: boom\n"},
		"panic of an error":  {func(context.Context, catalog.Call) (any, error) { panic(fault) }, gateway.DonePanic, "look panicked: no such account\n"},
		"panic of nil":       {func(context.Context, catalog.Call) (any, error) { panic(nil) }, gateway.DonePanic, "look panicked: panic called with nil"},
		"runtime fault":      {func(_ context.Context, c catalog.Call) (any, error) { return c.Args["n"].(string), nil }, gateway.DonePanic, "look panicked: interface conversion"},
		"int":                {returning(map[string]any{"n": 1}), gateway.DoneBadResult, "look: a Go int is not a JSON value at /n"},
		"NaN":                {returning([]any{math.NaN()}), gateway.DoneBadResult, "look: number out of range at /0"},
		"infinity":           {returning(math.Inf(-1)), gateway.DoneBadResult, "look: number out of range"},
		"struct":             {returning(struct{ A int }{1}), gateway.DoneBadResult, "look: a Go struct"},
		"pointer":            {returning(&struct{}{}), gateway.DoneBadResult, "look: a Go *struct"},
		"list of texts":      {returning([]string{"a"}), gateway.DoneBadResult, "look: a Go []string"},
		"raw JSON":           {returning([]byte("{}")), gateway.DoneBadResult, "look: a Go []uint8"},
		"100 deep":           {returning(nested(100)), gateway.DoneBadResult, "look: too deep"},
		"endless":            {returning(cycle()), gateway.DoneBadResult, "look: too deep"},
		"no UTF-8":           {returning(map[string]any{"t": "a\xff"}), gateway.DoneBadResult, "look: not UTF-8 at /t"},
		"a name of no UTF-8": {returning(map[string]any{"a\xff": 1.0}), gateway.DoneBadResult, "look: a member name is not UTF-8"},
		"function":           {returning(func() {}), gateway.DoneBadResult, "look: a Go func()"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			done := permitFor(t, "", tt.do).Perform(context.Background(), "k")
			if done.State != tt.state || done.Value != nil {
				t.Errorf("Perform = %s with value %v, want %s and none", done.State, done.Value, tt.state)
			}
			if done.Cause == nil || !strings.HasPrefix(done.Cause.Error(), tt.cause) {
				t.Errorf("the cause is %.200v, want %s", done.Cause, tt.cause)
			}
		})
	}
	if done := permitFor(t, "", func(context.Context, catalog.Call) (any, error) { return nil, fault }).Perform(context.Background(), "k"); !errors.Is(done.Cause, fault) {
		t.Errorf("the cause %v hides the tool's error", done.Cause)
	}
}

func TestPerformChecksTheResult(t *testing.T) {
	const output = `{"type":"object","properties":{"status":{"type":"string"}},"required":["status"],"additionalProperties":false}`
	tests := map[string]struct {
		value any
		state gateway.DoneState
		cause string
	}{
		"fits":           {map[string]any{"status": "done"}, gateway.DoneOK, ""},
		"other type":     {map[string]any{"status": 1.0}, gateway.DoneBadResult, "look: result /status: want string"},
		"unknown member": {map[string]any{"status": "done", "x": 1.0}, gateway.DoneBadResult, "look: result /x: want one of status"},
		"missing member": {map[string]any{}, gateway.DoneBadResult, "look: result /status: want string"},
		"null":           {nil, gateway.DoneBadResult, "look: result : want object"},
		"list":           {[]any{}, gateway.DoneBadResult, "look: result : want object"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			done := permitFor(t, output, returning(tt.value)).Perform(context.Background(), "k")
			cause := ""
			if done.Cause != nil {
				cause = done.Cause.Error()
			}
			if done.State != tt.state || cause != tt.cause {
				t.Errorf("Perform of %v = %s, %q, want %s, %q", tt.value, done.State, cause, tt.state, tt.cause)
			}
			if diff := cmp.Diff(tt.value, done.Value); diff != "" { // what it answered is shown, fitting or not
				t.Errorf("Perform's value, -want +got:\n%s", diff)
			}
		})
	}
}

func TestPerformBoundsTheResult(t *testing.T) {
	const bound = 64 << 10
	for name, text := range map[string]string{
		"letters":   strings.Repeat("a", 1<<20),
		"umlauts":   strings.Repeat("ü", 1<<19),
		"quotes":    strings.Repeat(`"`, 1<<20),
		"controls":  strings.Repeat("\x01", 1<<20),
		"just over": strings.Repeat("a", bound-1),
	} {
		done := permitFor(t, "", returning(map[string]any{"t": text})).Perform(context.Background(), "k")
		whole := ijson.Canonical(map[string]any{"t": text})
		cut, _ := done.Value.(map[string]any)
		head, _ := cut["head"].(string)
		kept := len(ijson.Canonical(done.Value))
		if done.State != gateway.DoneOK || done.Bytes != len(whole) || cut["truncated"] != true || cut["bytes"] != float64(len(whole)) {
			t.Errorf("%s: Perform of %d bytes = %s, %d bytes, truncated %v of %v", name, len(whole), done.State, done.Bytes, cut["truncated"], cut["bytes"])
		}
		if kept > bound || kept < bound/3 || !strings.HasPrefix(string(whole), head) {
			t.Errorf("%s: %d bytes are kept, with a head of %d", name, kept, len(head))
		}
	}
	exact := strings.Repeat("a", bound-2)
	if done := permitFor(t, "", returning(exact)).Perform(context.Background(), "k"); done.Value != exact || done.Bytes != bound {
		t.Errorf("Perform cut a result of exactly %d bytes", bound)
	}
	// The schema judges the whole, not what is kept of it.
	done := permitFor(t, `{"type":"object"}`, returning(strings.Repeat("a", bound))).Perform(context.Background(), "k")
	if done.State != gateway.DoneBadResult {
		t.Errorf("Perform of a long text where an object is wanted = %s", done.State)
	}
}

func TestReported(t *testing.T) {
	tests := map[string]struct {
		observation string
		text        string
		reported    bool
	}{
		"nothing":               {`{"status":"ok"}`, "", false},
		"no object":             {`"error"`, "", false},
		"a list":                {`[{"error":"x"}]`, "", false},
		"null":                  {`null`, "", false},
		"at the top":            {`{"error":"not found"}`, "not found", true},
		"in result":             {`{"status":"done","result":{"error":"user_not_found"}}`, "user_not_found", true},
		"deeper is data":        {`{"result":{"rows":[{"error":"x"}]},"data":{"error":"x"}}`, "", false},
		"by status":             {`{"status":"error"}`, "error", true},
		"status in result":      {`{"result":{"status":"error"}}`, "", false},
		"other status":          {`{"status":"Error"}`, "", false},
		"top before result":     {`{"error":"a","result":{"error":"b"}}`, "a", true},
		"words before status":   {`{"status":"error","result":{"error":"b"}}`, "b", true},
		"null is none":          {`{"error":null}`, "", false},
		"null, but by status":   {`{"error":null,"status":"error"}`, "error", true},
		"an object":             {`{"error":{"code":5}}`, `{"code":5}`, true},
		"blank still shows":     {`{"error":" "}`, "error", true},
		"result that is a text": {`{"result":"error"}`, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text, reported := gateway.Reported(decoded(t, tt.observation))
			if text != tt.text || reported != tt.reported {
				t.Errorf("Reported(%s) = %q, %v, want %q, %v", tt.observation, text, reported, tt.text, tt.reported)
			}
		})
	}
	if text, _ := gateway.Reported(map[string]any{"error": strings.Repeat("é", 1000)}); text != strings.Repeat("é", 256) {
		t.Errorf("a long error is shown with %d bytes, want 512", len(text))
	}
}
