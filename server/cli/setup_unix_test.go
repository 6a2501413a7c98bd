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

// Links that lead nowhere and files that are no files are named, and never waited for.
func TestSetupOddUnixFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Symlink(at("none"), at("dangling")), syscall.Mkfifo(at("fifo"), 0o600), os.Symlink(at("loop"), at("loop"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		at("dangling"): at("dangling") + ": a link to a file that does not exist; create that file, or remove the link",
		at("fifo"):     at("fifo") + ": not a regular file; name another by --file",
		at("loop"):     "setup: EvalSymlinks: too many links",
		os.DevNull:     os.DevNull + ": not a regular file; name another by --file",
	} {
		if _, err := readSetupFile(path); setupErrorText(err) != want {
			t.Errorf("readSetupFile(%s)\n got %v\nwant %s", path, err, want)
		}
	}
}

// nobody is a user without rights.
const nobody = 65534

// asNobody makes a child of root one of nobody, to whom something can be refused.
func asNobody(cmd *exec.Cmd) {
	cmd.Dir = "/"
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// What may not be read or written ends with 1 and the cause; the file is as it was, and nothing lies beside it.
func TestSetupWithoutRights(t *testing.T) {
	self := installedSetup(t)
	dir := openSetupDir(t)
	path := filepath.Join(dir, "mcp.json")
	for name, modes := range map[string][2]os.FileMode{"directory not writable": {0o644, 0o555}, "file not readable": {0o200, 0o755}} {
		t.Run(name, func(t *testing.T) {
			putSetupFile(t, path, "{}")
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
			wantSetupFile(t, path, "{}")
			if got := setupFilesIn(t, dir); got != "mcp.json" {
				t.Errorf("left behind: %s", got)
			}
		})
	}
}

// Under sudo the file stays its user's.
func TestSetupKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root writes other users' files")
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	putSetupFile(t, path, "{}")
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	c := setupPut(t, jsonServers{member: "servers"}, path, sampleEntry)
	for _, p := range []string{path, c.backup} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != nobody || stat.Gid != nobody {
			t.Errorf("%s belongs to %d:%d, want %d:%d", filepath.Base(p), stat.Uid, stat.Gid, nobody, nobody)
		}
	}
}
