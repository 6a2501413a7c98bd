package importer

import (
	"io"
	"testing"

	"patterngate/server/cli/console"
)

// A file that does not load ends with 1, as a text and as JSON.
func TestInitOfAFaultyFile(t *testing.T) {
	for _, json := range []bool{false, true} {
		for _, faulty := range []bool{false, true} {
			want := map[bool]int{false: console.ExitDone, true: console.ExitFault}[faulty]
			c := &console.Console{Out: io.Discard, Err: io.Discard, JSON: json}
			if code := c.Exit(t.Context(), (&Commands{Console: c}).tellInit(initReport{File: "pg.yaml", faulty: faulty})); code != want {
				t.Errorf("faulty %t, as JSON %t: it ends with %d, want %d", faulty, json, code, want)
			}
		}
	}
}
