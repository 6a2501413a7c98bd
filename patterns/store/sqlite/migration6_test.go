package sqlite

import (
	"testing"

	"patterngate/patterns/store"
)

// A state file of migration 5 is brought up to date when it is opened: the runs that it holds are nobody's children.
func TestMigration6(t *testing.T) {
	path := t.TempDir() + "/state.db"
	check(t, makeFile(path))
	s, err := connect(path)
	check(t, err)
	for _, script := range []string{migration1, migration2, migration3, migration4, migration5,
		"INSERT INTO runs (n, pattern, principal, config, began, state, epoch, status) VALUES (7, 'p', 'me', 'c', 1, 'ended', 1, 'ok')",
		"PRAGMA application_id=0x50474154; PRAGMA user_version=5"} {
		check(t, s.run(script))
	}
	check(t, s.close())
	var r *store.Row
	check(t, openAt(t, path).View(func(s store.Reader) (err error) { r, err = s.Row(7); return err }))
	if r == nil || r.Parent != 0 || r.Status != "ok" {
		t.Errorf("the run of before is %+v", r)
	}
}

// Child runs whose parent did not live to cancel them are cancelled when a process begins to serve the state; others are not.
func TestOrphans(t *testing.T) {
	for name, tt := range map[string]struct {
		parent string // how it stands; "" there is none
		state  string
		want   bool
	}{
		"parent ended":       {"ended", "parked", true},
		"parent broken":      {"broken", "ready", true},
		"parent gone":        {"", "parked", true},
		"parent goes on":     {"running", "parked", false},
		"parent waits":       {"parked", "running", false},
		"it has ended":       {"ended", "ended", false},
		"it runs somewhere":  {"ended", "running", true},
		"nobody's own child": {"none", "parked", false},
	} {
		t.Run(name, func(t *testing.T) {
			j := fresh(t)
			var canceled bool
			check(t, j.alter(func(s *session) error {
				if tt.parent != "" {
					if err := insertRun(1, 1, tt.parent)(s); err != nil {
						return err
					}
				}
				if err := insertRun(2, 1, tt.state)(s); err != nil || tt.parent == "none" {
					return err
				}
				_, err := s.Exec("UPDATE runs SET parent = 1 WHERE n = 2")
				return err
			}))
			check(t, j.Do(&store.Change{Steps: []store.Step{store.DropOrphans{}}}))
			check(t, j.look(func(s *session) error {
				return s.Each(func(row func(...any) error) error { return row(&canceled) }, "SELECT canceled FROM runs WHERE n = 2")
			}))
			if canceled != tt.want {
				t.Errorf("cancelled: %t, want %t", canceled, tt.want)
			}
		})
	}
}
