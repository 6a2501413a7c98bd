package wording

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

func TestVisible(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"plain":             {"refund 42 £ é 日本 😀", "refund 42 £ é 日本 😀"},
		"line ends":         {"a\r\nb\tc", `a\u000d\u000ab\u0009c`},
		"NUL and escape":    {"\x00\x1b[31mred", `\u0000\u001b[31mred`},
		"C1":                {"\u009b31m", `\u009b31m`},
		"bidi":              {"\u202eabc\u2066\u200f\u061c", `\u202eabc\u2066\u200f\u061c`},
		"no width":          {"a\u200bb\u200db\ufeff", `a\u200bb\u200db\ufeff`},
		"soft hyphen":       {"a\u00adb", `a\u00adb`},
		"other blanks":      {"a\u00a0b\u2003c\u3000d", `a\u00a0b\u2003c\u3000d`},
		"fillers":           {"\u3164\u2800\uffa0", `\u3164\u2800\uffa0`},
		"tags":              {"a\U000e0041", `a\udb40\udc41`},
		"variation":         {"a\ufe0f\U000e0101", `a\ufe0f\udb40\udd01`},
		"private":           {"\ue000", `\ue000`},
		"no UTF-8":          {"a\xff\x9bb", "a\ufffdb"},
		"separators of all": {"a\u2028b\u2029", `a\u2028b\u2029`},
	} {
		if got := Visible(test.text); got != test.want {
			t.Errorf("%s: visible(%q) = %q, want %q", name, test.text, got, test.want)
		}
	}
}

func TestPrettyValue(t *testing.T) {
	for name, test := range map[string]struct {
		value any
		want  string
	}{
		"number":             {1200.5, "1200.5"},
		"text":               {"late", `"late"`},
		"a text of a digit":  {"42", `"42"`},
		"lines":              {"one\ntwo\n", "\"one\\n\ntwo\\n\""},
		"a written line end": {`one\ntwo`, `"one\\ntwo"`},
		"nested":             {map[string]any{"a": []any{1.0, "x\u202e"}}, "{\n  \"a\": [\n    1,\n    \"x\\u202e\"\n  ]\n}"},
		"nothing":            {nil, "null"},
		"empty":              {map[string]any{}, "{}"},
	} {
		if got := PrettyValue(test.value); got != test.want {
			t.Errorf("%s: prettyValue(%#v) = %q, want %q", name, test.value, got, test.want)
		}
	}
}

func TestClip(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
	}{
		"short":              {"abc", "abc"},
		"as long":            {"abcdef", "abcdef"},
		"longer":             {"abcdefg", "abcde…"},
		"spelled is longer":  {"a\u202eb", `a\u20…`},
		"a mega of no UTF-8": {strings.Repeat("\xff", 1<<20), "\ufffd"},
	} {
		if got := Clip(test.text, 6); got != test.want && !(strings.HasPrefix(got, test.want) && utf8.RuneCountInString(got) <= 6) {
			t.Errorf("%s: clip = %q, want %q", name, got, test.want)
		}
	}
}

// Visible leaves no hidden character in any text, and nothing that a terminal needs escaped. Escaped JSON decodes to the same
// value.
func FuzzVisible(f *testing.F) {
	for _, text := range []string{"", "a\\nb\n", "\u202e", "\U000e0041", "\xff", `\u202e`, "é\u0301\x7f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := Visible(text)
		if strings.ContainsFunc(shown, hidden) || !utf8.ValidString(shown) || printable.Text(shown) != shown {
			t.Errorf("visible(%q) = %q", text, shown)
		}
		if n := utf8.RuneCountInString(Clip(text, 10)); n > 10 {
			t.Errorf("clip(%q, 10) has %d characters", text, n)
		}
		if n := utf8.RuneCountInString(Lines(text, 10)); n > 10 {
			t.Errorf("lines(%q, 10) has %d characters", text, n)
		}
		value := map[string]any{"a": strings.ToValidUTF8(text, "")}
		literal := strings.Join(strings.Split(PrettyValue(value), "\\n\n"), "\\n")
		if back, err := ijson.Decode([]byte(literal)); err != nil || !ijson.Equal(back, value) {
			t.Errorf("document of %q is %q: %v", text, literal, err)
		}
	})
}

// A page has the same time in UTC for people and for machines, whatever the zone of the server. The page's script shows the reader's zone.
func TestMomentIsUTC(t *testing.T) {
	at := time.Date(2026, 7, 1, 22, 5, 9, 0, time.UTC)
	for name, zone := range map[string]*time.Location{"UTC": time.UTC, "east": time.FixedZone("CEST", 2*3600), "west, half": time.FixedZone("NST", -3*3600-1800)} {
		if m := MomentOf(at.In(zone), at.Add(time.Hour).In(zone)); m.Day != "2026-07-01 22:05:09 UTC" || m.At != "2026-07-01T22:05:09Z" || m.Rel != "1 h 00 min ago" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}
