package sqlite_test

import (
	"path/filepath"
	"testing"

	"patterngate/patterns/store"
	"patterngate/patterns/store/sqlite"
	"patterngate/patterns/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s, err := sqlite.Open(filepath.Join(t.TempDir(), "state.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	})
}
