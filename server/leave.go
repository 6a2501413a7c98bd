package server

import (
	"context"
	"sync"
	"time"

	"patterngate/patterns"
)

// leaver is an engine that can leave the runs that no call waits for. Those runs begin no more calls, and their calls
// in progress that change something are completed. A run that continues after a person's decision is such a run.
type leaver interface {
	patterns.Engine
	Going() int // how many such runs are in progress
	Leave(context.Context)
}

// going returns how many runs are in progress that no call waits for.
func (s *Server) going() int {
	if engine, ok := s.config.Engine.(leaver); ok {
		return engine.Going()
	}
	return 0
}

// grace gives open calls time to be answered and runs time to be left. Runs continue normally for the first half of the
// time, so that waiting callers can still get their results.
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
		engine.Leave(ctx) // also the runs whose call has ended since then
	}
	leaving.Wait()
}
