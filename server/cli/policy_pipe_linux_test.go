package cli

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// A pipe in the place of a policy's file is refused, without a wait for a writer.
func TestPolicyFileIsNoPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "p.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	source := settings.Sources{Path: writeConfig(t, "version: 1\npolicies: {p: {file: '"+pipe+"'}}\n")}
	if _, _, err := assembly.Load(source, assembly.LoadOptions{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("in a configuration: %v", err)
	}
	for _, args := range [][]string{{"policy", "backtest", pipe}, {"policy", "diff", pipe, pipe}} {
		if code, _, errs := runCommand(t, []string{"HOME=" + t.TempDir()}, args...); code != console.ExitUsage || !strings.Contains(errs, "not a regular file") {
			t.Errorf("%v: %d, %s", args, code, errs)
		}
	}
}
