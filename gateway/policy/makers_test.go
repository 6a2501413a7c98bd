package policy_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway/policy"
	"patterngate/gateway/policy/expr"
)

// TestOnce holds which keys are made of arguments.
func TestOnce(t *testing.T) {
	tests := map[string]struct {
		text string
		args map[string]any
		want string
		err  error
	}{
		"key":            {`"refund-" + args.order_id + "-" + string(args.amount_cents)`, refundValues()["args"].(map[string]any), "refund-A-1001-4900", nil},
		"blank":          {`args.order_id + " 1"`, refundValues()["args"].(map[string]any), "", policy.ErrKey},
		"empty":          {`args.order_id.substring(6)`, refundValues()["args"].(map[string]any), "", policy.ErrKey},
		"line":           {`args.order_id + "\n"`, refundValues()["args"].(map[string]any), "", policy.ErrKey},
		"128 characters": {`args.order_id + "` + strings.Repeat("x", 122) + `"`, refundValues()["args"].(map[string]any), "A-1001" + strings.Repeat("x", 122), nil},
		"129 characters": {`args.order_id + "` + strings.Repeat("x", 123) + `"`, refundValues()["args"].(map[string]any), "", policy.ErrKey},
		"absent":         {`args.order_id`, map[string]any{}, "", expr.ErrEval},
		"no value":       {`args.?note`, refundValues()["args"].(map[string]any), "", policy.ErrKey},
		"no arguments":   {`args.order_id`, nil, "", expr.ErrEval},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			once, faults := policy.Once(tt.text, "refund_charge", compiled(t, refundSchema))
			if once == nil {
				t.Fatal(faults)
			}
			got, err := once(tt.args)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%s = %q, %v, want %q, %v", tt.text, got, err, tt.want, tt.err)
			}
		})
	}
}

// TestOnceFaults holds what is said about business keys.
func TestOnceFaults(t *testing.T) {
	for text, want := range map[string]string{
		`args.amount_cents`: "once: 1: int, but string is needed; write string(args.amount_cents)",
		`args.oder_id`:      "once: 6: refund_charge has no argument oder_id " + refundArgs + "; did you mean order_id?",
		`args.note`:         `once: 6: args.note may be absent; write has(args.note) && before it, or args.?note.orValue("") (warning)`,
		`"always"`:          "once: 1: reads no argument, so only one call can ever be made (warning)",
	} {
		once, faults := policy.Once(text, "refund_charge", compiled(t, refundSchema))
		if got := inMembers(faults); fmt.Sprint(got) != fmt.Sprint([]string{want}) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if (once != nil) != strings.HasSuffix(want, "(warning)") {
			t.Errorf("%s: a function: %v", text, once != nil)
		}
	}
}

func lookSource(t testing.TB) policy.ReconcileSource {
	return policy.ReconcileSource{
		Tool: "refund_charge", Input: compiled(t, refundSchema), By: "find_refund", ByInput: compiled(t, findSchema), Observation: compiled(t, foundSchema),
		Args: []policy.Named{{Name: "key", Text: "effect.key"}}, Happened: `result.status == "paid"`,
	}
}

func doubt() catalog.Doubt {
	return catalog.Doubt{Key: "pg_1", RunID: "run-1", Tool: "refund_charge", Args: refundValues()["args"].(map[string]any), At: sent}
}

// TestReconcile holds what a look-up is asked and what its answer means.
func TestReconcile(t *testing.T) {
	in := lookSource(t)
	in.Args = append(in.Args, policy.Named{Name: "cents", Text: "double(effect.args.amount_cents)"}, policy.Named{Name: "state", Text: `effect.args.?note`})
	in.Output = []policy.Named{{Name: "refund", Text: "result.id"}, {Name: "order", Text: "effect.args.order_id"}, {Name: "cents", Text: "result.?cents"}, {Name: "sent", Text: "effect.at"}}
	look, faults := policy.Reconcile(in)
	if look.Happened == nil {
		t.Fatal(faults)
	}
	args, err := look.Args(doubt())
	if want := map[string]any{"key": "pg_1", "cents": 4900.0}; err != nil || !reflect.DeepEqual(args, want) {
		t.Errorf("asks %v, %v, want %v", args, err, want)
	}
	got, err := look.Output(doubt(), map[string]any{"status": "paid", "id": "r-7"})
	if want := (map[string]any{"refund": "r-7", "order": "A-1001", "sent": "2026-01-31T10:00:00.5Z"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("result %v, %v, want %v", got, err, want)
	}
	if got, err := look.Output(doubt(), map[string]any{"status": "paid"}); got != nil || !errors.Is(err, expr.ErrEval) {
		t.Errorf("result without id: %v, %v", got, err)
	}
	if look, _ := policy.Reconcile(lookSource(t)); look.Output != nil {
		t.Error("a result is computed where none was asked for")
	}
}

// TestHappened holds what observations say about a call in doubt.
func TestHappened(t *testing.T) {
	tests := map[string]struct {
		happened        string
		observation     any
		happenedW, know bool
	}{
		"yes":                         {`result.status == "paid"`, map[string]any{"status": "paid", "id": "r"}, true, true},
		"no":                          {`result.status == "paid"`, map[string]any{"status": "failed", "id": "r"}, false, true},
		"a member is missing":         {`result.status == "paid"`, map[string]any{"id": "r"}, false, false},
		"another type":                {`result.status == "paid"`, map[string]any{"status": 1.0, "id": "r"}, false, false},
		"no object":                   {`result.status == "paid"`, "paid", false, false},
		"nothing":                     {`result.status == "paid"`, nil, false, false},
		"there is none":               {`result.status == "paid"`, map[string]any{"error": "not_found", "status": 404.0}, false, true},
		"there is none, read":         {`!has(result.id)`, map[string]any{"error": "not_found", "status": 404.0}, false, true},
		"an error":                    {`has(result.id)`, map[string]any{"error": "try again"}, false, false},
		"an error that is asked for":  {`!has(result.error)`, map[string]any{"error": "no such refund", "id": "r"}, false, true},
		"an error by another index":   {`!("error" in dyn(result))`, map[string]any{"error": "no such refund"}, false, true},
		"an error that is null":       {`has(result.id)`, map[string]any{"error": nil, "id": "r"}, true, true},
		"depends on the call":         {`result.cents == effect.args.amount_cents`, map[string]any{"status": "paid", "id": "r", "cents": 4900.0}, true, true},
		"depends on the call, absent": {`result.cents == effect.args.amount_cents`, map[string]any{"status": "paid", "id": "r"}, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := lookSource(t)
			in.Happened = tt.happened
			if strings.Contains(tt.happened, "error") {
				in.Observation = nil
			}
			look, faults := policy.Reconcile(in)
			if look.Happened == nil {
				t.Fatal(faults)
			}
			if got, known := look.Happened(doubt(), tt.observation); got != tt.happenedW || known != tt.know {
				t.Errorf("%s of %v: %v, %v, want %v, %v", tt.happened, tt.observation, got, known, tt.happenedW, tt.know)
			}
		})
	}
}

// TestReconcileFaults holds what is said about a reconcile.
func TestReconcileFaults(t *testing.T) {
	tests := map[string]struct {
		change func(*policy.ReconcileSource)
		want   []string
	}{
		"none": {func(*policy.ReconcileSource) {}, nil},
		"unknown argument": {func(in *policy.ReconcileSource) {
			in.Args = append(in.Args, policy.Named{Name: "kye", Text: "effect.key"}, policy.Named{Name: "cent", Text: "1.0"})
		}, []string{"reconcile.args.kye: 1: find_refund has no argument kye (key, cents, state)", "reconcile.args.cent: 1: find_refund has no argument cent (key, cents, state); did you mean cents?"}},
		"argument of another type": {func(in *policy.ReconcileSource) {
			in.Args = append(in.Args, policy.Named{Name: "cents", Text: "effect.args.amount_cents"})
		}, []string{"reconcile.args.cents: 1: an int, but a double is needed; write double(effect.args.amount_cents)"}},
		"argument outside its values": {func(in *policy.ReconcileSource) {
			in.Args = append(in.Args, policy.Named{Name: "state", Text: `"payd"`})
		}, []string{`reconcile.args.state: 1: "payd" is not one of the values ("paid", "failed"); did you mean paid?`}},
		"argument needed": {func(in *policy.ReconcileSource) { in.Args = nil }, []string{"reconcile.args: 1: find_refund needs the argument key"}},
		"argument of the call": {func(in *policy.ReconcileSource) {
			in.Args = []policy.Named{{Name: "key", Text: "effect.args.ordr_id"}}
		}, []string{"reconcile.args.key: 13: refund_charge has no argument ordr_id " + refundArgs + "; did you mean order_id?"}},
		"result in an argument": {func(in *policy.ReconcileSource) {
			in.Args = []policy.Named{{Name: "key", Text: "result.id"}}
		}, []string{"reconcile.args.key: 1: no variable result (effect)"}},
		"member of the effect": {func(in *policy.ReconcileSource) {
			in.Args = []policy.Named{{Name: "key", Text: "effect.keys"}}
		}, []string{"reconcile.args.key: 8: effect has no member keys (key, run_id, tool, args, at)"}},
		"member of the result": {func(in *policy.ReconcileSource) { in.Happened = `result.statu == "paid"` },
			[]string{"reconcile.happened: 8: the result of find_refund has no member statu (status, id, cents); did you mean status?"}},
		"value of the result": {func(in *policy.ReconcileSource) { in.Happened = `result.status == "payd"` },
			[]string{`reconcile.happened: 18: result.status is never "payd" ("paid", "failed"); did you mean paid?`}},
		"no bool":       {func(in *policy.ReconcileSource) { in.Happened = `result.status` }, []string{"reconcile.happened: 1: string, but bool is needed"}},
		"missing":       {func(in *policy.ReconcileSource) { in.Happened = `` }, []string{"reconcile.happened: 1: not an expression: it ends too early"}},
		"always":        {func(in *policy.ReconcileSource) { in.Happened = `true` }, []string{"reconcile.happened: 1: reads nothing of result, so there is no need to call find_refund (warning)"}},
		"output":        {func(in *policy.ReconcileSource) { in.Output = []policy.Named{{Name: "id", Text: "result.ids"}} }, []string{"reconcile.output.id: 8: the result of find_refund has no member ids (status, id, cents)"}},
		"nothing known": {func(in *policy.ReconcileSource) { in.Input, in.ByInput, in.Observation = nil, nil, nil }, nil},
		"any argument":  {func(in *policy.ReconcileSource) { in.ByInput = nil; in.Args = []policy.Named{{Name: "x", Text: "1"}} }, nil},
		"all at once": {func(in *policy.ReconcileSource) {
			in.Args = nil
			in.Happened = `1`
			in.Output = []policy.Named{{Name: "a", Text: ")"}}
		},
			[]string{"reconcile.args: 1: find_refund needs the argument key", "reconcile.happened: 1: int, but bool is needed", "reconcile.output.a: 1: not an expression: unexpected token"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := lookSource(t)
			tt.change(&in)
			look, faults := policy.Reconcile(in)
			if got := inMembers(faults); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
			passes := len(tt.want) == 0 || strings.HasSuffix(tt.want[0], "(warning)")
			if (look.Happened != nil && look.Args != nil) != passes {
				t.Errorf("a look: %v, want %v", look.Happened != nil, passes)
			}
		})
	}
}

// TestOutput holds what an http tool's observation is made of.
func TestOutput(t *testing.T) {
	input := compiled(t, refundSchema)
	observe, faults := policy.Output([]policy.Named{
		{Name: "state", Text: "response.body.data.state"}, {Name: "code", Text: "response.status"}, {Name: "order", Text: "args.order_id"},
		{Name: "etag", Text: `response.headers[?"Etag"]`}, {Name: "count", Text: "size(response.body.data.items)"},
		{Name: "first", Text: "response.body.data.items[?0]"},
	}, "refund_charge", input)
	if observe == nil {
		t.Fatal(faults)
	}
	args := refundValues()["args"].(map[string]any)
	body := map[string]any{"data": map[string]any{"state": "paid", "items": []any{}}}
	got, err := observe(args, 201, map[string]string{"Etag": "x"}, body)
	if want := (map[string]any{"state": "paid", "code": 201.0, "order": "A-1001", "etag": "x", "count": 0.0}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("observation %v, %v, want %v", got, err, want)
	}
	for name, body := range map[string]any{"no body": nil, "a text": "paid", "a list": []any{}, "another body": map[string]any{"data": 1.0}} {
		got, err := observe(args, 200, nil, body)
		member, _ := errors.AsType[*policy.MemberError](err)
		if got != nil || member == nil || member.Member != "state" || !errors.Is(err, expr.ErrEval) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}

	_, faults = policy.Output([]policy.Named{{Name: "a", Text: "response.stats"}, {Name: "b", Text: "response.status > 200.0"}, {Name: "c", Text: "result.id"}}, "refund_charge", input)
	want := []string{
		"output.a: 10: response has no member stats (status, headers, body); did you mean status?",
		"output.b: 17: response.status is int and 200.0 is double; they cannot be mixed; write 200",
		"output.c: 1: no variable result (args, response)",
	}
	if got := inMembers(faults); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// inMembers words faults with their members and columns.
func inMembers(faults []expr.Fault) []string {
	var all []string
	for _, f := range faults {
		text := fmt.Sprintf("%s: %d: %s", f.Member, f.Column, f)
		if f.Warning {
			text += " (warning)"
		}
		all = append(all, text)
	}
	return all
}
