//go:build unix

package approver

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags make open fail on a symbolic link and not wait for a pipe. One of these may have replaced the file after
// the check.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// foreign reports whether a file belongs to another user. For root it is always false.
func foreign(info fs.FileInfo) bool {
	me := os.Geteuid()
	s, ok := info.Sys().(*syscall.Stat_t)
	return !ok || me != 0 && int(s.Uid) != me
}
