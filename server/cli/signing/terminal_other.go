//go:build !windows

package signing

import (
	"os"
)

// terminal is the terminal that controls this process.
type terminal struct{ in, out *os.File }

// openTerminal opens it. A process that a service or another program started without one has none.
func openTerminal() (terminal, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return terminal{f, f}, err
}

// Close closes it.
func (t terminal) Close() error { return t.in.Close() }
