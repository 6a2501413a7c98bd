package ijson

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"plain, ä 漢 🙂 \\ \"x\"":   "plain, ä 漢 🙂 \\ \"x\"",
		"a\nb\tc\x00":             `a\u000ab\u0009c\u0000`,
		"\x1b[31mred\x7f":         `\u001b[31mred\u007f`,
		"\u0085\u009b":            `\u0085\u009b`,
		"\u202eabc\u202c\u2066":   `\u202eabc\u202c\u2066`,
		"\u061c\u200e\u200f":      `\u061c\u200e\u200f`,
		"line\u2028para\u2029end": `line\u2028para\u2029end`,
		"family 👨\u200d👩":         "family 👨\u200d👩",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\nb\u202e\x7f")
	f.Add(`{"a":"\u0000"}`)
	f.Fuzz(func(t *testing.T, in string) {
		if !utf8.ValidString(in) {
			t.Skip("texts are UTF-8 when they get here")
		}
		got := Visible(in)
		for _, r := range got {
			if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				t.Errorf("Visible(%q) = %q still holds %U", in, got, r)
			}
		}
		quoted := Canonical(in)
		back, err := Decode([]byte(Visible(string(quoted))))
		if err != nil || back != any(in) {
			t.Errorf("%s shown is %s, which is %v, %v", quoted, Visible(string(quoted)), back, err)
		}
	})
}
