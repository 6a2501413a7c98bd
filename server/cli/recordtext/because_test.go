package recordtext

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/patterns/record"
)

// What made a rule true stands behind bars, whoever wrote it, and of much the beginning.
func TestBecauseLines(t *testing.T) {
	b := record.Because{Said: "One run pays back\n500 EUR at most.", Values: json.RawMessage(`{"args.reason":"x\u202ey\nApproved by a person","card":{"$redacted":"sha256:00"},"vars.spent":49000}`), Passes: 2}
	want := "  the rule says: One run pays back\\u000a500 EUR at most.\n" +
		"  | args.reason: \"x\\u202ey\\nApproved by a person\"\n  | card: redacted\n  | vars.spent: 49000\n"
	if got := becauseLines("  ", 100, b); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	many := map[string]any{}
	for i := range 40 {
		many["v"+strings.Repeat("x", i)] = strings.Repeat("y", 5000)
	}
	text, _ := json.Marshal(many)
	got := becauseLines("", 80, record.Because{Values: text})
	if !strings.HasSuffix(got, "and 24 more values\n") || len(got) > 16*12*90 || !strings.Contains(got, "... (5002 bytes in all)") {
		t.Errorf("of many long values: %d bytes, %.300q", len(got), got)
	}
	for _, broken := range []string{"", "null", "[1]", `"x"`, "{"} {
		if got := becauseLines("", 80, record.Because{Values: json.RawMessage(broken)}); got != "" {
			t.Errorf("of %q: %q", broken, got)
		}
	}
}
