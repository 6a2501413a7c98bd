package examples

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/patterns/llm/llmtest"
)

// pageModels starts a stub for each model server that a page names and returns their addresses by what the page calls them. Each
// stub checks the model's name and the key that it is sent.
func pageModels(t *testing.T) map[string]string {
	t.Helper()
	stubs := map[string]string{}
	for _, server := range []struct{ shown, model, key string }{
		{"http://127.0.0.1:11434/v1", "qwen3", "none"},
		{"https://api.openai.com/v1", "gpt-4.1-mini", "sk-put-your-own-key-here"},
	} {
		stub := llmtest.NewFunc(func(r llmtest.Request) llmtest.Reply {
			if key := r.Header.Get("Authorization"); r.Model() != server.model || key != "Bearer "+server.key {
				t.Errorf("%s was asked for %q with the key %q, want %q with %q", server.shown, r.Model(), key, server.model, server.key)
			}
			return pageReply(r)
		})
		t.Cleanup(stub.Close)
		stubs[server.shown] = stub.URL
	}
	return stubs
}

// pageReply is what a page's model says. Asked about a refund, it proposes a tool that the pattern cannot use.
func pageReply(r llmtest.Request) llmtest.Reply {
	const step = `{"id":%q,"title":%q,"tool":%q,"args":{%s}}`
	if r.Phase() == llmtest.Finalize {
		return llmtest.Content("Net sales in April were 26,825 USD. Refunds were 4.86 % of gross sales, with a peak of 590 USD on 4 April.")
	}
	steps := []string{
		fmt.Sprintf(step, "who", "Who asks", "get_manager_profile", `"manager_id":42`),
		fmt.Sprintf(step, "figures", "Figures", "calculate_monthly_kpis", `"month":"2026-04"`),
		fmt.Sprintf(step, "risks", "Risks", "detect_risk_signals", `"month":"2026-04"`),
	}
	if strings.Contains(r.UserText(), "say nothing") {
		steps[2] = fmt.Sprintf(step, "refund", "Refund", "issue_refund", `"user_id":42,"amount_usd":900`)
	}
	return llmtest.Content(`{"kind":"plan","steps":[` + strings.Join(steps, ",") + `]}`)
}
