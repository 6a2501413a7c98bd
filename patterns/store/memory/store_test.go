package memory_test

import (
	"testing"

	"patterngate/patterns/store"
	"patterngate/patterns/store/memory"
	"patterngate/patterns/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s := memory.New(memory.Limits{})
		t.Cleanup(s.Close)
		return s
	})
}
