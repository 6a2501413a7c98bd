package local

import (
	"crypto/sha256"
	"database/sql"
	"os"
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
	check(t, os.WriteFile(path, nil, 0o600))
	db, err := sql.Open("sqlite", path)
	check(t, err)
	for _, name := range []string{"schema.sql", "schema2.sql"} {
		script, err := os.ReadFile("../store/sqlite/" + name)
		check(t, err)
		_, err = db.Exec(string(script))
		check(t, err)
	}
	_, err = db.Exec("PRAGMA application_id=0x50474154; PRAGMA user_version=2")
	check(t, err)
	check(t, db.Close())
}
