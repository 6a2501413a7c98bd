package llm

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
)

func TestKeyIsInNoError(t *testing.T) {
	m, _ := model(t, nil,
		llmtest.Raw(401, "text/plain", "Incorrect API key provided: "+testKey+strings.Repeat("!", 5000)),
		llmtest.Raw(200, "text/plain", "Bearer "+testKey), llmtest.Reset(), llmtest.Raw(500, "text/plain", strings.Repeat("a", errorTextBytes-5)+testKey),
		llmtest.Raw(200, "text/plain", `{"`+testKey+`":1,"`+testKey+`":2}`), llmtest.Raw(500, "text/plain", strings.Repeat("aaa ", errorBodyBytes/4-2)+testKey),
		llmtest.Raw(200, "text/plain", `{"`+strings.Repeat("n", 1<<20)+`":1,"`+strings.Repeat("n", 1<<20)+`":2}`))
	for range 7 {
		_, err := m.Ask(t.Context(), question(patterns.AskPlan, `{"goal":"g"}`))
		if err == nil || strings.Contains(err.Error(), testKey[:8]) || len(err.Error()) > 4*errorTextBytes {
			t.Errorf("Ask: got error %.200v; want one without the key, short", err)
		}
		if text := fmt.Sprintf("%+v %#v", err, m); strings.Contains(text, testKey) {
			t.Errorf("printing the model shows the key: %s", text)
		}
	}
}
