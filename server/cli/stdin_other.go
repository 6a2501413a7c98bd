//go:build !unix

package cli

import "io"

// polled leaves in as it is: only Unix lets a pipe be polled.
func polled(in io.Reader, _ io.Writer) (r io.Reader, undo func()) { return in, func() {} }
