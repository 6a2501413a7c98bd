package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
	"patterngate/server/arguments"
)

// rehearsing is an engine whose dry runs come to what a function says; nothing else may be asked of it but to look.
type rehearsing struct {
	engineFunc
	rehearse func(context.Context, patterns.Job) (patterns.Rehearsal, error)
}

func (r rehearsing) Rehearse(ctx context.Context, job patterns.Job) (patterns.Rehearsal, error) {
	return r.rehearse(ctx, job)
}

// rehearsed serves dry runs that come to r, and fails a test in which something is begun.
func rehearsed(t *testing.T, r patterns.Rehearsal, err error) (func(*Config), *[]patterns.Job) {
	jobs := &[]patterns.Job{}
	engine := rehearsing{
		engineFunc: func(context.Context, patterns.Job) (patterns.Ended, error) {
			t.Error("a run was begun")
			return patterns.Ended{}, patterns.ErrJournal
		},
		rehearse: func(_ context.Context, job patterns.Job) (patterns.Rehearsal, error) {
			*jobs = append(*jobs, job)
			return r, err
		},
	}
	return func(c *Config) { c.Engine = engine }, jobs
}

// judgedRows are one of each decision.
func judgedRows() []patterns.RehearsedRow {
	return []patterns.RehearsedRow{
		{Step: "1", Tool: "get_refund_context", ArgsHash: "0123456789ab", Decision: "approve", Rule: "reading_is_free", Reason: "reading_is_free", Passes: 1},
		{Step: "2", Tool: "issue_refund", ArgsHash: "123456789abc", Decision: "escalate", Rule: "big", Reason: "big_refund",
			Values: map[string]any{"args.amount_usd": 1200.0, "params.limit": 1000.0}, Passes: 1},
		{Step: "3", Tool: "issue_refund", ArgsHash: "23456789abcd", Decision: "revise", Rule: "cap", Reason: "cap",
			Values: map[string]any{"args.reason": "a\u202ename"}, RevisedArgs: map[string]any{"amount_usd": 10.0}, Passes: 2},
		{Step: "4", Tool: "send_refund_email", ArgsHash: "3456789abcde", Decision: "unknown", Passes: 1},
		{Step: "5", Tool: "issue_refund", ArgsHash: "456789abcdef", Decision: "block", Rule: "policy_error", Reason: "order_not_read", Need: []string{"get_refund_context"}, Passes: 1},
	}
}

const dryRefund = `{"goal":"x","dry_run":true,"actions":[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}]}`

// What would be decided is shown in both channels, worst first in words; nothing runs and no run is named.
func TestDryRunShown(t *testing.T) {
	change, jobs := rehearsed(t, patterns.Rehearsal{
		Result: patterns.Result{StopReason: patterns.Success, ByCall: true, Trace: []any{}, History: []any{}}, Verdict: "block", Judged: judgedRows(),
	}, nil)
	m := connect(t, serving(t, change)).call(sv, dryRefund)
	r := m.result(t)
	want := map[string]any{
		"status": "ok", "stop_reason": "success", "dry_run": true, "verdict": "block", "demo": true, "trace": []any{}, "history": []any{},
		"judged": []any{
			map[string]any{"step": "1", "tool": "get_refund_context", "args_hash": "0123456789ab", "decision": "approve", "rule": "reading_is_free",
				"reason": "reading_is_free", "values": map[string]any{}, "passes": 1.0},
			map[string]any{"step": "2", "tool": "issue_refund", "args_hash": "123456789abc", "decision": "escalate", "rule": "big", "reason": "big_refund",
				"values": map[string]any{"args.amount_usd": 1200.0, "params.limit": 1000.0}, "passes": 1.0},
			map[string]any{"step": "3", "tool": "issue_refund", "args_hash": "23456789abcd", "decision": "revise", "rule": "cap", "reason": "cap",
				"values": map[string]any{"args.reason": "a\u202ename"}, "revised_args": map[string]any{"amount_usd": 10.0}, "passes": 2.0},
			map[string]any{"step": "4", "tool": "send_refund_email", "args_hash": "3456789abcde", "decision": "unknown", "rule": "", "reason": "",
				"values": map[string]any{}, "passes": 1.0},
			map[string]any{"step": "5", "tool": "issue_refund", "args_hash": "456789abcdef", "decision": "block", "rule": "policy_error",
				"reason": "order_not_read", "values": map[string]any{}, "need": []any{"get_refund_context"}, "passes": 1.0},
		},
	}
	summary := "Step 2 issue_refund would need a person's approval (rule big, big_refund). Step 3 issue_refund would be changed (rule cap). " +
		"Step 4 send_refund_email depends on the result of an earlier call. " +
		"Step 5 issue_refund would be blocked (rule policy_error, order_not_read); it needs get_refund_context. " +
		"1 call would be approved unchanged. Dry run: nothing was called or recorded."
	want["summary"], want["next"] = summary, map[string]any{"action": "answer_user", "say": "This was a dry run, and nothing was done. judged shows how each call would be decided without dry_run."}
	if diff := cmp.Diff(want, r.Structured); diff != "" {
		t.Errorf("structured (-want +got):\n%s", diff)
	}
	text := r.Content[0]["text"].(string)
	for _, line := range []string{
		"WOULD BE BLOCKED | supervised_refund | demo data\n" + summary, "\nJUDGED\n1 get_refund_context approve reading_is_free\n",
		"\n2 issue_refund escalate big (big_refund) values {\"args.amount_usd\":1200,\"params.limit\":1000}\n",
		"\n3 issue_refund revise cap values {\"args.reason\":\"a\\u202ename\"} revised {\"amount_usd\":10}\n",
		"\n4 send_refund_email unknown\n", "\n5 issue_refund block policy_error (order_not_read) need get_refund_context",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the text lacks %q:\n%s", line, text)
		}
	}
	if !strings.HasPrefix(text, "WOULD BE BLOCKED") {
		t.Errorf("the first line does not say what would happen:\n%s", text)
	}
	members(t, structuredOf(t, m), "status", "stop_reason", "summary", "next", "trace", "history", "demo", "dry_run", "verdict", "judged")
	if len(*jobs) != 1 || (*jobs)[0].Spec.Name != sv || (*jobs)[0].Principal == "" || len((*jobs)[0].Task.Caller) != 1 {
		t.Errorf("the engine was given %+v", *jobs)
	}
}

// structuredOf is a result's structured content as it was sent.
func structuredOf(t *testing.T, m message) json.RawMessage {
	t.Helper()
	var r struct {
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r.Structured
}

// members compares the order of an object's members.
func members(t *testing.T, object json.RawMessage, want ...string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(object)))
	var got []string
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(name))
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

// An intent that is refused stops a dry run as it would stop the run, with the same advice.
func TestDryRunOfARefusedIntent(t *testing.T) {
	problem := document.Problem{Pointer: "/actions/0/name", Reason: "unknown_tool:pay", Got: json.RawMessage(`"pay"`), Want: "one of get_refund_context"}
	change, _ := rehearsed(t, patterns.Rehearsal{Result: patterns.Result{
		StopReason: "invalid_action:unknown_tool:pay", Phase: "worker", ByCall: true, Problems: []document.Problem{problem}, RawName: "raw_action",
		Raw: map[string]any{"name": "pay"}, Trace: []any{}, History: []any{},
	}}, nil)
	r := connect(t, serving(t, change)).call(sv, `{"goal":"x","dry_run":true,"actions":[{"name":"pay"}]}`).result(t)
	s := r.Structured
	if s["status"] != "stopped" || s["stop_reason"] != "invalid_action:unknown_tool:pay" || s["dry_run"] != true || s["verdict"] != nil || s["judged"] != nil || s["run_id"] != nil {
		t.Errorf("got %v", s)
	}
	if next, _ := s["next"].(map[string]any); next["action"] != "fix_and_retry" || next["arguments"].(map[string]any)["dry_run"] != true {
		t.Errorf("next is %v, want the same dry run again", next)
	}
	if !strings.Contains(s["summary"].(string), "dry run") {
		t.Errorf("the summary %q does not say that it was a dry run", s["summary"])
	}
}

// A dry run of one call has no observation, not even null, in either channel.
func TestDryRunOfOneCallObservesNothing(t *testing.T) {
	row := patterns.RehearsedRow{Step: "1", Tool: "wipe", Decision: "approve", Reason: "allowlisted", Passes: 0}
	rehearse, _ := rehearsed(t, patterns.Rehearsal{Result: patterns.Result{StopReason: patterns.Success, ByCall: true, Trace: []any{}, History: []any{}}, Verdict: "approve", Judged: []patterns.RehearsedRow{row}}, nil)
	m := connect(t, serving(t, overOrders(t), rehearse)).call("wipe", `{"idempotency_key":7,"dry_run":true}`)
	if text := m.result(t).Content[0]["text"].(string); strings.Contains(text, "OBSERVATION") || !strings.Contains(text, "1 wipe approve (allowlisted)") {
		t.Errorf("the text is\n%s", text)
	}
	members(t, structuredOf(t, m), "status", "stop_reason", "summary", "next", "dry_run", "verdict", "judged")
}

// A fault of ours tells its id alone, and a record that cannot be read its stop reason.
func TestDryRunFaults(t *testing.T) {
	change, _ := rehearsed(t, patterns.Rehearsal{}, &patterns.Fault{Cause: fmt.Errorf("%s", secret)})
	if m := connect(t, serving(t, change)).call(sv, dryRefund); m.Error == nil || m.Error.Code != -32603 || strings.Contains(m.line, secret) {
		t.Errorf("a fault is answered with %s", m.line)
	}
	change, _ = rehearsed(t, patterns.Rehearsal{}, patterns.ErrJournal)
	if s := connect(t, serving(t, change)).call(sv, dryRefund).result(t).Structured; s["stop_reason"] != "journal_unavailable" || s["run_id"] != nil {
		t.Errorf("without a journal: %v", s)
	}
}

// dry_run is a flag of its own, no part of a run that goes on, and of planning only plan_decompose's.
func TestDryRunArgument(t *testing.T) {
	t.Parallel()
	c := connect(t, serving(t, offersPlanning))
	id := c.call(sv, startRefund).result(t).Structured["run_id"].(string)
	tests := map[string]struct{ tool, arguments, want string }{
		"another type":    {sv, `{"goal":"x","dry_run":"yes"}`, "invalid_request:type:dry_run"},
		"in quotes":       {sv, `{"goal":"x","dry_run":"true","actions":[{"name":"final","answer":"x"}]}`, "invalid_request:type:dry_run"},
		"a number":        {td, `{"goal":"x","dry_run":1}`, "invalid_request:type:dry_run"},
		"a misspelt name": {td, `{"goal":"x","dryrun":true}`, "invalid_request:unknown_field:dryrun"},
		"of a run":        {sv, `{"run_id":"` + id + `","dry_run":true,"actions":[{"kind":"final","answer":"x"}]}`, "invalid_request:mismatch:dry_run"},
		"of no run":       {sv, `{"run_id":"run_0123456789abcdef","dry_run":true}`, "invalid_request:not_found:run_id"},
		"of planning":     {"plan_execute", `{"plan_id":"plan_0123456789abcdef","dry_run":true}`, "invalid_request:unknown_field:dry_run"},
	}
	for name, tt := range tests {
		r := c.call(tt.tool, tt.arguments).result(t)
		if r.Structured["stop_reason"] != tt.want || !r.IsError {
			t.Errorf("%s: %v, want %s", name, r.Structured["stop_reason"], tt.want)
		}
		if next, _ := r.Structured["next"].(map[string]any); strings.HasPrefix(name, "in quotes") && next["arguments"].(map[string]any)["dry_run"] != true {
			t.Errorf("%s: the repair is %v, want a dry run", name, next)
		}
		if next, _ := json.Marshal(r.Structured["next"]); tt.want == "invalid_request:mismatch:dry_run" && strings.Contains(string(next), `"dry_run":false`) {
			t.Errorf("%s: the repair would act where a dry run was wanted: %s", name, next)
		}
	}
	if s := c.call(sv, `{"run_id":"`+id+`","turn":1,"dry_run":false,"actions":[{"kind":"final","answer":"x"}]}`).result(t).Structured; s["run_id"] != id || s["dry_run"] != nil {
		t.Errorf("dry_run false stands in the way of a run: %v", s)
	}
}

// That a call is no dry run does not make it another call.
func TestDryRunFalseIsEqualToNone(t *testing.T) {
	for _, kind := range []gateway.Kind{gateway.TaskDecomposition, gateway.Call} {
		spec := patterns.Spec{Name: "x", Kind: kind, Tool: "read_order", Catalog: orders(t)}
		plain, with := arguments.Fingerprint(spec, map[string]any{"goal": "g"}), arguments.Fingerprint(spec, map[string]any{"goal": "g", "dry_run": false})
		if plain != with {
			t.Errorf("%s: dry_run false makes another call", kind)
		}
	}
}

// However much a dry run says, its result keeps to what clients bear, and counts what it leaves out.
func TestDryRunIsBounded(t *testing.T) {
	var rows []patterns.RehearsedRow
	for i := range 1000 {
		rows = append(rows, patterns.RehearsedRow{
			Step: fmt.Sprintf("s%d %s", i, strings.Repeat("\u202e", 40)), Tool: "issue_refund", Decision: "escalate", Rule: "big", Reason: strings.Repeat("r", 64),
			Values: map[string]any{"args.reason": strings.Repeat("\u202ex", 100)}, RevisedArgs: map[string]any{"reason": strings.Repeat("y", 5000)}, Passes: 1,
		})
	}
	change, _ := rehearsed(t, patterns.Rehearsal{Result: patterns.Result{StopReason: patterns.Success, ByCall: true}, Verdict: "escalate", Judged: rows}, nil)
	m := connect(t, serving(t, change)).call(sv, dryRefund)
	r := m.result(t)
	if raw, text := structuredOf(t, m), r.Content[0]["text"].(string); len(raw) > defaultResultBytes || len(text) > defaultResultBytes {
		t.Errorf("%d and %d bytes, want at most %d", len(raw), len(text), defaultResultBytes)
	}
	shown, _ := r.Structured["judged"].([]any)
	if omitted, _ := r.Structured["judged_omitted"].(float64); len(shown) == 0 || len(shown)+int(omitted) != len(rows) {
		t.Errorf("%d rows shown and %v left out of %d", len(shown), r.Structured["judged_omitted"], len(rows))
	}
}
