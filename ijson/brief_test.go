package ijson

import (
	"strings"
	"testing"
	"unicode/utf8"
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
