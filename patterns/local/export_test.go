package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// What tests of whole engines do to a state file.

// Full lets the state file take nothing more, or again what is written to it.
func (e *Engine) Full(t testing.TB, is bool) {
	t.Helper()
	a := e.file.journal.(*ahead)
	if is { // behind what was submitted
		_ = a.Do(&store.Change{})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.full = is
}

// Pages lets the state file have no more pages than it has, or again as many as it wants.
func (e *Engine) Pages(t testing.TB, most bool) {
	t.Helper()
	pages := 1_000_000
	if most {
		pages = 1
	}
	err := e.alter(func(s execer) error {
		_, err := s.Exec(fmt.Sprintf("PRAGMA max_page_count=%d", pages))
		return err
	})
	if !most { // that of its batch may fail by it
		check(t, err)
	}
}

// execer is what a state file is read and written by, whose statements tests choose themselves.
type execer interface {
	Exec(query string, args ...any) (changed int64, err error)
	Each(scan func(row func(...any) error) error, query string, args ...any) error
}

// alter changes the state file as somebody else may.
func (e *Engine) alter(f func(execer) error) error {
	return e.file.journal.Do(&store.Change{Steps: raw(f)})
}

// raw is a step with statements of the test's own. errNo refuses it.
func raw(f func(execer) error) []store.Step {
	return []store.Step{store.WindowHolds{Judge: func(c store.Calls) (bool, error) {
		err := f(c.(execer))
		if errors.Is(err, errNo) {
			return false, nil
		}
		return true, err
	}}}
}

var errNo = errors.New("no")

// look reads one state of the file with statements of the test's own.
func (e *Engine) look(f func(execer) error) error {
	return e.file.journal.View(func(r store.Reader) error { return f(r.(execer)) })
}

// ahead is a state file whose clock tests set forward, and that takes nothing while it is full.
type ahead struct {
	store.Store
	by atomic.Int64 // nanoseconds

	mu     sync.Mutex
	full   bool
	broken map[int64]int64 // epochs of runs of which a change was not taken
}

var errFull = fmt.Errorf("%w: the state file or its directory cannot be written", patterns.ErrJournal)

func (a *ahead) Now() time.Time {
	now := a.Store.Now()
	if by := time.Duration(a.by.Load()); by != 0 {
		if later := time.Now().Add(by).Truncate(time.Microsecond); later.After(now) {
			return later
		}
	}
	return now
}

// refuses is what a change is told while the file is full, and what stands behind it afterwards.
func (a *ahead) refuses(c *store.Change) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.full:
		if a.broken == nil {
			a.broken = map[int64]int64{}
		}
		a.broken[c.Run] = max(a.broken[c.Run], c.Epoch)
	case c.Epoch == 0 || a.broken[c.Run] != c.Epoch:
		return nil
	}
	return errFull
}

func (a *ahead) Do(c *store.Change) error {
	if err := a.refuses(c); err != nil {
		return err
	}
	return a.Store.Do(c)
}

func (a *ahead) Submit(c *store.Change) {
	if err := a.refuses(c); err != nil {
		c.Tell(err)
		return
	}
	a.Store.Submit(c)
}

func (a *ahead) Queue(c *store.Change) (help, hurry func()) {
	if err := a.refuses(c); err != nil {
		c.Tell(err)
		return nil, nil
	}
	return a.Store.Queue(c)
}

func init() {
	open := openFile
	openFile = func(path string, hook func(string)) (store.Store, error) {
		s, err := open(path, hook)
		return &ahead{Store: s}, err
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Followed waits as a call does, whose context is over, for the next life of a run of which a life ended that had written, or not.
func (e *Engine) Followed(ctx context.Context, principal, id string, wrote bool) (patterns.Ended, error) {
	return e.followed(ctx, e.newRun(id, patterns.Job{Caller: patterns.Caller{Principal: principal}}), execution.AtRest{}, wrote, time.Time{})
}

// Ahead sets the clock of the state file forward, as when the process began so much later.
func (e *Engine) Ahead(d time.Duration) { e.file.journal.(*ahead).by.Add(int64(d)) }

// Alter changes the state file as somebody else may.
func (e *Engine) Alter(t testing.TB, query string, args ...any) {
	t.Helper()
	check(t, e.alter(func(s execer) error {
		_, err := s.Exec(query, args...)
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
	return len(e.file.living), len(e.file.outcomes), len(e.file.stuck)
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
func (e *Engine) Tidied() { e.file.journal.Tidy() }

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
	check(t, e.file.journal.Do(&store.Change{Steps: []store.Step{store.AddKey{Key: k}}}))
}

// Open counts the rows of questions that are open, whatever became of their runs.
func (e *Engine) Open(t testing.TB) (n int) {
	t.Helper()
	check(t, e.look(func(s execer) error {
		return s.Each(func(row func(...any) error) error { return row(&n) }, "SELECT count(*) FROM approvals WHERE state = 'open'")
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
const MaxAttempts = 16

// TakesAnswer says whether the row of a question would take an answer about a digest now, and takes it back.
func (e *Engine) TakesAnswer(t testing.TB, id, digest string) bool {
	t.Helper()
	answer := store.AnswerQuestion{Approval: ApprovalNumber(id), Digest: digest, Now: e.file.journal.Now().UnixMicro(), Answer: []byte("{}"), Channel: "cli"}
	back := raw(func(execer) error { return errNo })
	err := e.file.journal.Do(&store.Change{Steps: append([]store.Step{answer}, back...)})
	if !store.IsRefused(err) {
		t.Fatal(err)
	}
	return store.RefusedBy[store.WindowHolds](err)
}

// Count is the number that a query of the state file gives.
func (e *Engine) Count(t testing.TB, query string, args ...any) (n int) {
	t.Helper()
	check(t, e.look(func(s execer) error {
		return s.Each(func(row func(...any) error) error { return row(&n) }, query, args...)
	}))
	return n
}

// CancelRestingOnly notes the cancellation of a run that rests, and does nothing else.
func (e *Engine) CancelRestingOnly(t testing.TB, id string) {
	t.Helper()
	r, _, err := e.file.read(Number(id))
	check(t, err)
	check(t, e.file.journal.Do(&store.Change{Steps: []store.Step{store.CancelResting{N: r.N, Epoch: r.Epoch}}}))
}

// Deliver tells the state file what was delivered.
func (e *Engine) Deliver() { e.file.deliver() }
