package settings_test

import (
	"strings"
	"testing"

	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// A byte of a text leads back to its very character, however it is written. @ marks the place and the text's byte.
func TestFaultsStandAtTheCharacter(t *testing.T) {
	tests := map[string]struct{ file, text string }{
		"plain":            {"a: one @two", "one @two"},
		"first":            {"a: @one", "@one"},
		"single quotes":    {"a: 'it''s @here'", "it's @here"},
		"double quotes":    {`a: "\"\u00e9\t é @here"`, "\"é\t é @here"},
		"pair of escapes":  {`{"a": "\ud83d\ude00 @x"}`, "😀 @x"},
		"literal block":    {"a: |\n  one\n\n    two @here\n", "one\n\n  two @here\n"},
		"folded block":     {"a: >-\n  one\n  two @here\n", "one two @here"},
		"plain lines":      {"a: one\n  two\n\n  three @here", "one two\nthree @here"},
		"quoted lines":     {"a: \"one\n  two \\\n  thr @here\"", "one two thr @here"},
		"within a mapping": {"b: {x: 1}\nc: {a: 'x @y'}", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before, _, _ := strings.Cut(tt.file, "@")
			line, column := strings.Count(before, "\n")+1, len([]rune(before[strings.LastIndex(before, "\n")+1:]))+1
			file := strings.Replace(tt.file, "@", "", 1)
			faults := &yamldoc.Faults{}
			root := yamldoc.Read("pg.yaml", []byte(file), faults)
			if len(faults.Found) > 0 {
				t.Fatal(faults.Found)
			}
			steps, text := []string{"a"}, tt.text
			if text == "" {
				steps, text = []string{"c", "a"}, "x @y"
			}
			loaded := settings.Document{Path: "pg.yaml", Root: root, Text: []byte(file)}
			if _, n := root.Find(yamldoc.PathOf(steps)); n.Text != strings.Replace(text, "@", "", 1) {
				t.Fatalf("the file says %q, the case %q", n.Text, text)
			}
			f := loaded.FaultIn(yamldoc.Fault{Reason: "x"}, strings.Index(text, "@"), steps...)
			if f.Line != line || f.Column != column || f.Path != strings.Join(steps, ".") || f.Severity != yamldoc.SeverityFault {
				t.Errorf("the character is at %d:%d (%s), want %d:%d", f.Line, f.Column, f.Path, line, column)
			}
		})
	}
}
