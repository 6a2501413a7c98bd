package sqlite

import (
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

// A state file of migration 3 is brought up to date when it is opened, with what it holds.
func TestMigration4(t *testing.T) {
	path := t.TempDir() + "/state.db"
	check(t, makeFile(path))
	s, err := connect(path)
	check(t, err)
	for _, script := range []string{migration1, migration2, migration3,
		"INSERT INTO runs (n, pattern, principal, config, began, state, epoch) VALUES (7, 'p', 'me', 'c', 1, 'ended', 1)",
		"PRAGMA application_id=0x50474154; PRAGMA user_version=3"} {
		check(t, s.run(script))
	}
	check(t, s.close())
	j := openAt(t, path)
	runs, version := 0, 0
	check(t, j.look(func(s *session) error {
		if err := s.Each(func(row func(...any) error) error { return row(&version) }, "PRAGMA user_version"); err != nil {
			return err
		}
		return s.Each(func(row func(...any) error) error { return row(&runs) }, "SELECT count(*) FROM runs WHERE n = 7")
	}))
	var list []patterns.Switch
	if err := j.View(func(s store.Reader) (err error) { list, err = s.Switches(); return err }); err != nil || len(list) != 0 || runs != 1 || version != len(migrations) {
		t.Errorf("%v, switches %v, %d runs, version %d; want none, one, all", err, list, runs, version)
	}
}
