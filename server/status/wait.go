package status

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/progress"
	"patterngate/server/sentence"
)

const (
	glance    = 250 * time.Millisecond // how often a wait with progress looks at a running run
	heartbeat = 5 * time.Second        // how often progress is sent without a change
)

// answerWait answers run_wait.
func (s *toolSet) answerWait(ctx context.Context, r *arguments.Request, meta *mcp.Meta) (*mcp.CallToolResult, error) {
	principal := s.Host.Principal(ctx)
	id, _ := r.Arguments["run_id"].(string)
	run, ok := s.Engine.Run(principal, id)
	if !ok {
		return s.refuseRun(ctx, r)
	}
	told := s.Host.Progress(ctx, meta)
	if wait := s.Waits.Of(r.Call); wait > 0 && !settledHere(run) {
		run, ok = s.await(ctx, principal, run, wait, told)
	}
	if !ok {
		told.End("")
		return s.refuseRun(ctx, r)
	}
	e := s.about(run)
	if s.Seen.again(principal, run) {
		e.Next = endTurn(e)
	}
	phase := run.Ended.Phase
	if phase == "" {
		phase = outcome.FirstPhase(run.Spec.Kind)
	}
	result, err := s.Host.Show(ctx, e)
	if err != nil {
		told.End("")
		return nil, err
	}
	told.End(progress.LastWords(e, patterns.Ended{Phase: phase}))
	s.Host.Delivered(ctx, e)
	return result, nil
}

// settledHere reports whether there is nothing to wait for: the run has ended, or it waits for its caller.
func settledHere(run patterns.Snapshot) bool {
	w := run.Ended.Waiting
	return run.State == patterns.Over || run.State == patterns.Parked && w != nil && outcome.WaitKind(w) == string(patterns.ForCaller)
}

// await waits until the state of the run changes, at most for the given time, and sends progress.
func (s *toolSet) await(ctx context.Context, principal string, run patterns.Snapshot, wait time.Duration, told *progress.Progress) (patterns.Snapshot, bool) {
	ctx, done := context.WithTimeout(ctx, wait)
	defer done()
	mark, said, line := run.Mark(), time.Time{}, ""
	if told == nil {
		return s.Engine.Wait(ctx, principal, run.RunID, mark)
	}
	for {
		if now := time.Now(); goingOn(run) != line || now.Sub(said) >= heartbeat {
			line, said = goingOn(run), now
			told.Tell(patterns.Progress{RunID: run.RunID, Line: line})
		}
		pause := glance
		if run.State != patterns.Running {
			pause = heartbeat
		}
		looking, stop := context.WithTimeout(ctx, pause)
		var ok bool
		run, ok = s.Engine.Wait(looking, principal, run.RunID, mark)
		stop()
		if !ok || run.Mark() != mark || ctx.Err() != nil {
			return run, ok
		}
	}
}

// goingOn returns a progress line about a run.
func goingOn(run patterns.Snapshot) string {
	if w := run.Ended.Waiting; run.State == patterns.Parked && w != nil {
		return sentence.AtMost(w.Phase+": "+outcome.WaitWords(outcome.WaitKind(w)), progress.MaxLine)
	}
	phase, doing := run.Current.Phase, run.Current.Doing
	if phase == "" {
		phase = outcome.FirstPhase(run.Spec.Kind)
	}
	if doing == "" {
		doing = working
	}
	return sentence.AtMost(phase+": "+printable.Text(doing), progress.MaxLine)
}

// endTurn returns the advice not to wait any longer in this turn.
func endTurn(e envelope.Envelope) envelope.Next {
	say := e.Next.Say
	if say == "" {
		say = runContinues
	}
	return envelope.Next{Action: envelope.ActionEnd, Say: say, Tool: arguments.StatusTool, Arguments: map[string]any{"run_id": e.RunID}}
}

// Seen remembers the state in which run_wait last showed a run to a principal. When it is full, it forgets everything,
// and then a caller may wait once more than needed. The zero value remembers nothing. It is safe for concurrent use.
type Seen struct {
	mu sync.Mutex
	by map[shownRun]patterns.Mark
}

type shownRun struct{ principal, runID string }

const maxRunsShown = 10_000

// again notes the state in which a run is shown. It reports whether the last state was the same and the run may still
// change by itself.
func (s *Seen) again(principal string, run patterns.Snapshot) bool {
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
