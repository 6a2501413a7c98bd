package sqlite

import (
	"os"
	"testing"

	"patterngate/patterns/store/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m) }

// What processes do that tests start of their own program.

var _ = processtest.Role("write", func(path string, ready func()) error { // a run of its own in a file that may be new
	j, err := Open(path, nil)
	if err != nil {
		return err
	}
	defer j.Close()
	err = j.alter(insertRun(int64(os.Getpid()), 1, "running"))
	ready()
	return err
})

var _ = processtest.Role("lock", func(path string, ready func()) error { // in the middle of a transaction
	j, err := Open(path, nil)
	if err != nil {
		return err
	}
	defer j.Close()
	return j.alter(func(*session) error { ready(); return nil })
})

var _ = processtest.Role("own", func(path string, ready func()) error {
	o, err := newOwner(path)
	if err != nil {
		return err
	}
	defer o.close()
	ready()
	return nil
})
