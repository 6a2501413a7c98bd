package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/resilience"
)

// says is a tool that ends with err, and counts.
func says(calls *int, err error) catalog.Func {
	return func(context.Context, catalog.Call) (any, error) {
		*calls++
		return "v", err
	}
}

func fault(kind catalog.FaultKind, cause error) error {
	return &catalog.Fault{Kind: kind, Cause: cause}
}

// local is a fault of our own side.
type local struct{}

func (local) Error() string { return "no secret" }
func (local) Local() bool   { return true }

// turnedAway demands that a call did not reach its tool, for a reason.
func turnedAway(t *testing.T, err, why error) *catalog.Fault {
	t.Helper()
	f, ok := errors.AsType[*catalog.Fault](err)
	if !ok || f.Kind != catalog.NotSent || !errors.Is(err, why) {
		t.Fatalf("got %v, want not_sent: %v", err, why)
	}
	return f
}

// Which outcomes open the breaker: what says that the server does not answer, and nothing else.
func TestWhatCounts(t *testing.T) {
	errLost := errors.New("lost")
	for name, tt := range map[string]struct {
		err   error
		opens bool
	}{
		"result":           {nil, false},
		"declined":         {fault(catalog.Declined, errLost), false},
		"plain error":      {errLost, false},
		"unreadable":       {fault(catalog.Unreadable, errLost), false},
		"not sent, ours":   {fault(catalog.NotSent, fmt.Errorf("tool: %w", local{})), false},
		"not sent":         {fault(catalog.NotSent, errLost), true},
		"timed out":        {fault(catalog.TimedOut, errLost), true},
		"no answer":        {fmt.Errorf("tool: %w", fault(catalog.NoAnswer, errLost)), true},
		"plain time-out":   {context.DeadlineExceeded, true},
		"plain, cancelled": {context.Canceled, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			g := resilience.New(resilience.Config{Failures: 3, Open: 30 * time.Second})
			do := g.Wrap(says(&calls, tt.err), resilience.Rate{})
			for i := range 3 {
				if open, _ := g.Open(); open {
					t.Errorf("%s: open after %d calls", name, i)
				}
				if _, err := do(t.Context(), catalog.Call{}); !errors.Is(err, tt.err) {
					t.Errorf("%s: %v, want it handed on", name, err)
				}
			}
			open, until := g.Open()
			if open != tt.opens || open && !until.Equal(time.Now().Add(30*time.Second)) {
				t.Errorf("%s: open %v until %v, want %v", name, open, until, tt.opens)
			}
			_, err := do(t.Context(), catalog.Call{})
			if tt.opens {
				if f := turnedAway(t, err, resilience.ErrOpen); f.After != 30*time.Second || f.Again {
					t.Errorf("%s: after %v, again %v; want 30s, not again", name, f.After, f.Again)
				}
			}
			if want := map[bool]int{true: 3, false: 4}[tt.opens]; calls != want {
				t.Errorf("%s: %d calls reached the tool, want %d", name, calls, want)
			}
		})
	}
}

// An answer between failures restarts the count: only failures in a row open the breaker.
func TestInARow(t *testing.T) {
	g := resilience.New(resilience.Config{Failures: 2, Open: time.Second})
	calls := 0
	bad, good := g.Wrap(says(&calls, fault(catalog.NoAnswer, errors.New("x"))), resilience.Rate{}), g.Wrap(says(&calls, nil), resilience.Rate{})
	for range 5 {
		_, _ = bad(t.Context(), catalog.Call{})
		if _, err := good(t.Context(), catalog.Call{}); err != nil {
			t.Fatalf("one failure opened the breaker: %v", err)
		}
	}
}

// A caller who left says nothing of the server.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	entered, stop := context.WithCancel(t.Context())
	g := resilience.New(resilience.Config{Failures: 1, Open: time.Second, MaxParallel: 1})
	do := g.Wrap(func(ctx context.Context, _ catalog.Call) (any, error) {
		stop()
		return nil, fault(catalog.NoAnswer, ctx.Err())
	}, resilience.Rate{})
	if _, err := do(entered, catalog.Call{}); err == nil {
		t.Error("no error")
	}
	if open, _ := g.Open(); open {
		t.Error("a caller who left opened the breaker")
	}
	_, err := do(ctx, catalog.Call{})
	turnedAway(t, err, context.Canceled)
}

// When the time is over one call is let through: its success closes the breaker, its failure opens it again, and one that
// shows nothing leaves the next to try.
func TestHalfOpen(t *testing.T) {
	lost := fault(catalog.NoAnswer, errors.New("lost"))
	for name, tt := range map[string]struct {
		probe  error
		closed bool // afterwards
		again  bool // one more call is let through
	}{
		"answer":   {nil, true, true},
		"declined": {fault(catalog.Declined, errors.New("no")), true, true},
		"failure":  {lost, false, false},
		"nothing":  {fault(catalog.NotSent, local{}), false, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := resilience.New(resilience.Config{Failures: 2, Open: 10 * time.Second})
			calls, probes := 0, 0
			bad := g.Wrap(says(&calls, lost), resilience.Rate{})
			_, _ = bad(t.Context(), catalog.Call{})
			_, _ = bad(t.Context(), catalog.Call{})
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if open, _ := g.Open(); open {
				t.Fatalf("%s: still open after its time", name)
			}
			release := make(chan struct{})
			slow := g.Wrap(func(context.Context, catalog.Call) (any, error) {
				probes++
				<-release
				return nil, tt.probe
			}, resilience.Rate{})
			var all sync.WaitGroup
			all.Go(func() { _, _ = slow(t.Context(), catalog.Call{}) })
			synctest.Wait()
			_, err := slow(t.Context(), catalog.Call{}) // the probe is under way
			turnedAway(t, err, resilience.ErrOpen)
			close(release)
			all.Wait()
			if probes != 1 {
				t.Errorf("%s: %d calls were let through, want one", name, probes)
			}
			before := calls
			_, err = bad(t.Context(), catalog.Call{})
			if (calls > before) != tt.again {
				t.Errorf("%s: then %v, want a call let through: %v", name, err, tt.again)
			}
			if open, _ := g.Open(); open == tt.closed { // closed: one failure of two; else the failure opened it again
				t.Errorf("%s: open %v, want %v", name, open, !tt.closed)
			}
		})
	}
}

// A panic counts, passes on and leaves no place taken.
func TestPanic(t *testing.T) {
	g := resilience.New(resilience.Config{Failures: 1, Open: time.Second, MaxParallel: 1})
	do := g.Wrap(func(context.Context, catalog.Call) (any, error) { panic("broken") }, resilience.Rate{})
	func() {
		defer func() {
			if recover() != "broken" {
				t.Error("the panic did not pass on")
			}
		}()
		_, _ = do(t.Context(), catalog.Call{})
	}()
	_, err := do(t.Context(), catalog.Call{})
	turnedAway(t, err, resilience.ErrOpen)
}

// No more calls than may be are under way; the others wait as long as they have time.
func TestMaxParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := resilience.New(resilience.Config{MaxParallel: 2})
		var mu sync.Mutex
		running, most := 0, 0
		do := g.Wrap(func(context.Context, catalog.Call) (any, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return "v", nil
		}, resilience.Rate{})
		start := time.Now()
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := do(t.Context(), catalog.Call{}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		_, err := do(ctx, catalog.Call{})
		turnedAway(t, err, resilience.ErrBusy)
		all.Wait()
		if took := time.Since(start); most != 2 || took != 3*time.Second {
			t.Errorf("%d at once, %v in all; want 2 and 3s", most, took)
		}
	})
}

// Calls wait for their turn, and are turned away at once when it cannot come before their deadline.
func TestRate(t *testing.T) {
	for name, tt := range map[string]struct {
		rate  resilience.Rate
		calls int
		took  time.Duration
	}{
		"no limit":        {resilience.Rate{}, 100, 0},
		"burst is calls":  {resilience.Rate{Calls: 3, Per: 30 * time.Second}, 9, time.Minute},
		"a smaller burst": {resilience.Rate{Calls: 3, Burst: 1, Per: 30 * time.Second}, 4, 30 * time.Second},
		"a larger burst":  {resilience.Rate{Calls: 3, Burst: 6, Per: 30 * time.Second}, 12, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			do := resilience.New(resilience.Config{}).Wrap(says(&calls, nil), tt.rate)
			start := time.Now()
			for range tt.calls {
				if _, err := do(t.Context(), catalog.Call{}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if took := time.Since(start); took != tt.took {
				t.Errorf("%s: %d calls took %v, want %v", name, calls, took, tt.took)
			}
		})
	}
}

func TestOverTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		g := resilience.New(resilience.Config{})
		do := g.Wrap(says(&calls, nil), resilience.Rate{Calls: 1, Per: time.Minute})
		other := g.Wrap(says(&calls, nil), resilience.Rate{Calls: 1, Per: time.Minute})
		none := g.Wrap(says(&calls, nil), resilience.Rate{Calls: 0, Per: time.Minute})
		_, _ = do(t.Context(), catalog.Call{})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := do(ctx, catalog.Call{})
		turnedAway(t, err, resilience.ErrRate)
		if time.Since(start) != 0 {
			t.Errorf("it waited %v for a turn that could not come", time.Since(start))
		}
		if _, err := other(ctx, catalog.Call{}); err != nil {
			t.Errorf("the other tool has a rate of its own: %v", err)
		}
		_, err = none(ctx, catalog.Call{})
		turnedAway(t, err, resilience.ErrRate)
		left, leave := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, leave)
		_, err = do(left, catalog.Call{})
		turnedAway(t, err, context.Canceled)
		if time.Since(start) != 5*time.Second || calls != 2 {
			t.Errorf("who left waited %v, %d calls; want 5s and 2", time.Since(start), calls)
		}
	})
}

// An open breaker turns away before the rate counts a call.
func TestOpenTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		g := resilience.New(resilience.Config{Failures: 1, Open: time.Second})
		bad := g.Wrap(says(&calls, fault(catalog.NoAnswer, errors.New("x"))), resilience.Rate{})
		good := g.Wrap(says(&calls, nil), resilience.Rate{Calls: 1, Per: time.Hour})
		_, _ = bad(t.Context(), catalog.Call{})
		for range 3 {
			_, err := good(t.Context(), catalog.Call{})
			turnedAway(t, err, resilience.ErrOpen)
		}
		time.Sleep(time.Second)
		if _, err := good(t.Context(), catalog.Call{}); err != nil {
			t.Errorf("the turn was taken by calls that were turned away: %v", err)
		}
	})
}

func BenchmarkWrap(b *testing.B) {
	calls := 0
	do := resilience.New(resilience.Config{Failures: 5, Open: time.Second, MaxParallel: 8}).Wrap(says(&calls, nil), resilience.Rate{Calls: 1 << 30, Per: time.Second})
	b.ReportAllocs()
	for b.Loop() {
		_, _ = do(b.Context(), catalog.Call{})
	}
}
