package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
)

// blockedAt is what became of a call whose policy blocks it, after so many steps.
func blockedAt(c arguments.Call, reason, phase string, steps int, b patterns.Blocked) envelope.Envelope {
	r := patterns.Result{StopReason: reason, Phase: phase, ByCall: true, Trace: []any{}, History: []any{}, Blocked: &b, Taken: steps + 1}
	for range steps {
		r.History = append(r.History, patterns.ActionDone{})
	}
	return outcome.Ended(c, patterns.Ended{Result: r})
}

const twoRefunds = `{"goal":"x","actions":[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}},{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":500.0,"reason":"late parcel"}}]}`

// The nearest call that the policy does not block is the caller's own with one argument changed, wherever that stands.
func TestNearestAllowedArguments(t *testing.T) {
	cap := patterns.Blocked{Tool: "issue_refund", Rule: "run_cap", Reason: "run_cap", Argument: "amount_usd", Nearest: map[string]any{"amount_usd": 300.0}}
	tests := map[string]struct {
		kind            gateway.Kind
		arguments       string
		reason, phase   string
		steps           int
		blocked         patterns.Blocked
		at, from, to    string
		action, getting string // of next; in its arguments
	}{
		"an action": {gateway.Supervisor, twoRefunds, "supervisor_block:run_cap", "supervisor", 1, cap,
			"/actions/1/args/amount_usd", "500", "300", envelope.ActionFix, `"amount_usd":300,`},
		"an action in a text": {gateway.Supervisor, `{"goal":"x","actions":"[{\"name\":\"issue_refund\",\"args\":{\"user_id\":42,\"amount_usd\":500}}]"}`,
			"supervisor_block:run_cap", "supervisor", 0, cap, "/actions/0/args/amount_usd", "500", "300", envelope.ActionFix, `"amount_usd":300,`},
		"a step": {gateway.TaskDecomposition, `{"goal":"x","plan":{"steps":[{"id":"a","title":"a","tool":"pay","args":{"cents":900}}]}}`, "policy_block:cap", "execute", 0,
			patterns.Blocked{Tool: "pay", Argument: "cents", Nearest: map[string]any{"cents": 400.0}}, "/plan/steps/0/args/cents", "900", "400", envelope.ActionFix, `"cents":400`},
		"a route": {gateway.Routing, `{"ticket":"x","route":{"target":"billing_specialist","args":{"level":"high"}}}`, "policy_block:level", "delegate", 0,
			patterns.Blocked{Tool: "billing_specialist", Argument: "level", Nearest: map[string]any{"level": "low"}}, "/route/args/level", `"high"`, `"low"`, envelope.ActionFix, `"level":"low"`},
		"one call": {gateway.Call, `{"user_id":42,"amount_usd":500.0,"reason":"x"}`, "policy_block:run_cap", "call", 0, cap, "/amount_usd", "500", "300", envelope.ActionFix, `"amount_usd":300`},
		"nothing near": {gateway.Call, `{"user_id":42,"amount_usd":500.0,"reason":"x"}`, "policy_block:run_cap", "call", 0,
			patterns.Blocked{Tool: "issue_refund", Rule: "run_cap"}, "", "", "", envelope.ActionTell, ""},
		"a step that is not there": {gateway.TaskDecomposition, `{"goal":"x","plan":{"steps":[]}}`, "policy_block:cap", "execute", 3, cap, "", "", "", envelope.ActionTell, ""},
	}
	for name, tt := range tests {
		c, _ := sent{kind: tt.kind, arguments: tt.arguments}.taken(t)
		if tt.from != "" {
			from, err := ijson.Decode([]byte(tt.from))
			if err != nil {
				t.Fatal(err)
			}
			tt.blocked.Args = map[string]any{tt.blocked.Argument: from}
		}
		e := blockedAt(c, tt.reason, tt.phase, tt.steps, tt.blocked)
		if e.Next.Action != tt.action {
			t.Errorf("%s: next is %+v, want %s", name, e.Next, tt.action)
			continue
		}
		if tt.action != envelope.ActionFix {
			continue
		}
		changed, _ := json.Marshal(e.Next.Changed)
		if want := `[{"pointer":"` + tt.at + `","from":` + tt.from + `,"to":` + tt.to + `}]`; string(changed) != want || len(e.Next.Fill) > 0 {
			t.Errorf("%s: changed %s, fill %v, want %s", name, changed, e.Next.Fill, want)
		}
		if arguments, _ := json.Marshal(e.Next.Arguments); !strings.Contains(string(arguments), tt.getting) || e.Next.Tool != c.Tool {
			t.Errorf("%s: the call of %s is %s, want %s in it", name, e.Next.Tool, arguments, tt.getting)
		}
	}
}

// Nothing is offered that could act once more, nor what a model proposed; and a key that was used asks for the same run.
func TestNearestKeepsToItsCaller(t *testing.T) {
	near := patterns.Blocked{Tool: "issue_refund", Args: map[string]any{"amount_usd": 500.0}, Argument: "amount_usd", Nearest: map[string]any{"amount_usd": 300.0}}
	c, _ := sent{kind: gateway.Supervisor, arguments: strings.Replace(twoRefunds, `{`, `{"idempotency_key":"k",`, 1)}.taken(t)
	keyed := blockedAt(c, "supervisor_block:cap", "supervisor", 1, near)
	if diff := cmp.Diff([]string{"/idempotency_key"}, pointers(keyed.Next)); keyed.Next.Action != envelope.ActionFix || diff != "" {
		t.Errorf("with a key next is %+v", keyed.Next)
	}
	edited := near
	edited.Args = map[string]any{"amount_usd": 501.0}
	if e := blockedAt(c, "supervisor_block:cap", "supervisor", 1, edited); e.Next.Action != envelope.ActionTell {
		t.Errorf("of another call than the caller's next is %+v", e.Next)
	}
	between := patterns.Result{StopReason: "supervisor_block:cap", Phase: "supervisor", ByCall: true, Blocked: &near, Trace: []any{}, History: []any{patterns.ActionDone{}}, Taken: 1}
	if e := outcome.Ended(c, patterns.Ended{Result: between}); e.Next.Action != envelope.ActionTell {
		t.Errorf("after a model's action next is %+v", e.Next)
	}
	wrote := patterns.Result{StopReason: "supervisor_block:cap", Phase: "supervisor", ByCall: true, Blocked: &near, Taken: 2, Trace: []any{}, History: []any{patterns.ActionDone{}},
		Ledger: []gateway.Entry{{Tool: "issue_refund", Effect: catalog.Write, Status: gateway.InDoubt}}}
	if e := outcome.Ended(c, patterns.Ended{Result: wrote}); e.Next.Action != envelope.ActionTell {
		t.Errorf("after a write next is %+v", e.Next)
	}
	model := wrote
	model.Ledger, model.ByCall = nil, false
	if e := outcome.Ended(c, patterns.Ended{Result: model}); e.Next.Action != envelope.ActionTell {
		t.Errorf("for a model's action next is %+v", e.Next)
	}
	needs := wrote
	needs.Ledger, needs.Need = nil, []string{"get_refund_context", "reason"}
	e := outcome.Ended(c, patterns.Ended{Result: needs})
	if e.Next.Action != envelope.ActionCall || e.Next.Say != "Send your own actions. get_refund_context must come first. The final answer needs: reason." && !strings.Contains(e.Next.Say, "its reason") {
		t.Errorf("where something comes first next is %+v", e.Next)
	}
}

func pointers(n envelope.Next) (list []string) {
	for _, p := range n.Fill {
		list = append(list, string(p))
	}
	return list
}

// A block says its rule, its words and what made it true in both channels; the summary has the words of the rule and no value.
func TestBlockShown(t *testing.T) {
	c, _ := sent{kind: gateway.Supervisor, arguments: twoRefunds}.taken(t)
	b := patterns.Blocked{
		Tool: "issue_refund", Rule: "run_cap", Reason: "too_much", Text: "No more than 300 USD\na run.", Passes: 2, Retryable: true,
		Values: map[string]any{"args.reason": "pay \u202eme", "vars.spent": 500.0},
	}
	r := patterns.Result{StopReason: "supervisor_block:too_much", Phase: "supervisor", ByCall: true, Blocked: &b, Trace: []any{}, History: []any{},
		Action: map[string]any{"kind": "tool", "name": "issue_refund", "args": map[string]any{}}}
	e := outcome.Ended(c, patterns.Ended{Result: r})
	structured, text, err := e.Present(defaultResultBytes)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"block":{"tool":"issue_refund","rule":"run_cap","reason":"too_much","text":"No more than 300 USD a run.","values":{"args.reason":"pay ` + "\u202e" + `me","vars.spent":500},"retryable":true,"passes":2}`
	if !strings.Contains(string(structured), want) {
		t.Errorf("structured is %s, want %s in it", structured, want)
	}
	if line := "\nBLOCK {\"tool\":\"issue_refund\",\"rule\":\"run_cap\",\"reason\":\"too_much\",\"text\":\"No more than 300 USD a run.\",\"values\":{\"args.reason\":\"pay \\u202eme\""; !strings.Contains(text, line) {
		t.Errorf("the text lacks %q:\n%s", line, text)
	}
	if want := "issue_refund was blocked by the policy in phase supervisor: No more than 300 USD a run (rule run_cap, too_much). The same call may pass later. Nothing ran."; e.Summary != want {
		t.Errorf("the summary is %q, want %q", e.Summary, want)
	}
	plain := outcome.Ended(c, patterns.Ended{Result: patterns.Result{
		StopReason: "supervisor_block:policy_error:run_cap", Phase: "supervisor", Trace: []any{}, History: []any{}, Blocked: &patterns.Blocked{Tool: "issue_refund", Rule: "run_cap", Reason: "policy_error:run_cap"},
	}})
	if !strings.Contains(plain.Summary, "could not be evaluated for this call, so it blocks the call (policy_error:run_cap).") {
		t.Errorf("of an error the summary is %q", plain.Summary)
	}
}

// However much a policy says, its result keeps to what clients bear.
func TestBlockIsBounded(t *testing.T) {
	c, _ := sent{kind: gateway.Supervisor, arguments: twoRefunds}.taken(t)
	long := strings.Repeat("\u202e", 5000)
	values := map[string]any{}
	for i := range 200 {
		values[strings.Repeat("v", i+1)] = long
	}
	e := blockedAt(c, "supervisor_block:x", "supervisor", 0, patterns.Blocked{Tool: long, Rule: long, Reason: long, Text: long, Values: values})
	structured, text, err := e.Present(defaultResultBytes)
	if err != nil || len(structured) > defaultResultBytes || len(text) > defaultResultBytes {
		t.Errorf("%d and %d bytes, %v, want at most %d", len(structured), len(text), err, defaultResultBytes)
	}
}
