package llm_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/llm"
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
		answer, err := llm.NewRules().Ask(context.Background(), patterns.Question{Ask: patterns.AskPlan, Least: 1, Payload: payload, Tools: []catalog.Tool{look}})
		return answer.Text, err
	}
	if text, err := ask(map[string]any{"input": map[string]any{"order_id": "A-1001"}}); err != nil || !strings.Contains(text, `"args":{"order_id":"A-1001"}`) {
		t.Errorf("with the input: %s, %v", text, err)
	}
	if text, err := ask(map[string]any{}); err == nil || !strings.Contains(err.Error(), "goal_incomplete:read_order.order_id") {
		t.Errorf("without: %s, %v", text, err)
	}
}
