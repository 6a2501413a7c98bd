//go:build !windows

package signing

import (
	"os"
)

// terminal is the terminal that controls this process.
type terminal struct{ in, out *os.File }

// openTerminal opens the terminal. It returns an error if the process has none, for example because a service started
// it.
func openTerminal() (terminal, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	return terminal{f, f}, err
}

// Close closes the terminal.
func (t terminal) Close() error { return t.in.Close() }
