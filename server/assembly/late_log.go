package assembly

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// lateLog is a log handler that gets its destination later. Tools are made while the configuration is read, and the
// configuration says how to log. Until then it drops all lines. It is safe for concurrent use.
type lateLog struct{ to *atomic.Pointer[slog.Logger] }

func newLateLog() lateLog { return lateLog{&atomic.Pointer[slog.Logger]{}} }

func (l lateLog) logger() *slog.Logger { return slog.New(l) }

// Enabled implements [slog.Handler].
func (l lateLog) Enabled(ctx context.Context, level slog.Level) bool {
	to := l.to.Load()
	return to != nil && to.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (l lateLog) Handle(ctx context.Context, r slog.Record) error {
	if to := l.to.Load(); to != nil {
		return to.Handler().Handle(ctx, r)
	}
	return nil
}

// WithAttrs implements [slog.Handler]. It ignores the attributes: each line here has all its attributes itself.
func (l lateLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements [slog.Handler].
func (l lateLog) WithGroup(string) slog.Handler { return l }
