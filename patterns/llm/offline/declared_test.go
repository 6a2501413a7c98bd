package offline_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
)

// Rules take what a declared pattern's call says besides its goal for arguments of the same name, and never make it up.
func TestRulesReadInputs(t *testing.T) {
	input, _, faults := catalog.CompileArguments(json.RawMessage(`{"order_id": {"type": "string", "pattern": "^A-[0-9]{4}$"}}`))
	if input == nil {
		t.Fatal(faults)
	}
	look := catalog.Tool{Name: "read_order", Description: "Reads the state of one order.", Effect: catalog.Read, Server: "orders", Input: input}
	ask := func(payload map[string]any) (string, error) {
		payload["goal"], payload["max_plan_steps"] = "Read the state of the order.", 3.0
		answer, err := offline.New().Ask(context.Background(), patterns.Question{Ask: patterns.AskPlan, Least: 1, Payload: payload, Tools: []catalog.Tool{look}})
		return answer.Text, err
	}
	if text, err := ask(map[string]any{"input": map[string]any{"order_id": "A-1001"}}); err != nil || !strings.Contains(text, `"args":{"order_id":"A-1001"}`) {
		t.Errorf("with the input: %s, %v", text, err)
	}
	if text, err := ask(map[string]any{}); err == nil || !strings.Contains(err.Error(), "goal_incomplete:read_order.order_id") {
		t.Errorf("without: %s, %v", text, err)
	}
}

// Of an answer that a pattern wants as JSON rules say that they do not write it, and what to do; a call that comes before it they
// propose all the same.
func TestRulesWriteNoJSON(t *testing.T) {
	schema, _, _ := catalog.CompileArguments(json.RawMessage(`{"state": {"type": "string"}}`))
	observed := map[string]any{"goal": "Read the order A-1001.", "history": []any{}}
	for name, row := range map[string]struct {
		q     patterns.Question
		fault string
	}{
		"a final text":       {patterns.Question{Ask: patterns.AskAnswer, Payload: observed, Answer: schema}, "invalid_answer:non_json"},
		"prose":              {patterns.Question{Ask: patterns.AskAnswer, Payload: observed}, ""},
		"a final action":     {patterns.Question{Ask: patterns.AskAction, Payload: afterOne(), Tools: orderTools(t), Answer: schema}, "invalid_answer:non_json"},
		"a final text in it": {patterns.Question{Ask: patterns.AskAction, Payload: afterOne(), Tools: orderTools(t)}, ""},
		"a call":             {patterns.Question{Ask: patterns.AskAction, Payload: map[string]any{"goal": "Read the order A-1001."}, Tools: orderTools(t), Answer: schema}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if text, fault := ask(t, offline.New(), row.q); fault != row.fault {
				t.Errorf("got %s and the fault %q, want %q", text, fault, row.fault)
			}
		})
	}
}

func orderTools(t *testing.T) []catalog.Tool {
	t.Helper()
	input, _, faults := catalog.CompileArguments(json.RawMessage(`{"order_id": {"type": "string", "pattern": "^A-[0-9]{4}$"}}`))
	if input == nil {
		t.Fatal(faults)
	}
	return []catalog.Tool{{Name: "read_order", Description: "Reads the state of one order.", Effect: catalog.Read, Server: "orders", Input: input}}
}

// afterOne is what a supervised run is asked by after its one call.
func afterOne() map[string]any {
	return map[string]any{"goal": "Read the order A-1001.", "state_summary": map[string]any{
		"steps_completed": 1.0, "tools_used": []any{"read_order"}, "last_step": map[string]any{
			"executed_action": map[string]any{"kind": "tool", "name": "read_order", "args": map[string]any{"order_id": "A-1001"}}, "observation": map[string]any{"state": "sent"},
		},
	}}
}
