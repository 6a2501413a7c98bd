//go:build !unix

package cli

import (
	"errors"
	"os"
)

// suspend would stop a process; there is no such thing here, and crowds are killed only.
func suspend(*os.Process) error { return errors.ErrUnsupported }
func resume(*os.Process) error  { return errors.ErrUnsupported }
