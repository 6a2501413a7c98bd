package document_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/gateway/document"
)

func TestGotIsBounded(t *testing.T) {
	text := func(bytes int) string { return strings.Repeat("a", bytes-2) } // two quotes stand around it
	tests := map[string]struct {
		value any
		want  string
	}{
		"nothing there":       {document.Missing, ""},
		"null":                {nil, "null"},
		"small":               {map[string]any{"b": 1.0, "a": []any{true}}, `{"a":[true],"b":1}`},
		"200 bytes":           {text(200), `"` + text(200) + `"`},
		"201 bytes":           {text(201), `{"bytes":201,"head":"\"` + strings.Repeat("a", 159) + `","truncated":true}`},
		"cut at a character":  {strings.Repeat("é", 100), `{"bytes":202,"head":"\"` + strings.Repeat("é", 79) + `","truncated":true}`},
		"quotes and controls": {strings.Repeat("\x01", 100), `{"bytes":602,"head":"\"` + strings.Repeat(`\\u0001`, 26) + `\\u0","truncated":true}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := string(document.Got(tt.value))
			if name == "quotes and controls" { // the head is 160 bytes of the compact text, whatever stands in it
				var cut struct{ Head string }
				if err := json.Unmarshal([]byte(got), &cut); err != nil || len(cut.Head) != 160 {
					t.Errorf("Got(%s) = %s: %v, a head of %d bytes", name, got, err, len(cut.Head))
				}
				return
			}
			if got != tt.want {
				t.Errorf("Got(%s) = %s, want %s", name, got, tt.want)
			}
		})
	}
}
