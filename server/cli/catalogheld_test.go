package cli

import (
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// Enrolling a key says which tools it holds, and signs the lock at once where the person types the passphrase again. Until that is
// done, a call of such a tool hears the real cause.
func TestEnrolmentAndTheLock(t *testing.T) {
	t.Parallel()
	const acceptLater = "They are held until you run \"patterngate catalog accept\".\n"
	const held, cause = "Patterngate holds them from now on: crm/look, crm/drift\n", "look is held: no approver key signed its acceptance, and an approver key is enrolled\n"
	for name, tt := range map[string]struct {
		again []string // what is typed behind the two passphrases
		says  string
		state string // of look
	}{
		"signed at once": {[]string{goodPassphrase}, "signed the acceptance of 2 tools. Run \"patterngate reload\" so that a running server reads ", ""},
		"left held":      {[]string{""}, acceptLater, cause},
		"wrong":          {[]string{"correct horse batterz"}, "The passphrase does not open the key. Nothing was signed. " + acceptLater, cause},
		"no terminal":    {nil, acceptLater, cause},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "signed at once" && name != "left held" {
				inCI(t, "it makes a key")
			}
			t.Parallel()
			s := newOwnScene(t, "  expose: [look]\n", "")
			s.must(t, "catalog", "accept", "--yes")
			code, out, errs := s.command(t, append([]string{goodPassphrase, goodPassphrase}, tt.again...), "approvals", "enroll", "--name", "Anna")
			if code != console.ExitDone || !strings.Contains(out, held) || !strings.Contains(out, tt.says) {
				t.Fatalf("enroll = %d, %s%s\nwant %q and %q", code, out, errs, held, tt.says)
			}
			if tt.again != nil && !strings.Contains(errs, "  + /inputSchema") {
				t.Errorf("what is signed is not shown: %s", errs)
			}
			code, out, errs = s.command(t, nil, "call", "look", "q=1")
			if wrong := !strings.Contains(errs, tt.state); wrong || tt.state == "" && strings.Contains(errs, "held") {
				t.Errorf("call look = %d, %s%s\nwant %q", code, out, errs, tt.state)
			}
		})
	}
}

// Enrolment in a configuration without servers says nothing of tools.
func TestEnrolmentWithoutTools(t *testing.T) {
	t.Parallel()
	f := newFakeDesk(t)
	if code, out, errs := f.command(t, []string{goodPassphrase, goodPassphrase}, "enroll"); code != console.ExitDone || strings.Contains(out, "hold") {
		t.Errorf("enroll = %d, %s%s", code, out, errs)
	}
}
