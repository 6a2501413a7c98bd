package upstream

import (
	"testing"
	"testing/synctest"
	"time"
)

// A server whose tools change all the time is told of now and then; after a quiet minute it is told of at once again, and the
// last change is never kept back for good.
func TestFlappingToolsAreToldNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		s := NewServer(ServerConfig{Name: "flaps", Changed: func(string) { told++ }})
		s.tell()
		synctest.Wait()
		if told != 1 {
			t.Errorf("told %d times of one change", told)
		}
		const span = 10 * time.Minute
		for range span / listPause {
			s.tell()
			time.Sleep(listPause)
			synctest.Wait()
		}
		if most := 1 + 10 + int(span/longestPause); told > most || told < int(span/longestPause) {
			t.Errorf("told %d times in %v, want at most %d", told, span, most)
		}
		before := told
		s.tell()
		time.Sleep(longestPause)
		synctest.Wait()
		if told != before+1 {
			t.Errorf("told %d times of the last change", told-before)
		}
		time.Sleep(2 * quietAfter)
		s.tell()
		synctest.Wait()
		if told != before+2 {
			t.Error("after a quiet minute it is not told of at once")
		}
		s.tell()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if told != before+2 {
			t.Error("a closed server told of a change that waited")
		}
	})
}

// Whoever is told may take his time, and hears of what changed meanwhile afterwards.
func TestTellingWaitsForWhoIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, at := 0, 0
		s := NewServer(ServerConfig{Name: "slow", Changed: func(string) {
			told, at = told+1, at+1
			time.Sleep(time.Hour)
			at--
		}})
		for range 3 {
			s.tell()
			time.Sleep(time.Minute)
			synctest.Wait()
			if told != 1 || at != 1 {
				t.Errorf("told %d times, %d at once", told, at)
			}
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if told != 2 || at != 0 {
			t.Errorf("told %d times in the end, and %d go on", told, at)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
