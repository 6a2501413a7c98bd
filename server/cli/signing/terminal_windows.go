package signing

import (
	"errors"
	"os"
)

// terminal is the console of this process.
type terminal struct{ in, out *os.File }

// openTerminal opens the console. It returns an error if the process has none, for example because a service started
// it.
func openTerminal() (terminal, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return terminal{}, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return terminal{}, errors.Join(err, in.Close())
	}
	return terminal{in, out}, nil
}

// Close closes both ends of the console.
func (t terminal) Close() error { return errors.Join(t.in.Close(), t.out.Close()) }
