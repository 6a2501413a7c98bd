package operations

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
)

// servers are running servers that answer a reload. No approver key is enrolled.
type servers struct {
	statefile.Runs
	answers []local.ReloadAnswer
	err     error
}

func (servers) Keys() (gateway.Ring, error) { return gateway.Ring{}, nil }

func (s servers) Reload(context.Context, local.ReloadRequest) ([]local.ReloadAnswer, error) {
	return s.answers, s.err
}

// If a server did not answer, it could use this very file. The command says so and ends with 1, whatever the others answer.
func TestReloadTellsOfServersThatDidNotAnswer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pg.yaml")
	if err := os.WriteFile(file, []byte("version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const unanswered = "reload: not every server has answered\n"
	other := local.ReloadAnswer{Other: true}
	done, refused := local.ReloadAnswer{OK: true, From: "sha256:00", To: "sha256:01"}, local.ReloadAnswer{Text: "it has a fault"}
	for name, tt := range map[string]struct {
		answers []local.ReloadAnswer
		err     error
		code    int
		says    string
	}{
		"others, and one that does not answer":    {[]local.ReloadAnswer{other, other}, context.DeadlineExceeded, console.ExitFault, unanswered},
		"one that refuses, and one that does not": {[]local.ReloadAnswer{refused}, context.DeadlineExceeded, console.ExitFault, unanswered},
		"one that reloads, and one that does not": {[]local.ReloadAnswer{done}, context.DeadlineExceeded, console.ExitFault, unanswered},
		"only others":      {[]local.ReloadAnswer{other, other}, nil, console.ExitRefused, "reload: no server uses this configuration file\n"},
		"one that refuses": {[]local.ReloadAnswer{done, refused}, nil, console.ExitRefused, "reload: it has a fault\n"},
		"one that reloads, and one with another file": {[]local.ReloadAnswer{done, other}, nil, console.ExitDone, ""},
		"nobody serves": {nil, local.ErrNobodyServes, console.ExitRefused, "reload: no server uses this state file"},
	} {
		var out, errs bytes.Buffer
		from := &invocation.Invocation{Console: console.Console{In: strings.NewReader(""), Out: &out, Err: &errs}, Config: file}
		opens := func() (statefile.Runs, func(), error) {
			return servers{answers: tt.answers, err: tt.err}, func() {}, nil
		}
		a := &Commands{StateFile: invocation.NewStateFile(from, opens, nil), Signer: &signing.Signer{Console: &from.Console}}
		cmd := a.Reload()
		cmd.SetArgs([]string{})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		code := from.Exit(t.Context(), cmd.ExecuteContext(t.Context()))
		if code != tt.code || !strings.HasPrefix(errs.String(), tt.says) || tt.says == "" && errs.Len() > 0 || strings.Count(out.String(), "\n") != len(tt.answers) {
			t.Errorf("%s: it ends with %d: %s%s", name, code, &out, &errs)
		}
	}
}
