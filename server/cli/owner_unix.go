//go:build unix

package cli

import (
	"io/fs"
	"os"
	"syscall"
)

// foreign reports whether a file belongs to another user. To root nothing is foreign.
func foreign(info fs.FileInfo) bool {
	me := os.Geteuid()
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && me != 0 && int(s.Uid) != me
}

// ownedByRoot reports whether a file belongs to root, who can do everything anyhow.
func ownedByRoot(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0
}
