package console

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// Now returns the time of a decision, in whole seconds (UTC).
func Now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// One returns the check of a command that takes exactly one argument. name is the command, what the thing that the argument names, and
// try what an error advises.
func One(name, what, try string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return Usage(name, errors.New("name the "+what), try)
		case len(args) > 1:
			return Usage(name, fmt.Errorf("want one %s, got %d arguments", what, len(args)), try)
		}
		return nil
	}
}
