package sqlite

import (
	"errors"

	"patterngate/patterns/store"
)

// alter changes the state file as somebody else may.
func (j *Store) alter(f func(*session) error) error { return j.Do(&store.Change{Steps: raw(f)}) }

// raw is a step with statements of the test's own. errNo refuses it.
func raw(f func(*session) error) []store.Step {
	return []store.Step{store.WindowHolds{Judge: func(c store.Calls) (bool, error) {
		err := f(c.(*session))
		if errors.Is(err, errNo) {
			return false, nil
		}
		return true, err
	}}}
}

var errNo = errors.New("no")

// look reads one state of the file with statements of the test's own.
func (j *Store) look(f func(*session) error) error {
	return j.View(func(r store.Reader) error { return f(r.(*session)) })
}
