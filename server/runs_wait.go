package server

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson/printable"
	"patterngate/patterns"
)

const (
	glance    = 250 * time.Millisecond // how often who waits with progress looks at a running run
	heartbeat = 5 * time.Second        // how often progress is told where nothing changes
)

// answerWait answers run_wait.
func (s *Server) answerWait(ctx context.Context, r *request, meta *mcp.Meta) (*mcp.CallToolResult, error) {
	principal := s.principalOf(ctx)
	id, _ := r.Arguments["run_id"].(string)
	run, ok := s.config.Engine.Run(principal, id)
	if !ok {
		return s.refuseRun(ctx, r)
	}
	told := newProgress(ctx, s, meta)
	if wait := s.wait(r.call); wait > 0 && !settledHere(run) {
		run, ok = s.await(ctx, principal, run, wait, told)
	}
	if !ok {
		told.end("")
		return s.refuseRun(ctx, r)
	}
	e := s.about(run)
	if s.shown.again(principal, run) {
		e.Next = endTurn(e)
	}
	phase := run.Ended.Phase
	if phase == "" {
		phase = firstPhase(run.Spec.Kind)
	}
	result, err := s.show(ctx, e)
	if err != nil {
		told.end("")
		return nil, err
	}
	told.end(lastWords(e, patterns.Ended{Phase: phase}))
	s.delivered(ctx, e)
	return result, nil
}

// settledHere reports a run for which nothing is to be waited: it has ended, or waits for who asks.
func settledHere(run patterns.Snapshot) bool {
	w := run.Ended.Waiting
	return run.State == patterns.Over || run.State == patterns.Parked && w != nil && kindOf(w) == string(patterns.ForCaller)
}

// await waits until the run stands otherwise than it does, for as long as is wanted at most, and tells how it goes on.
func (s *Server) await(ctx context.Context, principal string, run patterns.Snapshot, wait time.Duration, told *progress) (patterns.Snapshot, bool) {
	ctx, done := context.WithTimeout(ctx, wait)
	defer done()
	mark, said, line := run.Mark(), time.Time{}, ""
	if told == nil {
		return s.config.Engine.Wait(ctx, principal, run.RunID, mark)
	}
	for {
		if now := time.Now(); goingOn(run) != line || now.Sub(said) >= heartbeat {
			line, said = goingOn(run), now
			told.tell(patterns.Progress{RunID: run.RunID, Line: line})
		}
		pause := glance
		if run.State != patterns.Running {
			pause = heartbeat
		}
		looking, stop := context.WithTimeout(ctx, pause)
		var ok bool
		run, ok = s.config.Engine.Wait(looking, principal, run.RunID, mark)
		stop()
		if !ok || run.Mark() != mark || ctx.Err() != nil {
			return run, ok
		}
	}
}

// goingOn is a progress line about a run.
func goingOn(run patterns.Snapshot) string {
	if w := run.Ended.Waiting; run.State == patterns.Parked && w != nil {
		return atMost(w.Phase+": "+waitWords(kindOf(w)), maxProgress)
	}
	phase, doing := run.Current.Phase, run.Current.Doing
	if phase == "" {
		phase = firstPhase(run.Spec.Kind)
	}
	if doing == "" {
		doing = "it goes on"
	}
	return atMost(phase+": "+printable.Text(doing), maxProgress)
}

// endTurn is the advice to wait no more in this turn.
func endTurn(e Envelope) next {
	say := e.Next.Say
	if say == "" {
		say = "The run goes on by itself. Write again to hear how it stands."
	}
	return next{Action: actionEnd, Say: say, Tool: statusTool, Arguments: map[string]any{"run_id": e.RunID}}
}

// shown remembers how a run stood when a principal was told of it by run_wait. It forgets all when it is full: then
// somebody waits once more than needed. The zero shown remembers nothing. It is safe for concurrent use.
type shown struct {
	mu sync.Mutex
	by map[shownRun]patterns.Mark
}

type shownRun struct{ principal, runID string }

const maxRunsShown = 10_000

// again notes how a run is shown, and reports whether it was shown so the last time and may still change by itself.
func (s *shown) again(principal string, run patterns.Snapshot) bool {
	key, mark := shownRun{principal, run.RunID}, run.Mark()
	s.mu.Lock()
	defer s.mu.Unlock()
	if settledHere(run) {
		delete(s.by, key)
		return false
	}
	before, known := s.by[key]
	if s.by == nil || len(s.by) >= maxRunsShown && !known {
		s.by = map[shownRun]patterns.Mark{}
	}
	s.by[key] = mark
	return known && before == mark
}
