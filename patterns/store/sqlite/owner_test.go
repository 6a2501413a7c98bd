package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/patterns/store/processtest"
)

func ownerAt(t *testing.T, path string) *owner {
	t.Helper()
	o, err := newOwner(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.close)
	return o
}

func TestOwnerLivesAsLongAsItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	o := ownerAt(t, path)
	for name, end := range map[string]func(*processtest.Child, *testing.T){"killed": (*processtest.Child).Kill, "ended": (*processtest.Child).End} {
		c := processtest.SpawnAlone(t, "own", path)
		c.Ready(t)
		id := otherOwner(t, o)
		if _, dead := o.Dead(id); dead {
			t.Errorf("%s: a living owner counts as dead", name)
		}
		end(c, t)
		bury, dead := o.Dead(id)
		if !dead {
			t.Fatalf("%s: the owner counts as alive", name)
		}
		if _, dead := o.Dead(id); name == "killed" && dead {
			t.Errorf("%s: two may bury it at once", name)
		}
		bury()
		if _, err := os.Stat(filepath.Join(o.dir, id)); !os.IsNotExist(err) {
			t.Errorf("%s: what is left of it: %v, want nothing", name, err)
		}
		if _, dead := o.Dead(id); !dead {
			t.Errorf("%s and buried: it counts as alive", name)
		}
	}
}

// otherOwner is the one owner beside.
func otherOwner(t *testing.T, o *owner) string {
	t.Helper()
	entries, err := os.ReadDir(o.dir)
	check(t, err)
	for _, e := range entries {
		if e.Name() != o.id {
			return e.Name()
		}
	}
	t.Fatal("no other owner")
	return ""
}

func TestOwnerIsAliveToItself(t *testing.T) {
	o := ownerAt(t, filepath.Join(t.TempDir(), "state.db"))
	if _, dead := o.Dead(o.id); dead {
		t.Error("it counts as dead to itself")
	}
	other := ownerAt(t, strings.TrimSuffix(o.dir, ".owners"))
	if _, dead := other.Dead(o.id); dead {
		t.Error("it counts as dead to another")
	}
	o.close()
	if _, dead := other.Dead(o.id); !dead {
		t.Error("it counts as alive after it gave up")
	}
}

func TestNewOwnerBuriesTheDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	living := ownerAt(t, path)
	c := processtest.SpawnAlone(t, "own", path)
	c.Ready(t)
	id := otherOwner(t, living)
	c.Kill(t)
	foreign := filepath.Join(living.dir, "README")
	check(t, os.WriteFile(foreign, nil, 0o600))
	o := ownerAt(t, path)
	if _, err := os.Stat(filepath.Join(o.dir, id)); !os.IsNotExist(err) {
		t.Errorf("the dead one's file: %v, want it gone", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file of nobody: %v, want it left alone", err)
	}
	if _, dead := o.Dead(living.id); dead {
		t.Error("the living one counts as dead")
	}
}

// TestOwnersNameIsNoPath: names come from the state file, which somebody else may have written.
func TestOwnersNameIsNoPath(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	check(t, os.WriteFile(victim, nil, 0o600))
	o := ownerAt(t, filepath.Join(dir, "state.db"))
	for _, id := range []string{"../ABCDEFGHIJKLMNOPQRSTUVWXYZ", victim, "", ".", strings.Repeat("A", 25) + "/", "abcdefghijklmnopqrstuvwxyz", strings.Repeat("A", 26)} {
		bury, dead := o.Dead(id)
		if !dead {
			t.Errorf("%q counts as alive", id)
			continue
		}
		bury()
	}
	if _, err := os.Stat(victim); err != nil {
		t.Errorf("a file elsewhere: %v, want it left alone", err)
	}
}
