//go:build !unix

package machine

import "io/fs"

// IsForeign returns false: the owner of a file is not read on this system.
func IsForeign(fs.FileInfo) bool { return false }

// OwnedByRoot returns false: the owner of a file is not read on this system.
func OwnedByRoot(fs.FileInfo) bool { return false }
