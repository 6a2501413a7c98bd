package execution

import (
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Waits that overlap count once. Time in which no process had the run does not count again as a wait.
func TestWaitedCountsOnce(t *testing.T) {
	start := time.UnixMicro(0)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	intent := func(key string, m int) journal.Event {
		return journal.Event{At: at(m), Kind: patterns.IntentEvent, Key: key, Body: journal.IntentBody{Kind: patterns.HumanEffect, Name: "approve"}}
	}
	outcome := func(key string, m int) journal.Event {
		return journal.Event{At: at(m), Kind: patterns.OutcomeEvent, Key: key, Body: journal.OutcomeBody{State: patterns.OK}}
	}
	note := func(m int) journal.Event {
		return journal.Event{At: at(m), Kind: patterns.NoteEvent, Body: journal.NoteBody{What: NoteTakeover}}
	}
	for name, tt := range map[string]struct {
		events []journal.Event
		want   int // minutes, with those in nobody's hands
	}{
		"one":                   {[]journal.Event{intent("a", 1), outcome("a", 4)}, 3},
		"one after the other":   {[]journal.Event{intent("a", 1), outcome("a", 4), intent("b", 5), outcome("b", 7)}, 5},
		"at the same time":      {[]journal.Event{intent("a", 1), intent("b", 2), outcome("a", 4), outcome("b", 7)}, 6},
		"one within another":    {[]journal.Event{intent("a", 1), intent("b", 2), outcome("b", 4), outcome("a", 7)}, 6},
		"in nobody's hands too": {[]journal.Event{intent("a", 1), note(4), outcome("a", 7)}, 6},
		"still":                 {[]journal.Event{intent("a", 1), outcome("a", 4), intent("b", 5)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			h := Remember(append([]journal.Event{{At: start, Body: journal.StartBody{}}}, tt.events...))
			if got, want := h.Rested(), time.Duration(tt.want)*time.Minute; got != want {
				t.Errorf("waited %s, want %s", got, want)
			}
		})
	}
}
