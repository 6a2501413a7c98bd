package local

import "testing"

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
	e, err := Open(Options{Path: path})
	check(t, err)
	defer e.Close()
	runs, version := 0, 0
	check(t, e.file.journal.look(func(s *session) error {
		if err := s.each(func(row func(...any) error) error { return row(&version) }, "PRAGMA user_version"); err != nil {
			return err
		}
		return s.each(func(row func(...any) error) error { return row(&runs) }, "SELECT count(*) FROM runs WHERE n = 7")
	}))
	if list, err := e.KillSwitches(); err != nil || len(list) != 0 || runs != 1 || version != len(migrations) {
		t.Errorf("%v, switches %v, %d runs, version %d; want none, one, all", err, list, runs, version)
	}
}
