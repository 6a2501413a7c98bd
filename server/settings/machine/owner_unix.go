//go:build unix

package machine

import (
	"io/fs"
	"os"
	"syscall"
)

// IsForeign reports whether a file belongs to another user. For root it is always false.
func IsForeign(info fs.FileInfo) bool {
	me := os.Geteuid()
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && me != 0 && int(s.Uid) != me
}

// OwnedByRoot reports whether a file belongs to root.
func OwnedByRoot(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0
}
