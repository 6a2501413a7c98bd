//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"patterngate/server/cli/console"
)

// What may not be read or written ends with 1 and the cause; the file is as it was, and nothing lies beside it.
func TestSetupWithoutRights(t *testing.T) {
	self := installedSetup(t)
	dir := openSetupDir(t)
	path := filepath.Join(dir, "mcp.json")
	for name, modes := range map[string][2]os.FileMode{"directory not writable": {0o644, 0o555}, "file not readable": {0o200, 0o755}} {
		t.Run(name, func(t *testing.T) {
			putFile(t, path, "{}")
			if os.Geteuid() == 0 && modes[0]&0o200 != 0 {
				if err := os.Chown(path, nobody, nobody); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Chmod(path, modes[0]), os.Chmod(dir, modes[1])); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(dir, 0o755)
			cmd := setupProgram(t, self, "setup", "cursor", "--file", path, "--write")
			asNobody(cmd)
			text, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != console.ExitFault || !strings.Contains(string(text), "permission denied") {
				t.Errorf("setup ended with %d: %s", code, text)
			}
			if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			wantFile(t, path, "{}")
			if got := filesIn(t, dir); got != "mcp.json" {
				t.Errorf("left behind: %s", got)
			}
		})
	}
}

// asNobody makes a child of root one of a user without rights, to whom something can be refused.
func asNobody(cmd *exec.Cmd) {
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// nobody is a user without rights.
const nobody = 65534
