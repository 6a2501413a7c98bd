package sqlite

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestClockNeverFalls(t *testing.T) {
	setBack := newClock(0)
	setBack.wall.Add(time.Hour.Microseconds())
	for name, c := range map[string]*clock{
		"from now on":           newClock(0),
		"a remembered future":   newClock(time.Now().Add(time.Hour).UnixMicro()),
		"the wall was set back": setBack,
	} {
		before := c.Now()
		if early := time.Now().Add(59 * time.Minute); name != "from now on" && before.Before(early) {
			t.Errorf("%s: it is %v, want an hour from now", name, before)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				last := before
				for range 1000 {
					now := c.Now()
					if now.Before(last) || now.Nanosecond()%1000 != 0 {
						t.Errorf("%s: %v after %v", name, now, last)
					}
					last = now
				}
			})
		}
		wg.Wait()
	}
}

func TestClockFollowsTheWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock(time.Now().Add(time.Hour).UnixMicro())
		at := c.Now()
		time.Sleep(30 * time.Minute)
		if got := c.Now(); !got.Equal(at) {
			t.Errorf("half an hour before the remembered time: %v, want it still: %v", got, at)
		}
		time.Sleep(72 * time.Hour)
		if got := c.Now(); !got.Equal(time.Now()) {
			t.Errorf("after it: %v, want the wall's %v", got, time.Now())
		}
	})
}
