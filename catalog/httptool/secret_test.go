package httptool_test

import (
	"context"
	"errors"
	"sync"
)

// secret gives its texts in turn: the next one when it was forgotten.
type secret struct {
	mu        sync.Mutex
	texts     []string
	forgotten int
}

func (s *secret) Text(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) == 0 {
		return "", errors.New("env:PAY_TOKEN is not set")
	}
	return s.texts[min(s.forgotten, len(s.texts)-1)], nil
}

func (s *secret) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten++
}

func (s *secret) String() string { return "***" }
