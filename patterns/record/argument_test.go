package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What a receipt says of arguments: all that is short, the beginning of what is long and how long it is, what is redacted.
func TestArgumentsOf(t *testing.T) {
	many := make([]string, maxArguments+3)
	for i := range many {
		many[i] = fmt.Sprintf(`"a%02d":%d`, i, i)
	}
	long := strings.Repeat("x", maxArgument-2)
	tests := map[string]struct {
		input string
		want  []string // name: text; nil: cannot be read
		left  int
	}{
		"by name":           {`{"user_id":42,"amount_usd":800.5}`, []string{"amount_usd: 800.5", "user_id: 42"}, 0},
		"none":              {`{}`, []string{}, 0},
		"no object":         {`[1]`, nil, 0},
		"null":              {`null`, nil, 0},
		"redacted":          {`{"card":{"$redacted":"sha256:00"}}`, []string{"card: redacted"}, 0},
		"a text of that":    {`{"card":"redacted"}`, []string{`card: "redacted"`}, 0},
		"redacted and more": {`{"card":{"$redacted":"sha256:00","n":"1"}}`, []string{`card: {"$redacted":"sha256:00","n":"1"}`}, 0},
		"redacted within":   {`{"card":{"iban":{"$redacted":"sha256:00"}}}`, []string{`card: {"iban":{"$redacted":"sha256:00"}}`}, 0},
		"whole":             {`{"a":"` + long + `"}`, []string{`a: "` + long + `"`}, 0},
		"too long":          {`{"a":"` + long + `y"}`, []string{`a: "` + long + `y... (201 bytes in all)`}, 0},
		"cut in a letter":   {`{"a":"` + long + `é"}`, []string{`a: "` + long + `... (202 bytes in all)`}, 0},
		"a long name":       {`{"` + long + `":1}`, []string{long[:maxArgumentName] + `...: 1`}, 0},
		"too many":          {"{" + strings.Join(many, ",") + "}", nil, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			list, left := argumentsOf(json.RawMessage(tt.input))
			if left != tt.left || (list == nil) != (tt.want == nil && tt.left == 0) {
				t.Fatalf("argumentsOf = %v and %d more, want %v and %d more", list, left, tt.want, tt.left)
			}
			if left > 0 {
				if last := list[len(list)-1]; len(list) != maxArguments || last.Name != "a31" {
					t.Errorf("%d are shown, the last %v; want %d, the last a31", len(list), last, maxArguments)
				}
				return
			}
			for i, a := range list {
				if got := a.Name + ": " + a.Text(); i >= len(tt.want) || got != tt.want[i] {
					t.Errorf("argument %d = %q, want %q", i, got, tt.want)
				}
			}
			if len(list) != len(tt.want) {
				t.Errorf("%d arguments, want %d", len(list), len(tt.want))
			}
		})
	}
}

// Programs read the values as they are, and can tell none from what cannot be read.
func TestArgumentsJSON(t *testing.T) {
	for input, want := range map[string]string{
		`{"amount_usd":800}`:                 `"args":[{"argument":"amount_usd","value":800}]`,
		`{"card":{"$redacted":"sha256:00"}}`: `"args":[{"argument":"card","value":{"$redacted":"sha256:00"}}]`,
		`{}`:                                 `"args":[]`,
		`{"a":"` + strings.Repeat("x", 300) + `"}`: `"args":[{"argument":"a","begin":"\"` + strings.Repeat("x", 199) + `","bytes":302}]`,
	} {
		s := Read(events(
			`0 start - {"run_id":"run_00000000000000a1","pattern":"p","pattern_kind":"supervisor"}`,
			`1 intent pay#1 {"effect_kind":"tool","name":"pay","effect":"write","input":`+input+`}`,
		))
		if text, err := json.Marshal(s.Receipt().Calls); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("calls of %.40s = %s, %v; want %s in it", input, text, err, want)
		}
	}
	s := Read(events(`0 start - {"run_id":"run_1"}`, `1 intent pay#1 {"effect_kind":"tool","name":"pay","input":[1]}`))
	if text, err := json.Marshal(s.Receipt().Calls); err != nil || strings.Contains(string(text), `"args"`) {
		t.Errorf("calls = %s, %v; want no args of what is no object", text, err)
	}
}
