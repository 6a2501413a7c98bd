package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// asked is a question as the engine tells of it.
func asked(id string) patterns.Asked {
	since := time.Date(2026, 3, 1, 12, 0, 0, 250_000_000, time.UTC)
	return patterns.Asked{
		ID: id, Question: gateway.Question{Run: "run_0123456789abcdef", Tool: "issue_refund", Expires: since.Add(24 * time.Hour).Truncate(time.Second)},
		Pattern: "supervised_refund", Phrase: "refunding 1200.00 USD to user 42", Rule: "high_refund_requires_human",
		Least: gateway.UserAssurance, Since: since, State: patterns.AskedOpen,
	}
}

// told is a notifier that tells a function instead of a person.
func told(c Config, pause time.Duration, tell func(context.Context, batch) error) *Notifier {
	n := newNotifier(c, desk{})
	n.tell, n.pause = tell, pause
	return n
}

// heard keeps what was told, and when.
type heard struct {
	mu   sync.Mutex
	said []string
}

func (h *heard) tell(_ context.Context, b batch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, fmt.Sprintf("%s: %d asked, %d waiting, %d kept, first %s", time.Now().Format("05.0"), b.asked, b.waiting, len(b.calls), b.calls[0].ApprovalID))
	return nil
}

func (h *heard) want(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got, want := strings.Join(h.said, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
}

func TestBurstIsOneNotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		n := told(Config{}, desktopPause, h.tell)
		for i := range 1000 {
			n.Asked(asked(fmt.Sprintf("ap_%d", i)))
		}
		time.Sleep(time.Second) // the first is told at 0.5 s; the next ones are gathered
		n.Asked(asked("ap_next"))
		time.Sleep(2 * time.Second)
		n.Asked(asked("ap_last"))
		time.Sleep(time.Minute)
		n.Asked(asked("ap_alone"))
		time.Sleep(time.Minute)
		synctest.Wait()
		h.want(t, "00.5: 1000 asked, 1000 waiting, 20 kept, first ap_0", "05.5: 2 asked, 2 waiting, 2 kept, first ap_next", "03.5: 1 asked, 1 waiting, 1 kept, first ap_alone")
		n.Close()
	})
}

func TestOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, times int
		n := told(Config{}, gatherFor, func(context.Context, batch) error {
			running, times = running+1, times+1
			most = max(most, running)
			time.Sleep(3 * time.Second)
			running--
			return nil
		})
		for range 100 {
			n.Asked(asked("ap_1"))
			time.Sleep(100 * time.Millisecond)
		}
		n.Close()
		if most != 1 || times < 3 {
			t.Errorf("at most %d at once in %d notifications, want 1 in 3 or more", most, times)
		}
	})
}

// What was decided while questions were gathered wakes nobody; what cannot be counted is what was told of.
func TestHowManyWait(t *testing.T) {
	for name, tt := range map[string]struct {
		waiting int
		err     error
		want    []string
	}{
		"more than were asked here": {waiting: 7, want: []string{"00.5: 1 asked, 7 waiting, 1 kept, first ap_1"}},
		"decided meanwhile":         {waiting: 0},
		"not to be counted":         {err: errors.New("database is closed"), want: []string{"00.5: 1 asked, 1 waiting, 1 kept, first ap_1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h heard
				n := told(Config{Waiting: func() (int, error) { return tt.waiting, tt.err }}, gatherFor, h.tell)
				n.Asked(asked("ap_1"))
				time.Sleep(time.Second)
				n.Close()
				h.want(t, tt.want...)
			})
		})
	}
}

func TestTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		n := told(Config{}, gatherFor, func(ctx context.Context, _ batch) error {
			began := time.Now()
			<-ctx.Done()
			took = time.Since(began)
			return nil
		})
		n.Asked(asked("ap_1"))
		time.Sleep(time.Minute)
		n.Close()
		if took != 10*time.Second {
			t.Errorf("a notification had %v, want 10 s", took)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		n := told(Config{}, desktopPause, h.tell)
		n.Asked(asked("ap_1"))
		n.Close() // tells at once
		n.Asked(asked("ap_2"))
		n.Close()
		time.Sleep(time.Minute)
		h.want(t, "00.0: 1 asked, 1 waiting, 1 kept, first ap_1")

		began := time.Now()
		slow := told(Config{}, desktopPause, func(ctx context.Context, _ batch) error { <-ctx.Done(); return ctx.Err() })
		slow.Asked(asked("ap_1"))
		slow.Close()
		if took := time.Since(began); took != closeGrace {
			t.Errorf("Close took %v, want %v", took, closeGrace)
		}
	})
}

// A mode that wakes nobody starts nothing; neither does a notifier that is nil.
func TestOff(t *testing.T) {
	for name, c := range map[string]Config{"zero": {}, "off": {Mode: Off}, "exec of nothing": {Mode: Exec}, "unknown": {Mode: "loud"}} {
		n := New(c)
		n.Asked(asked("ap_1"))
		if n.busy || n.next.asked != 0 {
			t.Errorf("%s: busy %v with %d questions, want idle", name, n.busy, n.next.asked)
		}
		n.Close()
	}
	var none *Notifier
	none.Asked(asked("ap_1"))
	none.Close()
}

func TestFailuresAreLoggedOncePerKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		errs := []error{
			&failure{exited, "ding", errors.New("exit status 3"), "no\x1b[31m bell\u202e" + strings.Repeat("x", 5000)},
			&failure{exited, "ding", errors.New("exit status 4"), ""},
			nil,
			&failure{late, "ding", errLate, ""},
			&failure{late, "ding", errLate, ""},
			&failure{noDesktop, "notify-send", errors.New("no DISPLAY"), ""},
		}
		n := told(Config{Log: slog.New(slog.NewJSONHandler(&log, nil))}, gatherFor, func(context.Context, batch) error {
			err := errs[0]
			errs = errs[1:]
			return err
		})
		for range len(errs) {
			n.Asked(asked("ap_1"))
			time.Sleep(2 * time.Second)
		}
		n.Close()
		got := log.String()
		for text, times := range map[string]int{"\n": 2, `"level":"WARN"`: 2, `"kind":"exit"`: 1, `"kind":"timeout"`: 1, "exit status 3": 1, "exit status 4": 0, "DISPLAY": 0, "bell": 1, `\\u001b[31m`: 1, `\\u202e`: 1} {
			if n := strings.Count(got, text); n != times {
				t.Errorf("the log has %q %d times, want %d", text, n, times)
			}
		}
		if len(got) > 2000 {
			t.Errorf("the log has %d bytes, want at most 2000", len(got))
		}
	})
}

func TestAskedFromManyGoroutines(t *testing.T) {
	var total int
	n := told(Config{}, 0, func(_ context.Context, b batch) error { total += b.asked; return nil })
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 20 {
				n.Asked(asked("ap_1"))
			}
		})
	}
	all.Wait()
	n.Close()
	if total != 1000 {
		t.Errorf("%d questions were told of, want 1000", total)
	}
}

func BenchmarkAsked(b *testing.B) {
	n := told(Config{}, desktopPause, func(context.Context, batch) error { return nil })
	defer n.Close()
	a := asked("ap_0123456789abcdef")
	for b.Loop() {
		n.Asked(a)
	}
}
