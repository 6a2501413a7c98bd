//go:build unix

package assembly

import (
	"os"
	"path/filepath"
	"testing"

	"patterngate/patterns/store/processtest"
	"patterngate/server/settings/tools"
)

// A program that gives no secret in its time is ended with what it started: it would be there once more after each call.
func TestSecretEndsWhatItStarted(t *testing.T) {
	child := filepath.Join(t.TempDir(), "child")
	ref := tools.SecretRef{Exec: []string{"/bin/sh", "-c", "sleep 600 & echo $! >'" + child + "'; echo s3cret-text"}}
	if text, err := secretAt(ref, t.Context(), os.Environ()); err == nil {
		t.Errorf("a program whose output is held open gives %q", text)
	}
	processtest.EndsSoon(t, child)
}
