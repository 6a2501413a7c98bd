package cli

import (
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/server/cli/console"
)

// A person who saw another call than the one that is asked about now decides nothing, whichever way and whatever they typed; the attempt is
// handed in unsigned, to be recorded.
func TestAnotherDigestDecidesNothing(t *testing.T) {
	other := "sha256:" + strings.Repeat("ab", 32)
	for name, args := range map[string][]string{
		"approve": {"approve", "03f2", "--digest", other},
		"yes":     {"approve", "03f2", "--digest", other, "--yes"},
		"edit":    {"approve", "03f2", "--digest", other, "--edit", "amount_usd=800"},
		"reject":  {"reject", "03f2", "--digest", other},
	} {
		f := newFakeDesk(t)
		code, out, errs := f.command(t, []string{goodPassphrase}, args...)
		if code != console.ExitRefused || out != "" || !strings.Contains(errs, "the request is not the one that you saw") {
			t.Errorf("%s = %d, %q, %q; want %d", name, code, out, errs, console.ExitRefused)
		}
		if f.asked[0].State != patterns.AskedOpen || len(f.decided) != 1 || f.decided[0].Digest != other || f.decided[0].Signature != "" {
			t.Errorf("%s: it stands %s, handed in %+v", name, f.asked[0].State, f.decided)
		}
	}
}
