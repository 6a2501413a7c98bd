package printable

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"patterngate/ijson"
)

// Brief keeps both ends of a text and splits no character.
func TestBrief(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("x", 100), strings.Repeat("é", 51), strings.Repeat("€", 4000), "\"" + strings.Repeat("a😀", 300) + "\" end"} {
		short := Brief(text, 100)
		if len(text) <= 100 && short != text || len(short) > 140 || !utf8.ValidString(short) {
			t.Errorf("%.20q of %d bytes: %q", text, len(text), short)
		}
		if len(text) > 100 && (!strings.HasPrefix(text, short[:60]) || !strings.HasSuffix(text, short[len(short)-25:])) {
			t.Errorf("%.20q: an end is not kept: %q", text, short)
		}
	}
}

func TestText(t *testing.T) {
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
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\nb\u202e\x7f")
	f.Add(`{"a":"\u0000"}`)
	f.Fuzz(func(t *testing.T, in string) {
		if !utf8.ValidString(in) {
			t.Skip("texts are UTF-8 when they get here")
		}
		got := Text(in)
		for _, r := range got {
			if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				t.Errorf("Text(%q) = %q still holds %U", in, got, r)
			}
		}
		quoted := ijson.Canonical(in)
		back, err := ijson.Decode([]byte(Text(string(quoted))))
		if err != nil || back != any(in) {
			t.Errorf("%s shown is %s, which is %v, %v", quoted, Text(string(quoted)), back, err)
		}
	})
}
