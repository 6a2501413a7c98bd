//go:build !unix

package cli

import "io/fs"

// foreign cannot be told here.
func foreign(fs.FileInfo) bool { return false }

func ownedByRoot(fs.FileInfo) bool { return false }
