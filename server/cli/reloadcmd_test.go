package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
)

// Who did not answer may run the very file: whatever the others say, it is told and ends with 1.
func TestReloadTellsOfWhoDidNotAnswer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pg.yaml")
	putFile(t, file, "version: 1\n")
	other := local.ReloadAnswer{Other: true}
	done, refused := local.ReloadAnswer{OK: true, From: "sha256:00", To: "sha256:01"}, local.ReloadAnswer{Text: "it has a fault"}
	for name, tt := range map[string]struct {
		answers []local.ReloadAnswer
		err     error
		code    int
		says    string
	}{
		"others, and one that does not answer":    {[]local.ReloadAnswer{other, other}, context.DeadlineExceeded, console.ExitFault, "reload: not every program that serves has answered\n"},
		"one that refuses, and one that does not": {[]local.ReloadAnswer{refused}, context.DeadlineExceeded, console.ExitFault, "reload: not every program that serves has answered\n"},
		"one that reloads, and one that does not": {[]local.ReloadAnswer{done}, context.DeadlineExceeded, console.ExitFault, "reload: not every program that serves has answered\n"},
		"only others":      {[]local.ReloadAnswer{other, other}, nil, console.ExitRefused, "reload: no program serves this file\n"},
		"one that refuses": {[]local.ReloadAnswer{done, refused}, nil, console.ExitRefused, "reload: it has a fault\n"},
		"one that reloads, and one with another file": {[]local.ReloadAnswer{done, other}, nil, console.ExitDone, ""},
	} {
		f := newFakeRuns(t)
		f.ring, f.answers, f.reload = gateway.Ring{}, tt.answers, tt.err
		code, out, errs := f.command(t, "reload", "--config", file)
		if code != tt.code || !strings.HasPrefix(errs, tt.says) || tt.says == "" && errs != "" || strings.Count(out, "\n") != len(tt.answers) {
			t.Errorf("%s: it ends with %d: %s%s", name, code, out, errs)
		}
	}
}
