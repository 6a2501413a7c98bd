package local_test

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite" // the driver, for changes from outside
)

// edit changes a state file from outside.
func edit(t testing.TB, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}
