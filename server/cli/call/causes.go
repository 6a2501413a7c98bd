package call

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// Causes keeps the last cause of a failed call of each run, as the log gets it at level debug: with secrets masked. It is
// for a person at this machine only. The zero Causes is empty. It is safe for concurrent use.
type Causes struct {
	mu   sync.Mutex
	last map[string]string // by run id
}

// Of returns the last cause of a run, in one line without repeated parts. It returns "" if there is none.
func (c *Causes) Of(run string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var parts []string
	for part := range strings.SplitSeq(c.last[run], ": ") {
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Noting returns a log handler that passes on what h takes, and keeps the causes of faults of any level.
func (c *Causes) Noting(h slog.Handler) slog.Handler { return notingLog{h, c} }

// note keeps the cause of a log line about a fault.
func (c *Causes) note(r slog.Record) {
	id, cause := "", ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "id":
			id = a.Value.String()
		case "cause":
			cause = a.Value.String()
		}
		return true
	})
	run, _, ofRun := strings.Cut(id, "/")
	if !ofRun || cause == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.last = map[string]string{}
	}
	c.last[run] = cause
}

// notingLog is a log handler that also keeps the causes of faults.
type notingLog struct {
	slog.Handler
	causes *Causes
}

// Enabled implements [slog.Handler]. The cause of a failed call has level debug.
func (notingLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (l notingLog) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "fault" && r.Level <= slog.LevelDebug { // an error is in the log already
		l.causes.note(r)
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (l notingLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return notingLog{l.Handler.WithAttrs(attrs), l.causes}
}

// WithGroup implements [slog.Handler].
func (l notingLog) WithGroup(name string) slog.Handler {
	return notingLog{l.Handler.WithGroup(name), l.causes}
}
