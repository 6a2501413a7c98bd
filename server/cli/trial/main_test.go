package trial_test

import (
	"os"
	"slices"
	"testing"

	"patterngate/server/cli"
)

// TestMain makes the test binary the program itself for the children that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"call", "ledger", "prove-life", "serve"}, os.Args[1]) {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}
