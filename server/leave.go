package server

import (
	"context"
	"sync"
	"time"

	"patterngate/patterns"
)

// leaver is an engine that can leave the runs that no call waits for: they begin nothing more, and what they have under way
// that changes something comes to its end. A run that goes on after a person's decision is such a run.
type leaver interface {
	patterns.Engine
	Going() int // how many such runs go on
	Leave(context.Context)
}

// going is how many runs go on that no call waits for.
func (s *Server) going() int {
	if engine, ok := s.config.Engine.(leaver); ok {
		return engine.Going()
	}
	return 0
}

// grace gives calls the time to be answered, and runs the time to be left: these go on as ever for the first half of it, so
// that who waits for one may still be told of its end.
func (s *Server) grace(landed <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), s.newest().config.Grace)
	defer cancel()
	select {
	case <-landed:
	case <-time.After(s.newest().config.Grace / 2):
	}
	var leaving sync.WaitGroup
	engine, leaves := s.config.Engine.(leaver)
	if leaves {
		leaving.Go(func() { engine.Leave(ctx) })
	}
	select {
	case <-landed:
	case <-ctx.Done():
	}
	if leaves {
		engine.Leave(ctx) // also those that a call has let go of meanwhile
	}
	leaving.Wait()
}
