package local

import (
	"context"
	"errors"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// What tests of whole engines do to a state file.

// Full lets the state file take nothing more, or again what is written to it.
func (e *Engine) Full(t testing.TB, is bool) {
	t.Helper()
	e.pragma(t, is, "query_only=1", "query_only=0")
}

// Pages lets the state file have no more pages than it has, or again as many as it wants.
func (e *Engine) Pages(t testing.TB, most bool) {
	t.Helper()
	e.pragma(t, most, "max_page_count=1", "max_page_count=1000000")
}

// pragma sets one in the order of changes: who asked for the lock would come last.
func (e *Engine) pragma(t testing.TB, is bool, yes, no string) {
	t.Helper()
	j := e.file.journal
	if !is {
		j.writing.Lock()
		defer j.writing.Unlock()
		check(t, j.writer.run("PRAGMA "+no))
		return
	}
	_ = j.alter(func(s *session) error { return s.run("PRAGMA " + yes) }) // that of its batch may fail by it
}

// Followed waits as a call does, whose context is over, for the next life of a run of which a life ended that had written, or not.
func (e *Engine) Followed(ctx context.Context, principal, id string, wrote bool) (patterns.Ended, error) {
	l := &life{run: &run{engine: e, id: id, job: patterns.Job{Principal: principal}}, wrote: wrote}
	return e.followed(ctx, l, time.Time{})
}

// Ahead sets the clock of the state file forward, as when the process began so much later.
func (e *Engine) Ahead(d time.Duration) {
	e.file.journal.clock.wall.Add(d.Microseconds())
}

// Alter changes the state file as somebody else may.
func (e *Engine) Alter(t testing.TB, query string, args ...any) {
	t.Helper()
	check(t, e.file.journal.alter(func(s *session) error {
		_, err := s.exec(query, args...)
		return err
	}))
}

// Number is a run's in the state file.
func Number(id string) int64 {
	n, _ := journal.RunNumber(id)
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

// File says whether the engine keeps its runs in a state file.
func (e *Engine) File() bool { return e.file != nil }

// Yield gives up the runs that were taken from the engine, as each time when another process has written.
func (e *Engine) Yield() { e.file.yield() }

// Tidied has the log hold no deleted values, as far as the engine knows: as after its first look.
func (e *Engine) Tidied() { e.file.journal.stale.Store(false) }

// ApprovalNumber is an approval's in the state file.
func ApprovalNumber(id string) int64 {
	n, _ := journal.ApprovalNumber(id)
	return n
}

// AnswerRow answers a question as somebody may who writes into the file.
func (e *Engine) AnswerRow(t testing.TB, id string, answer, args []byte, signature string) {
	t.Helper()
	ap := ApprovalNumber(id)
	e.Alter(t, "UPDATE approvals SET state = 'answered', answer = ?, args = ?, signature = ?, channel = 'cli' WHERE ap = ?", answer, args, signature, ap)
	e.Alter(t, "UPDATE runs SET state = 'ready', epoch = epoch + 1 WHERE n = (SELECT n FROM approvals WHERE ap = ?)", ap)
}

// KeyRow enrols a key as somebody may who writes into the file.
func (e *Engine) KeyRow(t testing.TB, k gateway.PublicKey) {
	t.Helper()
	e.Alter(t, insertKey, k.ID, k.Name, []byte(k.Public), k.Enrolled.Unix(), k.Vouched.Key, k.Vouched.Nonce, k.Vouched.Signature)
}

// Open counts the rows of questions that are open, whatever became of their runs.
func (e *Engine) Open(t testing.TB) (n int) {
	t.Helper()
	check(t, e.file.journal.look(func(s *session) error {
		return s.each(func(row func(...any) error) error { return row(&n) }, "SELECT count(*) FROM approvals WHERE state = 'open'")
	}))
	return n
}

// CarryOn takes a run up, and tells what it does.
func (e *Engine) CarryOn(t testing.TB, id string, progress func(patterns.Progress)) {
	t.Helper()
	_, err := e.file.claim(Number(id), progress)
	check(t, err)
}

// MaxAttempts is how many refused attempts at one question are recorded.
const MaxAttempts = maxAttempts

// TakesAnswer says whether the row of a question would take an answer about a digest now, and takes it back.
func (e *Engine) TakesAnswer(t testing.TB, id, digest string) (taken bool) {
	t.Helper()
	err := e.file.journal.alter(func(s *session) error {
		changed, err := s.exec(updateAnswered, []byte("{}"), nil, "", "cli", ApprovalNumber(id), digest, e.file.journal.now().UnixMicro())
		taken = changed > 0
		if err != nil {
			return err
		}
		return errNo
	})
	if !store.IsRefused(err) {
		t.Fatal(err)
	}
	return taken
}

// Count is the number that a query of the state file gives.
func (e *Engine) Count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	check(t, e.file.journal.look(func(s *session) error {
		return s.each(func(row func(...any) error) error { return row(&n) }, query, args...)
	}))
	return n
}

// alter changes the state file as somebody else may.
func (j *stateDB) alter(f func(*session) error) error { return j.do(&store.Change{Steps: raw(f)}) }

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
func (j *stateDB) look(f func(*session) error) error {
	return j.view(func(r store.Reader) error { return f(r.(*session)) })
}
