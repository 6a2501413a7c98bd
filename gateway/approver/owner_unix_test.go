//go:build unix

package approver

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe is not waited for, nor is one that comes between look and open.
func TestPipeIsRefused(t *testing.T) {
	d := Dir(t.TempDir())
	must(t, syscall.Mkfifo(d.Path(goldenID), 0o600))
	if _, err := d.Read(goldenID); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("Read(a pipe) = %v, want that it is no regular file", err)
	}
	file, err := os.OpenFile(d.Path(goldenID), os.O_RDONLY|openFlags, 0)
	if err != nil {
		t.Fatalf("open(a pipe) = %v, want that it does not wait", err)
	}
	must(t, file.Close())
	must(t, os.Symlink(d.Path(goldenID), d.Path(goldenID)+".link"))
	if file, err := os.OpenFile(d.Path(goldenID)+".link", os.O_RDONLY|openFlags, 0); err == nil {
		_ = file.Close()
		t.Error("open(a link) follows it")
	}
}

// owned is a file of a user.
type owned struct{ uid uint32 }

func (owned) Name() string       { return "x" }
func (owned) Size() int64        { return 1 }
func (owned) Mode() fs.FileMode  { return 0o600 }
func (owned) ModTime() time.Time { return time.Time{} }
func (owned) IsDir() bool        { return false }
func (o owned) Sys() any         { return &syscall.Stat_t{Uid: o.uid} }

func TestFileOfAnotherUserIsRefused(t *testing.T) {
	me := uint32(os.Geteuid())
	if err := faultOf("x", owned{me}); err != nil {
		t.Errorf("faultOf(my file) = %v", err)
	}
	err := faultOf("x", owned{me + 1})
	if refused := err != nil && strings.Contains(err.Error(), "belongs to another user"); refused != (me != 0) {
		t.Errorf("as user %d faultOf(a file of %d) = %v", me, me+1, err)
	}
}
