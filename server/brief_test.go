package server

import (
	"fmt"
	"strings"
	"testing"

	"patterngate/server/arguments"
)

// A request with 17,000 characters in any place is answered by an error that repeats a bounded part, over stdio and over HTTP.
func TestErrorsOfTheProtocolAreBounded(t *testing.T) {
	long := strings.Repeat("Ab9", 5667)
	tests := map[string]struct{ method, params, want string }{
		"tool":          {callMethod, `{"name":"LONG","arguments":{}}`, "not found"},
		"method":        {"LONG", `{}`, "not found"},
		"method of mcp": {"tools/LONG", `{}`, "not found"},
		"prompt":        {"prompts/get", `{"name":"LONG"}`, "not found"},
		"argument":      {"prompts/get", `{"name":"route_ticket","arguments":{"LONG":"x"}}`, "unknown_field:"},
		"resource":      {"resources/read", `{"uri":"LONG"}`, "not found"},
		"run":           {"resources/read", `{"uri":"patterngate://runs/LONG"}`, "not found"},
		"level":         {"logging/setLevel", `{"level":"LONG"}`, ""},
		"reference":     {"completion/complete", `{"ref":{"type":"LONG","name":"x"},"argument":{"name":"x","value":"x"}}`, ""},
		"task":          {"tasks/get", `{"taskId":"LONG"}`, ""},
	}
	c := connect(t, serving(t))
	h := listening(t, serving(t))
	legacy := h.connect(false, nil)
	for name, tt := range tests {
		method, params := strings.ReplaceAll(tt.method, "LONG", long), strings.ReplaceAll(tt.params, "LONG", long)
		answers := map[string]message{}
		for _, era := range eras {
			answers[era] = c.ask(era, method, params)
		}
		answers["http"] = h.post(legacy.head("", ""), fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":%q,"params":%s}`, method, params)).last()
		for by, m := range answers {
			if m.Error == nil || m.ID != 3.0 || len(m.line) > 2000 || !strings.Contains(m.Error.Message, tt.want) {
				t.Errorf("%s, %s: %d bytes: %.300s", name, by, len(m.line), m.line)
			}
		}
	}
}

// A problem's pointer of an argument with an endless name is that of its container, as in an intent.
func TestEndlessArgumentNames(t *testing.T) {
	long := strings.Repeat("Ab9", 5667)
	c := connect(t, serving(t))
	for _, tool := range []string{rt, arguments.CatalogTool, "run_status"} {
		for name, arguments := range map[string]string{"unknown": `{"` + long + `":1}`, "repeated": `{"` + long + `":{"a":1,"a":2}}`} {
			m := c.call(tool, arguments)
			if strings.Contains(m.line, long) {
				t.Errorf("%s, %s: the whole name stands in %d bytes", tool, name, len(m.line))
			}
			problems, _ := m.result(t).Structured["problems"].([]any)
			if len(problems) == 0 || problems[0].(map[string]any)["pointer"] != "" {
				t.Errorf("%s, %s: the problems are %.300v", tool, name, problems)
			}
		}
	}
}
