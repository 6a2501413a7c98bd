package signing

import (
	"errors"
	"os"
)

// terminal is the console of this process.
type terminal struct{ in, out *os.File }

// openTerminal opens it. A process that a service or another program started without one has none.
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

// Close closes it.
func (t terminal) Close() error { return errors.Join(t.in.Close(), t.out.Close()) }
