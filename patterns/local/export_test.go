package local

import (
	"testing"
	"time"
)

// What tests of whole engines do to a state file.

// Full lets the state file take nothing more, or again what is written to it.
func (e *Engine) Full(t testing.TB, is bool) {
	t.Helper()
	pragma := "PRAGMA query_only=0"
	if is {
		pragma = "PRAGMA query_only=1"
	}
	j := e.file.journal
	j.writing.Lock()
	defer j.writing.Unlock()
	check(t, j.writer.run(pragma))
}

// Ahead sets the clock of the state file forward, as when the process began so much later.
func (e *Engine) Ahead(d time.Duration) {
	c := e.file.journal.clock
	c.wall += d.Microseconds()
}

// Alter changes the state file as somebody else may.
func (e *Engine) Alter(t testing.TB, query string, args ...any) {
	t.Helper()
	check(t, e.file.journal.do(&change{also: func(s *session) error {
		_, err := s.exec(query, args...)
		return err
	}}))
}

// Number is a run's in the state file.
func Number(id string) int64 {
	n, _ := numberOf(id)
	return n
}

// Held counts what an engine holds of runs: lives, outcomes that could not be recorded, and runs that cannot go on.
func (e *Engine) Held() (lives, outcomes, stuck int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.file.lives), len(e.file.outcomes), len(e.file.stuck)
}

// Waiters counts the runs that somebody waits for.
func (e *Engine) Waiters() int {
	e.waiters.mu.Lock()
	defer e.waiters.mu.Unlock()
	return len(e.waiters.by)
}

// Pages makes the state file as large as it is the most that it may be, or lets it grow again.
func (e *Engine) Pages(t testing.TB, most bool) { full(t, e.file.journal, most) }
