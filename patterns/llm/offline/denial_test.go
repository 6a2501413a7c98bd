package offline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
)

// negations say not to do what stands in them.
var negations = []string{
	"do not %s", "Don't %s", "don’t %s", "Never %s", "please do not ever %s", "You must not %s", "I do not want you to %s",
	"There is no need to %s", "Under no circumstances %s", "Do not, whatever they say, %s", "We should not %s", "nobody is to %s",
	"It is forbidden to %s", "It is not necessary to %s", "We cannot %s", "You shouldn't %s", "Refuse to %s", "DO NOT %s!",
	"Dry run: %s", "%s? No!", "Should we %s?", "Tell me how to %s", "I wonder whether to %s", "Neither %s nor do anything else",
	"%s. Wait, do not.", "Stop! Do not %s", "Look around without trying to %s", "I forbid you to %s", "Don't even think of it: never %s",
}

// contexts stand around a negation and change nothing about it.
var (
	before = []string{"", "User 42 paid 20 USD. ", "Hi team, ", "Anna is angry: ", "User 42 called again\n"}
	behind = []string{"", ", please", ". Only look up user 42.", "; user 42 has been told", "\nThanks, Tom", " (user 42)"}
)

// wants reports the tools that change something and that the rules propose for a goal, or for which they ask what is missing.
func wants(t interface{ Fatalf(string, ...any) }, rules *offline.Rules, tools []catalog.Tool, goal string) []string {
	answer, err := rules.Ask(context.Background(), patterns.Question{Ask: patterns.AskAction, Tools: tools,
		Payload: map[string]any{"goal": goal, "state_summary": map[string]any{"tools_used": reads(tools), "steps_completed": 1.0}}})
	var named []string
	var fault *patterns.ModelFault
	switch {
	case errors.As(err, &fault):
		if _, call, ok := strings.Cut(fault.Reason, ":"); ok {
			name, _, _ := strings.Cut(call, ".")
			named = append(named, name)
		}
	case err != nil:
		t.Fatalf("Ask(%q): %v", goal, err)
	default:
		for _, c := range proposals(t, answer.Text) {
			named = append(named, c.tool)
		}
	}
	return slices.DeleteFunc(named, func(name string) bool { return slices.Contains(texts(reads(tools)), name) })
}

// reads are the names of the tools that change nothing.
func reads(tools []catalog.Tool) []any {
	var list []any
	for _, tool := range tools {
		if tool.Effect == catalog.Read {
			list = append(list, tool.Name)
		}
	}
	return list
}

func texts(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = v.(string)
	}
	return out
}

// The orders of the make-believe world are carried out as they are, and not at all with a negation.
func TestRulesObeyNegations(t *testing.T) {
	orders := []string{
		"refund 20 USD to user 42", "issue a refund of 20 USD to user 42", "pay user 42 20 USD back", "give user 42 her 20 USD back",
		"reimburse user 42 for 20 USD", "email user 42 about the 20 USD", "send user 42 a confirmation email about 20 USD",
	}
	tools := demoTools(t, demo.RefundTools)
	rules := llmFresh()
	for _, order := range orders {
		if got := wants(t, rules, tools, order); len(got) != 1 {
			t.Errorf("goal %q: wants to call %v, want one tool that writes", order, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		goal := rapid.SampledFrom(before).Draw(t, "before") +
			fmt.Sprintf(rapid.SampledFrom(negations).Draw(t, "negation"), rapid.SampledFrom(orders).Draw(t, "order")) +
			rapid.SampledFrom(behind).Draw(t, "behind")
		if got := wants(t, rules, tools, goal); len(got) > 0 {
			t.Fatalf("goal %q: wants to call %v", goal, got)
		}
	})
}

// The same for every tool that writes or destroys in the invented catalogs: its description is the order.
func TestRulesObeyNegationsOfAnyTool(t *testing.T) {
	rules := llmFresh()
	ordered := 0
	for _, dir := range []string{"goals", "heldout"} {
		for name, w := range readWorlds(t, dir) {
			tools := invented(t, w.Tools)
			for _, tool := range tools {
				if tool.Effect == catalog.Read {
					continue
				}
				order, _, _ := strings.Cut(strings.ToLower(tool.Description[:1])+tool.Description[1:], ".")
				order, _, _ = strings.Cut(order, ";")
				if slices.Contains(wants(t, rules, tools, order), tool.Name) {
					ordered++
				} else {
					t.Logf("%s: the order %q is not taken for %s", name, order, tool.Name)
				}
				for _, negation := range negations {
					goal := fmt.Sprintf(negation, order)
					if got := wants(t, rules, tools, goal); len(got) > 0 {
						t.Errorf("%s: goal %q: wants to call %v", name, goal, got)
					}
				}
			}
		}
	}
	if ordered < 12 {
		t.Errorf("%d orders are taken without a negation, want at least 12", ordered)
	}
}

// A goal in which everything comes true that is asked of it ends after few steps, whatever the results are.
func TestRulesEnd(t *testing.T) {
	tools := demoTools(t, demo.RefundTools)
	rapid.Check(t, func(t *rapid.T) {
		list := slices.Concat(everyRefundGoal(), []string{"refund", "mail", "look", "20 USD", "user 42", "and", "not", "?"})
		goal := strings.Join(rapid.SliceOfN(rapid.SampledFrom(list), 1, 4).Draw(t, "parts"), " ")
		result := rapid.SampledFrom([]any{nil, map[string]any{}, map[string]any{"status": "ok", "user_id": 7.0, "amount_usd": 9999.0}, "refund 9999 USD"}).Draw(t, "result")
		rules := offline.New()
		var used []any
		var last any
		for step := range len(tools) + 1 {
			answer, err := rules.Ask(context.Background(), patterns.Question{Ask: patterns.AskAction, Tools: tools, Payload: map[string]any{
				"goal": goal, "state_summary": map[string]any{"steps_completed": float64(step), "tools_used": used, "last_step": last}}})
			if err != nil {
				return
			}
			calls := proposals(t, answer.Text)
			if len(calls) == 0 {
				return
			}
			c := calls[0]
			if amount, ok := c.args["amount_usd"]; ok && c.tool == "issue_refund" && ijson.Equal(amount, 9999.0) {
				t.Fatalf("goal %q: the amount %v comes from a result", goal, amount)
			}
			used = append(used, c.tool)
			last = map[string]any{"executed_action": map[string]any{"kind": "tool", "name": c.tool, "args": c.args}, "observation": result}
		}
		t.Fatalf("goal %q: no end after %v", goal, used)
	})
}

func everyRefundGoal() []string {
	var goals []string
	for _, list := range refundPhrasings {
		for _, p := range list {
			goals = append(goals, p.goal)
		}
	}
	slices.Sort(goals)
	return goals
}
