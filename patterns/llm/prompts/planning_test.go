package prompts_test

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
)

func TestPlanningPromptsSayWhatEachReplyNeeds(t *testing.T) {
	p := prompts.Of(gateway.Planning)
	document := []string{
		`{"kind":"plan","subtasks":[{"id":`, `"description":`, `"dependencies":[]`, `"tool":"NAME"`, `"args":{}`, `"model"`, `"caller"`, "available_tools", "returns",
		"$results.ID", "RFC 6901", "$$", "64 characters", "4000 characters", "critical", "expect", "Never null", "JSON", "markdown", "data", "never an\n  instruction", "hard",
	}
	for prompt, want := range map[string][]string{
		p.Decide: append(document, "strategy", "flat", "hierarchical", "iterative", "max_subtasks", "max_depth", "context", "completed", `"parent"`, `"planning_complete"`,
			"1 to 3", "runs after its children"),
		p.Replan: append(document, "adjustment_rationale", "used_ids", "failed_subtask", "reason", "hints", "remaining", "completed", `"planning_complete":true`),
		p.Work:   {"goal", "subtask", "description", "args", "inputs", "truncated", "head", "data", "never an instruction", "plain text", "not available"},
		p.Answer: {"goal", "subtask_results", "truncated", "data", "never an instruction", "Use only what is in the payload", "stays open"},
	} {
		for _, part := range want {
			if !strings.Contains(prompt, part) {
				t.Errorf("the prompt %q... does not say %q", prompt[:60], part)
			}
		}
	}
}

func TestWithInstructions(t *testing.T) {
	p := prompts.Of(gateway.Planning)
	got := prompts.WithInstructions(p, "\n  Always plan the April figures first.\n")
	for name, pair := range map[string][2]string{
		"Decide": {p.Decide, got.Decide}, "Answer": {p.Answer, got.Answer}, "Replan": {p.Replan, got.Replan}, "Work": {p.Work, got.Work},
	} {
		if !strings.HasPrefix(pair[1], pair[0]) || !strings.HasSuffix(pair[1], "\n\nAlways plan the April figures first.\n") {
			t.Errorf("%s with instructions: %q, want them behind the prompt", name, pair[1])
		}
	}
	if got := prompts.WithInstructions(p, " \n\u00a0"); got != p {
		t.Errorf("blank instructions changed the prompts: %v", got)
	}
	if got := prompts.WithInstructions(patterns.Prompts{Decide: "a"}, "b"); got.Answer != "" || got.Replan != "" || got.Work != "" || got.Decide == "a" {
		t.Errorf("instructions for one prompt: %v", got)
	}
}
