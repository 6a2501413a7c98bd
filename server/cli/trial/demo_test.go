package trial

import (
	"io"
	"os"
	"testing"

	"patterngate/server/cli/clientfile"
)

// The demo suggests commands of a program that is there tomorrow. After "go run" that is the program that a person builds.
func TestDemoSuggestsALastingProgram(t *testing.T) {
	s := testCommands(t, io.Discard, io.Discard).stage(false)
	temporary := clientfile.Temporary()
	if s.Temporary != temporary || (s.Program == "./patterngate") != temporary {
		t.Errorf("a temporary build: %v; the demo suggests %s, temporary %v", temporary, s.Program, s.Temporary)
	}
	if _, err := os.Stat(s.Program); s.Program != "patterngate" && !temporary && err != nil {
		t.Errorf("the demo suggests %s: %v", s.Program, err)
	}
}
