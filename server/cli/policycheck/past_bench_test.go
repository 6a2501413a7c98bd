package policycheck

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"patterngate/server/assembly"

	"patterngate/patterns"
	"patterngate/server/settings"
)

// pastRefund is the record of a run that looked a user up, paid and wrote a mail, n seconds after the others.
func pastRefund(n int) []patterns.Event {
	at := time.Date(2026, time.November, 1, 9, 0, n, 0, time.UTC).UnixMicro()
	var events []patterns.Event
	add := func(kind patterns.EventKind, key, body string) {
		events = append(events, patterns.Event{Seq: int64(len(events) + 1), At: at + int64(len(events)), Kind: kind, Key: key, Body: json.RawMessage(body)})
	}
	call := func(key, tool, effect, rule, args, result string) {
		add(patterns.IntentEvent, key, fmt.Sprintf(`{"effect":%q,"effect_kind":"tool","idempotency_key":"k%d%s","input":%s,"name":%q,"verdict":{"decision":"approve","passes":1,"reason":%q,"rule":%q}}`,
			effect, n, key, args, tool, rule, rule))
		add(patterns.OutcomeEvent, key, fmt.Sprintf(`{"output":%s,"state":"ok"}`, result))
	}
	amount := 100 + n%1500
	add(patterns.StartEvent, "", fmt.Sprintf(`{"arguments":{"goal":"x"},"budget":{"max_tool_calls":5},"config":"c","pattern":"supervised_refund","pattern_kind":"supervisor","principal":"local:1","run_id":"run_%016x"}`, n))
	call("get_refund_context#1", "get_refund_context", "read", "read_only_context", `{"user_id":42}`,
		`{"billing":{"currency":"USD","days_since_payment":10,"last_charge_usd":1600,"plan":"annual"}}`)
	call("issue_refund#1", "issue_refund", "write", "refund_within_auto_limit", fmt.Sprintf(`{"amount_usd":%d,"reason":"late","user_id":42}`, amount),
		fmt.Sprintf(`{"refund":{"amount_usd":%d,"user_id":42},"status":"ok"}`, amount))
	call("send_refund_email#1", "send_refund_email", "write", "email_after_refund", fmt.Sprintf(`{"amount_usd":%d,"message":"Paid.","user_id":42}`, amount), `{"status":"ok"}`)
	call("get_refund_context#2", "get_refund_context", "read", "read_only_context", `{"user_id":42}`, `{"billing":{"last_charge_usd":1600}}`)
	add(patterns.EndEvent, "", `{"status":"ok","stop_reason":"success"}`)
	return events
}

// BenchmarkBacktest10000 reads and judges again 10,000 recorded calls of 2,500 runs; that is to take 2 s at most.
func BenchmarkBacktest10000(b *testing.B) {
	loaded, _, err := assembly.Load(settings.Sources{Environ: []string{"HOME=" + b.TempDir()}}, assembly.LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	d, err := assembly.Declare(loaded, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		past := &pastRuns{}
		for n := range 2500 {
			past.add(pastRefund(n), time.Time{})
		}
		past.sort()
		got := past.backtest(d, 2500)
		if got.Calls != 10_000 || len(got.Differences) == 0 || len(got.Differences) == 10_000 {
			b.Fatalf("%d calls, %d differences, %v", got.Calls, len(got.Differences), got.Unjudged)
		}
	}
}

// BenchmarkBacktest10000Window judges 10,000 recorded calls again by a policy that reads a window of 31 days of
// one tool of four, 3 million rows in all. What it takes is evaluating the rule over these rows.
func BenchmarkBacktest10000Window(b *testing.B) {
	text := strings.Replace(pays, "    params: {cap: 500}\n", "    params: {cap: 500}\n    windows: {month: {tools: [pay], seconds: 2678400}}\n", 1)
	text = strings.Replace(text, "when: args.cents > 300,", "when: 'sum(windows.month.effects.filter(e, e.counts).map(e, e.args.cents)) > 1000000000',", 1)
	text = strings.Replace(text, "    pay:\n", "    look:\n      description: Looks.\n      effect: read\n      request: {method: GET, url: 'https://bank.example/look'}\n    pay:\n", 1)
	text = strings.Replace(text, "patterns:\n", "patterns:\n  look: {kind: call, tool: look, policy: pays}\n", 1)
	text = strings.Replace(text, "    - {id: pay, ", "    - {id: look, match: look, approve: {}}\n    - {id: pay, ", 1)
	path := filepath.Join(b.TempDir(), "pg.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	loaded, _, err := assembly.Load(settings.Sources{Path: path}, assembly.LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	d, err := assembly.Declare(loaded, nil)
	if err != nil {
		b.Fatal(err)
	}
	past := &pastRuns{}
	for n := range 10_000 {
		tool, args := "look", "{}"
		if n%4 == 0 {
			tool, args = "pay", `{"cents":5,"to":"ann"}`
		}
		past.add(pastCall(n, tool, args), time.Time{})
	}
	past.sort()
	for b.Loop() {
		if got := past.backtest(d, 10_000); got.Calls != 10_000 || len(got.Differences) != 0 {
			b.Fatalf("%d calls, %d differences, %v", got.Calls, len(got.Differences), got.Unjudged)
		}
	}
}

// pastCall is the record of a run that made one call, n seconds after the others.
func pastCall(n int, tool, args string) []patterns.Event {
	at := time.Date(2026, time.November, 1, 9, 0, n, 0, time.UTC).UnixMicro()
	event := func(seq int64, kind patterns.EventKind, key, body string) patterns.Event {
		return patterns.Event{Seq: seq, At: at + seq, Kind: kind, Key: key, Body: json.RawMessage(body)}
	}
	pattern := map[string]string{"look": "look", "pay": "pay_one"}[tool]
	return []patterns.Event{
		event(1, patterns.StartEvent, "", fmt.Sprintf(`{"pattern":%q,"pattern_kind":"call","principal":"local:1","run_id":"run_%016x"}`, pattern, n)),
		event(2, patterns.IntentEvent, tool+"#1", fmt.Sprintf(`{"effect":"write","effect_kind":"tool","idempotency_key":"k%d","input":%s,"name":%q,"verdict":{"decision":"approve","passes":1,"reason":%q,"rule":%q}}`,
			n, args, tool, tool, tool)),
		event(3, patterns.OutcomeEvent, tool+"#1", `{"output":{},"state":"ok"}`),
		event(4, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success"}`),
	}
}
