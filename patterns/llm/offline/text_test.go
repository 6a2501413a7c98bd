package offline

import "testing"

func TestFormOf(t *testing.T) {
	for name, c := range map[string]struct {
		example, text string
		want          bool
	}{
		"same form":    {"INV-2031", "INV-7", true},
		"other prefix": {"INV-2031", "ORD-2031", false},
		"letter after": {"A12B", "A7C", true},
		"longer":       {"INV-2031", "INV-2031-1", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := knowable(formOf(c.example)).MatchString(c.text); got != c.want {
				t.Errorf("form of %q takes %q: %v, want %v", c.example, c.text, got, c.want)
			}
		})
	}
}
