package step

import (
	"slices"

	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// maxRefused is how often the caller's proposals may be refused at one turn: the last refusal stops the run.
const maxRefused = 3

// Turn is how a pattern asks its caller for more.
type Turn struct {
	Argument         string
	Names, Forbidden []string
	Left             int
	Last             any
	// judge says what is wrong with a batch of proposals before anything of it runs; nil: nothing.
	Judge func([]document.Intent) *Stop
	SoFar func() patterns.Result
}

// Next gets the next intent: the caller's, in order, for which the run waits where they have run out; or a model's,
// where the caller began without one or has handed over.
func (l *Log) Next(phase string, q patterns.Question, a Turn) (document.Intent, *Stop) {
	for l.ByCaller && len(l.Queue) == 0 && !l.Task.Handover {
		if stop := l.await(phase, a); stop != nil {
			return document.Intent{}, stop
		}
	}
	return l.propose(phase, q)
}

// await asks the caller for a batch of proposals and judges it whole. A refused one is asked for again at the same turn,
// twice at most.
func (l *Log) await(phase string, a Turn) *Stop {
	asked := l.Run.Now()
	out := patterns.Await(l.Run, l.Effect(phase, ""), l.waiting(phase, a))
	l.Wait(asked) // also of a run that is taken back meanwhile
	if cut := CutReason(out); cut != "" {
		return Stopped(phase, cut)
	}
	if out.State != patterns.OK {
		return Stopped(phase, "caller_expired")
	}
	l.Filled = nil // it is told of the newest call, whose arguments it points into
	batch, handover := patterns.HandedIn(out.Output, a.Argument)
	l.handed = make([]any, len(batch))
	for i, intent := range batch {
		l.handed[i] = intent.Value()
	}
	if stop := a.Judge(batch); stop != nil {
		l.batch, l.taken = batch, 0
		if l.refusals++; l.refusals == maxRefused {
			return stop
		}
		l.refusal = stop
		return nil
	}
	l.refusals, l.refusal = 0, nil
	l.Task.Handover = l.Task.Handover || handover
	l.accept(batch)
	return nil
}

// accept queues proposals of the caller. Asking for nothing yet is no turn.
func (l *Log) accept(batch []document.Intent) {
	l.Queue, l.batch, l.taken = batch, batch, 0
	if len(batch) > 0 {
		l.turn++
	}
	for _, intent := range batch {
		l.proposed = append(l.proposed, intent.Value())
	}
}

// waiting is what the run would wait for.
func (l *Log) waiting(phase string, a Turn) patterns.Waiting {
	w := patterns.Waiting{
		Phase: phase, Turn: l.turn, Argument: a.Argument, Names: a.Names, Forbidden: slices.Clone(a.Forbidden), Left: a.Left,
		Last: a.Last, Refused: l.refusals, SoFar: a.SoFar(),
	}
	w.SoFar.StopReason = ""
	if l.refusal != nil && l.refusal.With != nil {
		l.refusal.With(&w.SoFar)
	}
	return w
}

// callers takes the caller's next proposal.
func (l *Log) callers(phase string, ask patterns.Ask) (document.Intent, *Stop) {
	next := l.Queue[0]
	l.Queue, l.taken = l.Queue[1:], l.taken+1
	out := patterns.Take(l.Run, l.Effect(phase, ask.Choosing()+" (caller)"), ask.Intent(), next)
	if cut := CutReason(out); cut != "" {
		return document.Intent{}, Stopped(phase, cut)
	}
	return next, nil
}

// IntentAt is where the newest intent stands: the caller's in its arguments, a model's at the top of the reply.
func (l *Log) IntentAt() ijson.Pointer {
	if l.ByCaller && l.taken > 0 {
		return l.batch[l.taken-1].At
	}
	return ""
}

// CutReason is the stop reason of an effect that was cut short, or not begun, by the run's own end; else empty.
func CutReason(out patterns.Outcome) string {
	switch {
	case out.State == patterns.OK:
	case out.Reason == patterns.ReasonDeadline:
		return "max_seconds"
	case out.Reason == patterns.ReasonCanceled:
		return "cancelled"
	case out.Reason == patterns.ReasonKillSwitch:
		return patterns.ReasonKillSwitch
	}
	return ""
}

// EndsRun reports whether a stop reason is that of the run's own end.
func EndsRun(reason string) bool {
	return reason == "max_seconds" || reason == "cancelled" || reason == patterns.ReasonKillSwitch
}
