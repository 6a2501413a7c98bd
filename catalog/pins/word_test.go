package pins_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"patterngate/catalog/pins"
)

// A command that a fault of the lock advises has the tool as one word: a shell does not run what its name contains.
func TestAdvisedToolIsOneWord(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the quotes of other systems")
	}
	path := filepath.Join(t.TempDir(), "patterngate.lock")
	lock := &pins.Lock{}
	d := pins.Definition{Name: "x;id;", Description: "Old.", Input: []byte(`{"type":"object"}`)}
	if err := lock.Accept("shop", d, pins.Acceptance{By: "local:1", Assurance: "user"}); err != nil {
		t.Fatal(err)
	}
	if err := lock.Write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "Old.", "New.", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pins.Read(path); err == nil || !strings.Contains(err.Error(), "run patterngate catalog accept 'shop/x;id;'") {
		t.Errorf("the fault is %v", err)
	}
}
