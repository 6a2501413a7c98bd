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
	// Text returns the secret, reading it at the first call. Its error quotes nothing of it; the tool is then [NotSent].
	Text(ctx context.Context) (string, error)
	// Forget has the next Text read it again: after a 401, or a reload.
	Forget()
	// String is *** for every secret.
	String() string
}

// Bounds of a secret.
const (
	maxSecret  = 64 << 10         // bytes
	readSecret = 10 * time.Second // for reading it once, whoever waits
)

// Faults of a secret's text, which they do not quote.
var (
	ErrEmptySecret = errors.New("the secret is empty")
	ErrLongSecret  = fmt.Errorf("the secret is longer than %d bytes", maxSecret)
	ErrBinary      = errors.New("the secret is no text (UTF-8)")
	errReading     = errors.New("reading the secret broke off")
)

// NewSecret is a secret that read fetches: when it is first needed, once for all who need it then, and again after Forget. A
// failed read is tried anew by the next who needs it. learned hears of each text before anybody is given it, so that it can
// be masked; nil: nobody hears. read must not quote the secret in its error, and should end when its context does.
func NewSecret(read func(ctx context.Context) (string, error), learned func(text string)) Secret {
	return &secret{read: read, learned: learned}
}

// secret keeps its text behind a function, so that no way of printing it finds the text.
type secret struct {
	read    func(ctx context.Context) (string, error)
	learned func(text string)

	mu      sync.Mutex
	text    func() string // nil: not read, or forgotten
	reading *reading      // under way
}

// reading is one read that all wait for who need the secret meanwhile.
type reading struct {
	done      chan struct{}
	text      func() string
	err       error
	forgotten bool // the secret was forgotten since it began: nobody keeps what it brings
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

// fetch reads the secret. It goes on when who asked first does not wait any more: others may.
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

// judged is what was read, if it is a text of the right size.
func (s *secret) judged(ctx context.Context) (text string, err error) {
	defer func() {
		if recover() != nil { // what broke may hold the secret
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

// Format implements [fmt.Formatter]: by every verb a secret is ***.
func (s *secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, Masked) }

// MarshalText has a secret written as *** wherever it is encoded.
func (s *secret) MarshalText() ([]byte, error) { return []byte(Masked), nil }

// LogValue implements [slog.LogValuer].
func (s *secret) LogValue() slog.Value { return slog.StringValue(Masked) }

var (
	_ Secret        = (*secret)(nil)
	_ fmt.Formatter = (*secret)(nil)
)
