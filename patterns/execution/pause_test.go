package execution

import (
	"testing"
	"time"

	"patterngate/patterns"
)

// A pause that is over before it begins is over: its time-out is none, and nothing else would end it.
func TestPausesThatAreOver(t *testing.T) {
	for pause, want := range map[time.Duration]bool{-time.Second: true, 0: true, time.Nanosecond: false} {
		out, over := here(patterns.Effect{Act: patterns.PauseAct{}, Name: "sleep", Timeout: pause})
		if over != want || over && out.State != patterns.OK {
			t.Errorf("a pause of %v is over at once: %v, %+v; want %v", pause, over, out, want)
		}
	}
}
