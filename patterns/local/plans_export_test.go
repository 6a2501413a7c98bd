package local

import (
	"crypto/sha256"
	"testing"
)

// SumOf is a plan's hash as its row has it.
func SumOf(content []byte) []byte {
	sum := sha256.Sum256(content)
	return sum[:]
}

// OlderState makes a state file as it was before there were plans.
func OlderState(t testing.TB, path string) {
	t.Helper()
	check(t, makeFile(path))
	s, err := connect(path)
	check(t, err)
	for _, script := range []string{migration1, migration2, "PRAGMA application_id=0x50474154; PRAGMA user_version=2"} {
		check(t, s.run(script))
	}
	check(t, s.close())
}

// SpawnAlone starts a child and does not wait for a word of it; it is killed with the test.
func SpawnAlone(t *testing.T, role, path string) Child {
	t.Helper()
	return Child{spawn(t, role, path)}
}
