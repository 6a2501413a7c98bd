package assembly

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"patterngate/catalog"
	"patterngate/server/settings/tools"
)

// secrets holds the secrets that a configuration refers to. It reads each once and never shows it. It is safe for
// concurrent use.
type secrets struct {
	environ []string
	mask    *catalog.Mask // knows each secret, and replaces it with *** in every text

	mu    sync.Mutex
	known map[string]catalog.Secret // by its reference
}

func newSecrets(environ []string) *secrets {
	return &secrets{environ: environ, mask: &catalog.Mask{}, known: map[string]catalog.Secret{}}
}

// of returns the secret of a reference, or nil for none.
func (s *secrets) of(ref tools.SecretRef) catalog.Secret {
	if !ref.Set() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%q", []any{ref.Env, ref.File, ref.Exec})
	secret, ok := s.known[key]
	if !ok {
		secret = catalog.NewSecret(func(ctx context.Context) (string, error) { return secretAt(ref, ctx, s.environ) }, s.mask.Secret())
		s.known[key] = secret
	}
	return secret
}

// forget makes each secret be read again at its next use, for all that share it.
func (s *secrets) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.known {
		secret.Forget()
	}
}

// masked returns a log handler that shows no secret.
func (s *secrets) masked(h slog.Handler) slog.Handler { return maskedLog{h, s.mask} }

// maskedLog is a log handler that masks secrets.
type maskedLog struct {
	slog.Handler
	mask *catalog.Mask
}

// Handle implements [slog.Handler].
func (m maskedLog) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, m.mask.Text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(m.attr(a))
		return true
	})
	return m.Handler.Handle(ctx, masked)
}

// WithAttrs implements [slog.Handler].
func (m maskedLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = m.attr(a)
	}
	return maskedLog{m.Handler.WithAttrs(masked), m.mask}
}

// WithGroup implements [slog.Handler].
func (m maskedLog) WithGroup(name string) slog.Handler {
	return maskedLog{m.Handler.WithGroup(name), m.mask}
}

func (m maskedLog) attr(a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(m.mask.Text(v))
	case error:
		a.Value = slog.StringValue(m.mask.Text(v.Error()))
	}
	return a
}
