package assembly

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// What clients would drop is refused, by who validates with its place, by who serves before anything is served.
func TestOversizedPatterns(t *testing.T) {
	inputs := func(n int, words string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("f%d: {type: string, optional: true%s}", i, words))
		}
		return "input: {" + strings.Join(list, ", ") + "}"
	}
	answer := "answer: {text: {type: string, description: " + strings.Repeat("d", 3900) + "}}"
	tests := map[string]struct{ pattern, want string }{
		"as many as clients take": {"a: " + ofKind("supervisor", inputs(6, "")), ""},
		"one more": {"a: " + ofKind("supervisor", inputs(7, "")),
			"{f0 | patterns.a.input: the input schema of a has 15 properties, and clients take at most 14; remove some of input"},
		"long words":    {"a: " + ofKind("supervisor", inputs(5, ", description: "+strings.Repeat("d", 400))), "{f0 | patterns.a.input: the input schema of a has N bytes, and clients take at most 3072; shorten descriptions in input, or name fewer tools"},
		"a long answer": {"a: " + ofKind("supervisor", answer), "{kind | patterns.a: the output schema of a has N bytes, and clients take at most 4096; shorten answer"},
		"of four tools": {"a: " + ofKind("planning", inputs(7, "")),
			"{f0 | patterns.a.input: the input schema of a_decompose has 17 properties, and clients take at most 14; remove some of input\n" +
				"{f0 | patterns.a.input: the input schema of a_execute has 20 properties, and clients take at most 14; remove some of input"},
		"a switched off one": {"a: " + ofKind("supervisor", "enabled: false, "+inputs(14, "")), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file := ownFile(tt.pattern)
			loaded, _, err := Load(settings.Sources{Path: writeConfig(t, file)}, LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := loaded.Server(nil, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			found := loaded.Oversized(s)
			got := ""
			if len(found) > 0 {
				got = bytesOf.ReplaceAllString(placedWords(t, file, &yamldoc.Error{Faults: found}), "has N bytes")
			}
			if got != tt.want {
				t.Errorf("validate finds\n%s\nwant\n%s", got, tt.want)
			}
			d, err := Declare(loaded, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := loaded.bearableBefore(d); (err != nil) != (tt.want != "") {
				t.Errorf("serving it: %v", err)
			} else if err != nil && !placedOwn.MatchString(err.Error()) {
				t.Errorf("serving it: %v, want the line of the pattern", err)
			}
		})
	}
}

var placedOwn = regexp.MustCompile(`^line [0-9]+: patterns[.]`)

var bytesOf = regexp.MustCompile(`has [0-9]+ bytes`)

// The names that no input may have are all arguments that a kind takes.
func TestOwnArguments(t *testing.T) {
	for _, kind := range settings.OwnKinds {
		if kind == string(gateway.Call) {
			continue
		}
		loaded := loadOwn(t, "a: "+ofKind(kind, "goal_argument: wish"))
		s, err := loaded.Server(nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := loaded.Pattern("a")
		for _, tool := range s.Tools() {
			var schema struct{ Properties map[string]any }
			if !slices.Contains(p.ToolNames(), tool.Name) || strings.HasSuffix(tool.Name, "_status") {
				continue
			}
			if err := json.Unmarshal(tool.RawInputSchema, &schema); err != nil {
				t.Fatal(err)
			}
			for name := range schema.Properties {
				if name != "wish" && !slices.Contains(ownArguments(p.Kind), name) {
					t.Errorf("%s takes %s, and an input may have this name", tool.Name, name)
				}
			}
			if _, goal := schema.Properties["wish"]; !goal && len(schema.Properties) > 0 && !strings.HasSuffix(tool.Name, "_execute") && !strings.HasSuffix(tool.Name, "_replan") {
				t.Errorf("%s does not take the goal as wish: %s", tool.Name, tool.RawInputSchema)
			}
		}
	}
}
