package server

import (
	"errors"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
)

// A run whose calls returned nothing says so in the member answered, the first line, summary and next, whatever its status is
// and whichever tool was called. A kept result says the same.
func TestAnswered(t *testing.T) {
	tool := func(name string, v any, err error) catalog.Tool {
		return odd(t, name, catalog.Read, func(map[string]any) (any, error) { return v, err })
	}
	absent, warns := tool("absent", map[string]any{"error": "ENOENT"}, nil), tool("warns", map[string]any{"warning": "no data"}, nil)
	breaks, rows := tool("breaks", nil, errors.New("x")), tool("rows", map[string]any{"rows": []any{}}, nil)
	call := func(tool catalog.Tool) sent {
		return sent{kind: gateway.Call, arguments: `{"text":"a"}`, tools: []catalog.Tool{tool}}
	}
	plan := func(names ...string) sent {
		return sent{
			kind: gateway.TaskDecomposition, arguments: `{"goal":"x","finalize":false,"plan":` + oddPlan(names...) + `}`,
			tools: []catalog.Tool{absent, warns, breaks, rows},
		}
	}
	const nowhere = `"args":{"report_date":"2026-02-30","region":"MARS"},"critical":true}`
	const mars = `{"goal":"x","report_date":"2026-02-30","region":"MARS","finalize":false,"plan":{"tasks":[{"id":"a","worker":"sales_worker",` + nowhere +
		`,{"id":"b","worker":"payments_worker",` + nowhere + `,{"id":"c","worker":"inventory_worker",` + nowhere + `]}}`
	const no, none, some = "No call returned a result. ", "None of the 3 calls returned a result.", " returned no result ("
	for name, tt := range map[string]struct {
		sent             sent
		status, answered string
		told             string
	}{
		"call with an error":    {call(absent), "ok", "no", "absent answered with an error"},
		"call with a warning":   {call(warns), "ok", "no", "warns returned only a warning"},
		"call that fails":       {call(breaks), "stopped", "no", no},
		"call with a result":    {call(rows), "ok", "", ""},
		"route to nobody known": {sent{kind: gateway.Routing, arguments: `{"ticket":"I want a refund","route":{"target":"billing_specialist"},"finalize":false}`}, "ok", "no", no},
		"tasks about nothing":   {sent{kind: gateway.Orchestrator, arguments: mars}, "ok", "no", none},
		"steps without results": {plan("absent", "warns", "absent"), "ok", "no", none},
		"one step without":      {plan("rows", "absent", "rows"), "ok", "partly", "1 of 3 calls" + some + "absent)."},
		"stop after a result":   {plan("rows", "breaks", "rows"), "stopped", "partly", "1 of 2 calls" + some + "breaks)."},
		"all with results":      {plan("rows", "rows", "rows"), "ok", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, ended := tt.sent.carriedOut(t)
			e := outcome.Ended(c, ended)
			if e.Status != tt.status || e.Answered != tt.answered {
				t.Fatalf("status %q, answered %q; want %q, %q\n%s", e.Status, e.Answered, tt.status, tt.answered, e.Summary)
			}
			structured, text, err := e.Present(limit)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(text, "\n")
			words := gateway.AnsweredWords(tt.answered)
			if tt.answered == "" && (strings.Contains(text, "returned a result") || strings.Contains(text, some)) {
				t.Errorf("the text tells of missing results:\n%s", text)
			}
			if tt.status+tt.answered == "okno" {
				words = "NO RESULT | "
			}
			if !strings.Contains(first, words) || strings.Contains(first, "success, no") || !strings.HasPrefix(e.Summary, tt.told) || !strings.HasPrefix(e.Next.Say, tt.told) {
				t.Errorf("first line %q\nsummary %q\nsay %q\nwant %q in the first, %q before the others", first, e.Summary, e.Next.Say, words, tt.told)
			}
			kept, ok := envelope.Kept(patterns.Snapshot{RunID: "r", Kept: structured})
			if !ok || kept.Answered != tt.answered {
				t.Errorf("kept: %v, answered %q; want %q", ok, kept.Answered, tt.answered)
			}
		})
	}
}
