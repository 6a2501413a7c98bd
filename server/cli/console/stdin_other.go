//go:build !unix

package console

import "io"

// Polled returns in unchanged: only Unix can poll a pipe.
func Polled(in io.Reader, _ io.Writer) (r io.Reader, undo func()) { return in, func() {} }
