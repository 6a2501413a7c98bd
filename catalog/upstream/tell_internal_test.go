package upstream

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Changes of a server whose tools change all the time are told now and then; after a quiet minute they are told at once again, and the
// last change is never kept back for good.
func TestFlappingToolsAreToldNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int64
		s := NewServer(ServerConfig{Name: "flaps", Changed: func(string) { told.Add(1) }})
		s.tell()
		synctest.Wait()
		if told.Load() != 1 {
			t.Errorf("told %d times of one change", told.Load())
		}
		const span = 10 * time.Minute
		for range span / listPause {
			s.tell()
			time.Sleep(listPause)
			synctest.Wait()
		}
		if most := 1 + 10 + int64(span/longestPause); told.Load() > most || told.Load() < most/2 {
			t.Errorf("told %d times in %v, want at most %d", told.Load(), span, most)
		}
		before := told.Load()
		s.tell()
		time.Sleep(longestPause)
		synctest.Wait()
		if told.Load() != before+1 {
			t.Errorf("told %d times of the last change", told.Load()-before)
		}
		time.Sleep(2 * quietAfter)
		s.tell()
		synctest.Wait()
		if told.Load() != before+2 {
			t.Error("after a quiet minute it is not told of at once")
		}
		s.tell()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if told.Load() != before+2 {
			t.Error("a closed server told of a change that waited")
		}
	})
}

// A listener can take its time. It hears afterwards of what changed meanwhile.
func TestTellingWaitsForWhoIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told, at atomic.Int64
		s := NewServer(ServerConfig{Name: "slow", Changed: func(string) {
			told.Add(1)
			at.Add(1)
			time.Sleep(time.Hour)
			at.Add(-1)
		}})
		for range 3 {
			s.tell()
			time.Sleep(time.Minute)
			synctest.Wait()
			if told.Load() != 1 || at.Load() != 1 {
				t.Errorf("told %d times, %d at once", told.Load(), at.Load())
			}
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if told.Load() != 2 || at.Load() != 0 {
			t.Errorf("told %d times in the end, and %d go on", told.Load(), at.Load())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
