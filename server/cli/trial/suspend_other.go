//go:build !unix

package trial

import (
	"errors"
	"os"
)

// suspend is not supported on this system, so crowds are only killed.
func suspend(*os.Process) error { return errors.ErrUnsupported }
func resume(*os.Process) error  { return errors.ErrUnsupported }
