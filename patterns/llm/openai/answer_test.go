package openai

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"patterngate/patterns"
)

func TestDecodeCompletion(t *testing.T) {
	const wide = `{"id":"x","created":1767225600000000000,"choices":[{"index":0,"logprobs":{"content":[{"token":"a"}]},` +
		`"message":{"role":"assistant","content":"hi","tool_calls":[]}},{"message":{"content":"second"}}],` +
		`"usage":{"prompt_tokens":7,"completion_tokens":2,"details":{"cached":1}},"x_vendor":{"a":[1,2]}}`
	hi := completion{text: "hi", choices: 1}
	tests := map[string]struct {
		text   string
		prose  bool
		want   completion
		reason string // "" is an answer
	}{
		"with what others add":    {text: wide, want: completion{text: "hi", choices: 2, usage: patterns.Usage{InputTokens: 7, OutputTokens: 2}}},
		"the least":               {text: `{"choices":[{"message":{"content":"hi"}}]}`, want: hi},
		"usage null":              {text: `{"choices":[{"message":{"content":"hi"}}],"usage":null}`, want: hi},
		"counts that are none":    {text: `{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":-5,"completion_tokens":"9"}}`, want: hi},
		"counts beyond all sense": {text: `{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":1e9,"completion_tokens":99999999999}}`, want: hi},
		"half a character, prose": {text: `{"choices":[{"message":{"content":"a\ud83d"}}]}`, prose: true, want: completion{text: "a\ufffd", choices: 1}},
		"half a character":        {text: `{"choices":[{"message":{"content":"a\ud83d"}}]}`, reason: serverReason},
		"not UTF-8":               {text: "{\"choices\":[{\"message\":{\"content\":\"a\xff\"}}]}", reason: serverReason},
		"repeated member":         {text: `{"choices":[{"message":{"content":"a","content":"b"}}]}`, reason: serverReason},
		"two documents":           {text: `{"choices":[{"message":{"content":"a"}}]}{}`, reason: serverReason},
		"other case":              {text: `{"Choices":[{"message":{"content":"a"}}]}`, reason: serverReason},
		"content is a list":       {text: `{"choices":[{"message":{"content":[]}}]}`, reason: serverReason},
		"content is a number":     {text: `{"choices":[{"message":{"content":1}}]}`, reason: serverReason},
		"no message":              {text: `{"choices":[{"index":0}]}`, reason: serverReason},
		"message is null":         {text: `{"choices":[{"message":null}]}`, reason: serverReason},
		"choice is null":          {text: `{"choices":[null]}`, reason: serverReason},
		"choices is null":         {text: `{"choices":null}`, reason: serverReason},
		"choices is an object":    {text: `{"choices":{}}`, reason: serverReason},
		"an error beside 200":     {text: `{"error":{"message":"busy"}}`, reason: serverReason},
		"a list":                  {text: `[]`, reason: serverReason},
		"nothing":                 {text: ``, reason: serverReason},
		"deep":                    {text: strings.Repeat(`[`, 100000), reason: serverReason},
		"deep inside":             {text: `{"x":` + strings.Repeat(`[`, 100000), reason: serverReason},
		"no choices":              {text: `{"choices":[]}`, reason: noChoicesReason},
		"refusal":                 {text: `{"choices":[{"message":{"content":null,"refusal":"no"}}]}`, reason: refusedReason},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := decodeCompletion([]byte(tt.text), !tt.prose)
			if tt.reason == "" {
				if err != nil || got != tt.want {
					t.Errorf("decodeCompletion: got %+v, %v; want %+v", got, err, tt.want)
				}
				return
			}
			var known *fault
			if !errors.As(err, &known) || known.reason != tt.reason || known.passing {
				t.Errorf("decodeCompletion: got %+v, %v; want the fault %s", got, err, tt.reason)
			}
		})
	}
}

// What is taken for an answer, the standard decoder reads as the same answer.
func FuzzDecodeCompletion(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":"hi","refusal":null}}],"usage":{"prompt_tokens":7}}`))
	f.Add([]byte(`{"choices":[{"message":{"content":"\ud83d\ude00"}},{}]}`))
	f.Add([]byte(`{"usage":{},"choices":[],"a":{"b":[1,2,{"c":null}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decodeCompletion(text, true)
		if err != nil {
			return
		}
		var want struct {
			Choices []struct {
				Message map[string]any `json:"message"`
			} `json:"choices"`
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("accepted %q, which is no JSON: %v", text, err)
		}
		content, _ := want.Choices[0].Message["content"].(string)
		if got.text != content && strings.TrimSpace(content) != "" && got.text != "" {
			t.Errorf("decodeCompletion(%q): got text %q, want %q", text, got.text, content)
		}
	})
}
