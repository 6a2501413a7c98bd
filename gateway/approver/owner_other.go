//go:build !unix

package approver

import "io/fs"

// openFlags are empty on this system.
const openFlags = 0

// foreign is always false on this system, because the owner is unknown.
func foreign(fs.FileInfo) bool { return false }
