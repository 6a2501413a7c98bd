package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"
)

// Secret is a text that is read when it is first needed, and never shown. It is safe for concurrent use.
type Secret interface {
	// Text returns the secret and reads it at the first call. The error contains no part of it; the tool is then
	// [NotSent].
	Text(ctx context.Context) (string, error)
	// Forget makes the next Text read the secret again, for example after a 401 or a reload.
	Forget()
	// String returns *** for every secret.
	String() string
}

// Bounds of a secret.
const (
	maxSecret  = 64 << 10         // bytes
	readSecret = 10 * time.Second // for reading it once, however many wait
)

// These are the faults of a secret's text. They contain no part of it.
var (
	ErrEmptySecret = errors.New(secretEmpty)
	ErrLongSecret  = fmt.Errorf(secretTooLong, maxSecret)
	ErrBinary      = errors.New(secretNotText)
	errReading     = errors.New(secretUnfinished)
)

// NewSecret returns a secret that read fetches when it is first needed, and again after Forget. Goroutines that need it
// at the same time share one read. After a failed read, the next caller tries again.
//
// learned receives each text before any caller does, so that it can be masked; nil means that no function receives it.
// read must not put the secret in its error, and should end when its context ends.
func NewSecret(read func(ctx context.Context) (string, error), learned func(text string)) Secret {
	return &secret{read: read, learned: learned}
}

// secret keeps its text in a function, so that no way of printing it shows the text.
type secret struct {
	read    func(ctx context.Context) (string, error)
	learned func(text string)

	mu      sync.Mutex
	text    func() string // nil: not read, or forgotten
	reading *reading      // the read that is running
}

// reading is one read for which all callers wait that need the secret until it ends.
type reading struct {
	done      chan struct{}
	text      func() string
	err       error
	forgotten bool // the secret was forgotten after the read began: its text is not kept
}

// Text implements [Secret].
func (s *secret) Text(ctx context.Context) (string, error) {
	s.mu.Lock()
	if s.text != nil {
		defer s.mu.Unlock()
		return s.text(), nil
	}
	r := s.reading
	if r == nil || r.forgotten {
		r = &reading{done: make(chan struct{})}
		s.reading = r
		go s.fetch(context.WithoutCancel(ctx), r)
	}
	s.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if r.err != nil {
		return "", r.err
	}
	return r.text(), nil
}

// fetch reads the secret. It continues if the first caller stops waiting, because other callers may wait.
func (s *secret) fetch(ctx context.Context, r *reading) {
	ctx, cancel := context.WithTimeout(ctx, readSecret)
	defer cancel()
	text, err := s.judged(ctx)
	if err == nil && s.learned != nil {
		s.learned(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.text, r.err = func() string { return text }, err
	if s.reading == r {
		s.reading = nil
	}
	if err == nil && !r.forgotten {
		s.text = r.text
	}
	close(r.done)
}

// judged returns the secret that was read, or an error if it is not a text of the right size.
func (s *secret) judged(ctx context.Context) (text string, err error) {
	defer func() {
		if recover() != nil { // the panic's value may contain the secret
			text, err = "", errReading
		}
	}()
	text, err = s.read(ctx)
	switch {
	case err != nil:
		return "", err
	case text == "":
		return "", ErrEmptySecret
	case len(text) > maxSecret:
		return "", ErrLongSecret
	case !utf8.ValidString(text):
		return "", ErrBinary
	}
	return text, nil
}

// Forget implements [Secret].
func (s *secret) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = nil
	if s.reading != nil {
		s.reading.forgotten = true
	}
}

// String implements [Secret].
func (s *secret) String() string { return Masked }

// Format implements [fmt.Formatter]: it writes *** for every verb.
func (s *secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, Masked) }

// MarshalText returns ***, so that every encoding contains *** in place of the secret.
func (s *secret) MarshalText() ([]byte, error) { return []byte(Masked), nil }

// LogValue implements [slog.LogValuer].
func (s *secret) LogValue() slog.Value { return slog.StringValue(Masked) }

var (
	_ Secret        = (*secret)(nil)
	_ fmt.Formatter = (*secret)(nil)
)
