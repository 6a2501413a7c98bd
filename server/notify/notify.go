package notify

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
)

// Mode says how people are woken. The zero Mode is [Off].
type Mode string

// The modes.
const (
	Off  Mode = "off"  // not at all
	Auto Mode = "auto" // by the desktop, where there is one
	Exec Mode = "exec" // by a program of the owner's
)

const (
	gatherFor    = 500 * time.Millisecond // questions that come this close together are one notification
	desktopPause = 5 * time.Second        // between two notifications of the desktop
	timeLimit    = 10 * time.Second       // of one notification
	closeGrace   = 2 * time.Second        // of the last one, when the server ends
)

// Config says how people are notified. With the zero Config, no one is notified.
type Config struct {
	Mode    Mode
	Exec    []string // of mode [Exec]: the program and its arguments; none: as [Off]
	Environ []string // as os.Environ gives it; a program sees the [Variables] in it; nil: none
	// URL is the inbox's address, such as http://127.0.0.1:8766, "" while there is none. Nil: there is none.
	URL func() string
	// Waiting is how many questions wait in all, see [patterns.Approvals]. Nil, or an error: as many as this was told of.
	Waiting func() (int, error)
	Log     *slog.Logger // nil: failures are not logged
}

// Notifier notifies people, one notification at a time. It has no goroutine and no process while there is no question.
// It is safe for concurrent use. A nil Notifier does nothing.
type Notifier struct {
	config Config
	tell   func(context.Context, batch) error
	pause  time.Duration
	ctx    context.Context // ends a notification that Close waits for no longer
	cancel context.CancelFunc
	logged map[kind]bool // of the goroutine that tells
	done   sync.WaitGroup

	mu     sync.Mutex
	next   batch
	busy   bool // a goroutine gathers or tells
	closed chan struct{}
	over   bool
}

// batch is what one notification tells of.
type batch struct {
	calls []Call // the first ones; at most maxCalls
	asked int
	// Set when the event is sent:
	waiting int
	base    string // of the inbox
}

// New makes a notifier. It is closed by [Notifier.Close].
func New(c Config) *Notifier {
	return newNotifier(c, desk{goos: runtime.GOOS, environ: c.Environ, runtimeDir: "/run/user/" + strconv.Itoa(os.Getuid())})
}

func newNotifier(c Config, d desk) *Notifier {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	n := &Notifier{config: c, logged: map[kind]bool{}, closed: make(chan struct{})}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	switch {
	case c.Mode == Auto:
		n.tell, n.pause = d.show, desktopPause
	case c.Mode == Exec && len(c.Exec) > 0:
		h := hook{argv: c.Exec, env: environment(d.goos, c.Environ)}
		n.tell, n.pause = h.call, gatherFor
	}
	return n
}

// Asked tells of a question that was just put to a person. It returns at once; after Close it does nothing.
func (n *Notifier) Asked(a patterns.Asked) {
	if n == nil || n.tell == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.over {
		return
	}
	n.next.asked++
	if len(n.next.calls) < maxCalls {
		n.next.calls = append(n.next.calls, callOf(a))
	}
	if !n.busy {
		n.busy = true
		n.done.Go(n.work)
	}
}

// Close tells what is still to be told, at once, and returns when that is done: within about 3 seconds, since what takes
// longer is killed.
func (n *Notifier) Close() {
	if n == nil {
		return
	}
	n.mu.Lock()
	if !n.over {
		n.over = true
		close(n.closed)
	}
	n.mu.Unlock()
	grace := time.AfterFunc(closeGrace, n.cancel)
	n.done.Wait()
	grace.Stop()
	n.cancel()
}

// work tells what there is until there is no more.
func (n *Notifier) work() {
	for wait := gatherFor; ; wait = n.pause {
		select {
		case <-time.After(wait):
		case <-n.closed:
		}
		b, some := n.take()
		if !some {
			return
		}
		if b = n.known(b); b.waiting > 0 {
			ctx, cancel := context.WithTimeoutCause(n.ctx, timeLimit, errLate)
			n.log(b, n.tell(ctx, b))
			cancel()
		}
	}
}

var errLate = errors.New(tookTooLong)

// take returns what to report now. It returns false if there is nothing, and the goroutine ends.
func (n *Notifier) take() (batch, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := n.next
	n.next = batch{}
	n.busy = b.asked > 0
	return b, n.busy
}

// known adds what is known only when the event is sent. If all questions were decided before that, none waits.
func (n *Notifier) known(b batch) batch {
	b.waiting = b.asked
	if n.config.Waiting != nil {
		if waiting, err := n.config.Waiting(); err == nil {
			b.waiting = waiting
		}
	}
	if n.config.URL != nil {
		b.base = n.config.URL()
	}
	return b
}

// log writes the line of a failure, once for each kind.
func (n *Notifier) log(b batch, err error) {
	var f *failure
	if !errors.As(err, &f) || n.logged[f.kind] || n.ctx.Err() != nil {
		return
	}
	n.logged[f.kind] = true
	if f.kind == noDesktop {
		n.config.Log.Debug(noDesktopHere, "reason", shown(f.Error(), maxText), "stderr", shown(strings.TrimSpace(f.stderr), maxStderr))
		return
	}
	n.config.Log.Warn(notificationFailed,
		"kind", string(f.kind), "program", shown(f.program, maxText), "error", shown(f.Error(), maxText), "stderr", shown(strings.TrimSpace(f.stderr), maxStderr), "asked", b.asked)
}

// shown is an outsider's text fit for a log or a terminal, of at most about so many bytes.
func shown(text string, bytes int) string {
	whole := len(text) <= bytes
	text = printable.Text(ijson.Cut(text, bytes))
	if whole && len(text) <= bytes {
		return text
	}
	return ijson.Cut(text, bytes) + "…"
}
