package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/patterns"
)

// The request is JSON in ASCII, its system message is the prompt, its user message is JSON in ASCII with the payload's
// value.
func FuzzBody(f *testing.F) {
	f.Add("be \"brief\"\\\n", "caf\u00e9 \U0001F600 \\u00e9 \u2028\x7f\x00")
	f.Add("", "\\")
	f.Fuzz(func(t *testing.T, prompt, goal string) {
		prompt, goal = strings.ToValidUTF8(prompt, "\ufffd"), strings.ToValidUTF8(goal, "\ufffd")
		var payload bytes.Buffer
		encoder := json.NewEncoder(&payload)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(map[string]any{"goal": goal}); err != nil {
			t.Fatal(err)
		}
		m := &Client{model: "m", temperature: "0"}
		body := m.body(patterns.Question{Ask: patterns.AskPlan, Prompt: prompt, JSON: bytes.TrimSpace(payload.Bytes())}, JSONObject)
		var got struct {
			Messages []struct{ Content string }
		}
		if err := json.Unmarshal(body, &got); err != nil || len(got.Messages) != 2 {
			t.Fatalf("body(%q, %q) is no request: %v\n%s", prompt, goal, err, body)
		}
		user := got.Messages[1].Content
		for _, text := range []string{string(body), user} {
			if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
				t.Errorf("body(%q, %q) holds %q at %d", prompt, goal, text[i:], i)
			}
		}
		var sent map[string]any
		if err := json.Unmarshal([]byte(user), &sent); err != nil {
			t.Fatalf("user message %s: %v", user, err)
		}
		if diff := cmp.Diff(map[string]any{"goal": goal}, sent); diff != "" || got.Messages[0].Content != prompt {
			t.Errorf("body(%q, %q): system %q, payload %s", prompt, goal, got.Messages[0].Content, diff)
		}
	})
}
