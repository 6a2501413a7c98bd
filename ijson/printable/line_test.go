package printable

import (
	"strings"
	"testing"
)

// A line of bearable length is printed whole; of a longer one long words are cut first, so that what stands between them stays.
func TestLine(t *testing.T) {
	long := strings.Repeat("x", 17_000)
	path := "/" + strings.Repeat("directory/", 35) + "config.yaml"
	for text, wants := range map[string][]string{
		"cannot read " + path + ": no such file":           {path},
		"what: " + long + ": cause: " + long + "; do this": {"what: xxx", "cause: xxx", "; do this"},
		strings.Repeat("of many words ", 2000) + "the end": {"of many words", "bytes left out", "the end"},
	} {
		got := Line(text)
		for _, want := range wants {
			if len(got) > 1000 || !strings.Contains(got, want) {
				t.Errorf("%.40s: %d bytes without %q: %s", text, len(got), want, got)
			}
		}
	}
}
