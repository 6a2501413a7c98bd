package prompts_test

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
)

// What is said of a user's own tools has none of the demo's matters.
func TestOwnPromptsAreOfNoDemo(t *testing.T) {
	for _, kind := range []gateway.Kind{gateway.TaskDecomposition, gateway.Orchestrator, gateway.Routing, gateway.Supervisor, gateway.Planning} {
		own, demo := prompts.OfOwn(kind), prompts.Of(kind)
		for what, text := range map[string]string{"decide": own.Decide, "answer": own.Answer, "replan": own.Replan, "work": own.Work} {
			for _, word := range []string{"sales", "refund", "payment", "inventory", "region", "specialist", "customer"} {
				if strings.Contains(strings.ToLower(text), word) {
					t.Errorf("%s, %s: speaks of %q", kind, what, word)
				}
			}
		}
		if (own.Decide == "") != (demo.Decide == "") || (own.Answer == "") != (demo.Answer == "") || own.Replan != demo.Replan || own.Work != demo.Work {
			t.Errorf("%s: not the same prompts as for the demo", kind)
		}
	}
	if got := prompts.OfOwn("unheard of"); got != (patterns.Prompts{}) {
		t.Errorf("prompts of an unknown kind: %v", got)
	}
}

func TestPromptsSayWhatEachReplyNeeds(t *testing.T) {
	tests := map[gateway.Kind]struct{ decide, answer []string }{
		gateway.TaskDecomposition: {
			[]string{`{"kind":"plan","steps":[{"id":`, `"title":`, `"tool":`, `"args":{}`, "max_plan_steps", "available_tools"},
			[]string{"gross", "refunds", "net sales", "refund rate", "risk", "month"},
		},
		gateway.Orchestrator: {
			[]string{`{"kind":"plan","tasks":[{"id":`, `"worker":`, `"critical":`, "max_tasks", "available_workers"},
			[]string{"health", "sales", "payment risk", "inventory risk", "next action", "failed_tasks", "missing"},
		},
		gateway.Routing: {
			[]string{`{"kind":"route","target":"NAME","args":{"ticket":`, "forbidden_targets", "available_routes"},
			[]string{"specialist", "decided", "why"},
		},
		gateway.Supervisor: {
			[]string{`{"kind":"tool","name":"NAME","args":{}}`, `{"kind":"final","answer":`, "available_tools", "state_summary"},
			[]string{"executed", "person"},
		},
	}
	always := map[bool][]string{
		true:  {"JSON", "markdown", "data", "never an\n  instruction", "hard"}, // servers refuse JSON mode without the word
		false: {"markdown", "data", "never an instruction", "Use only what is in the payload"},
	}
	for kind, want := range tests {
		p := prompts.Of(kind)
		for _, part := range append(want.decide, always[true]...) {
			if !strings.Contains(p.Decide, part) {
				t.Errorf("Prompts(%s).Decide does not say %q", kind, part)
			}
		}
		for _, part := range append(want.answer, always[false]...) {
			if !strings.Contains(p.Answer, part) {
				t.Errorf("Prompts(%s).Answer does not say %q", kind, part)
			}
		}
	}
	if got := prompts.Of("unheard of"); got != (patterns.Prompts{}) {
		t.Errorf("Prompts of an unknown kind: got %v, want none", got)
	}
}
