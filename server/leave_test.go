package server

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/patterns"
)

// leavingEngine has one run that goes on with no call, until it is left.
type leavingEngine struct {
	patterns.Engine
	writes time.Duration // what it has under way takes so long
	mu     sync.Mutex
	left   time.Duration // how long it was waited for
}

func (e *leavingEngine) Going() int { return 1 }

func (e *leavingEngine) Leave(ctx context.Context) {
	began := time.Now()
	select {
	case <-time.After(e.writes):
	case <-ctx.Done():
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left = max(e.left, time.Since(began))
}

// A run that goes on without a call has the grace, too.
func TestStopLeavesRuns(t *testing.T) {
	for name, tt := range map[string]struct{ writes, want time.Duration }{
		"a call that ends":        {3 * time.Second, 3 * time.Second},
		"a call that takes long":  {time.Hour, 10 * time.Second},
		"a call that was quicker": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &leavingEngine{writes: tt.writes}
				s := &Server{config: Config{Engine: e, Grace: 10 * time.Second}}
				landed := make(chan struct{})
				close(landed)
				if s.grace(landed); e.left != tt.want {
					t.Errorf("it was waited %s for, want %s", e.left, tt.want)
				}
			})
		})
	}
}

func TestStoppingCountsRunsWithoutCalls(t *testing.T) {
	var log logBuffer
	e := &leavingEngine{}
	s := serving(t, logging(&log), func(c *Config) { e.Engine, c.Engine = c.Engine, e })
	if err := s.ServeStdio(t.Context(), strings.NewReader(""), new(strings.Builder)); err != nil {
		t.Fatal(err)
	}
	if lines := log.lines(t, "stopping"); len(lines) != 1 || lines[0]["running"] != 1.0 {
		t.Errorf("stopping: %v, want 1 running", lines)
	}
}
