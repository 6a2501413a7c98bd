//go:build unix

package clientfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
		at("fifo"):     at("fifo") + ": not a regular file; name another file with --file",
		at("loop"):     "setup: EvalSymlinks: too many links",
		os.DevNull:     os.DevNull + ": not a regular file; name another file with --file",
	} {
		if _, err := Read(path); setupErrorText(err) != want {
			t.Errorf("readSetupFile(%s)\n got %v\nwant %s", path, err, want)
		}
	}
}

// otherUser is a user who is not root.
const otherUser = 65534

// Under sudo the file stays its user's.
func TestSetupKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root writes other users' files")
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	putSetupFile(t, path, "{}")
	if err := os.Chown(path, otherUser, otherUser); err != nil {
		t.Fatal(err)
	}
	c := setupPut(t, JSONServers{Member: "servers"}, path, sampleEntry)
	for _, p := range []string{path, c.Backup} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != otherUser || stat.Gid != otherUser {
			t.Errorf("%s belongs to %d:%d, want %d:%d", filepath.Base(p), stat.Uid, stat.Gid, otherUser, otherUser)
		}
	}
}
