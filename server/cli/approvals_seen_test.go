package cli

import (
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
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
		if code != exitRefused || out != "" || !strings.Contains(errs, "what is asked is not what you saw") {
			t.Errorf("%s = %d, %q, %q; want %d", name, code, out, errs, exitRefused)
		}
		if f.asked[0].State != patterns.AskedOpen || len(f.decided) != 1 || f.decided[0].Digest != other || f.decided[0].Signature != "" {
			t.Errorf("%s: it stands %s, handed in %+v", name, f.asked[0].State, f.decided)
		}
	}
}

// Without a terminal nobody approves what they have not named by its digest, not even with --yes.
func TestYesIsNoDigest(t *testing.T) {
	for name, args := range map[string][]string{
		"nothing": {"approve", "03f2"}, "yes": {"approve", "03f2", "--yes"}, "edit": {"approve", "03f2", "--yes", "--edit", "amount_usd=800"},
	} {
		f := newFakeDesk(t)
		code, out, errs := f.command(t, nil, args...)
		if code != exitUsage || out != "" || len(f.decided) > 0 || !strings.Contains(errs, "say what you saw") {
			t.Errorf("%s = %d, %q, %q, decided %+v; want %d", name, code, out, errs, f.decided, exitUsage)
		}
	}
	f := newFakeDesk(t) // to say no needs neither
	if code, _, errs := f.command(t, nil, "reject", "03f2"); code != 0 || f.decided[0].Choice != gateway.ChooseReject {
		t.Errorf("reject = %d: %s", code, errs)
	}
}
