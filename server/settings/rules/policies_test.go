package rules_test

import (
	"path/filepath"
	"testing"

	"patterngate/server/settings/machine"
	"patterngate/server/settings/rules"
)

// A directory is a file that nothing can be read of; package cli tries a pipe.
func TestPolicyFilesAreFiles(t *testing.T) {
	dir := t.TempDir()
	if _, f := rules.ReadFile(dir); f.Reason != "a directory" {
		t.Errorf("a directory: %+v", f)
	}
	if _, f := rules.ReadFile(filepath.Join(dir, "none")); f.Reason != machine.NoSuchFile {
		t.Errorf("none: %+v", f)
	}
}
