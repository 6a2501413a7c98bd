package step

import (
	"slices"

	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// maxRefused is how many refused batches at one turn stop the run.
const maxRefused = 3

// Turn describes how a pattern asks its caller for more proposals.
type Turn struct {
	Argument         string   // the argument in which the caller sends them
	Names, Forbidden []string // what the caller may choose, and may no longer choose
	Left             int      // how many proposals are still allowed
	Last             any      // the newest observation; nil if there is none
	// Judge says what is wrong with a batch of proposals before any of it runs. Nil means that the batch is accepted.
	Judge func([]document.Intent) *Stop
	// SoFar returns the run's result so far, to show while the run waits.
	SoFar func() patterns.Result
}

// Next gets the next intent. It takes the caller's proposals in order, and waits for more when none are left. It asks a model if
// the caller sent none at the start, or handed over to the model.
func (l *Log) Next(phase string, q patterns.Question, a Turn) (document.Intent, *Stop) {
	for l.ByCaller && len(l.Queue) == 0 && !l.Task.Handover {
		if stop := l.await(phase, a); stop != nil {
			return document.Intent{}, stop
		}
	}
	return l.propose(phase, q)
}

// await waits for a batch of proposals from the caller and judges it as a whole. If the batch is refused, the run waits again at
// the same turn. The third refusal stops the run.
func (l *Log) await(phase string, a Turn) *Stop {
	asked := l.Run.Now()
	out := patterns.Await(l.Run, l.Effect(phase, ""), l.waiting(phase, a))
	l.ExcludeSince(asked) // also if the run is cancelled during the wait
	if cut := CutReason(out); cut != "" {
		return Stopped(phase, cut)
	}
	if out.State != patterns.OK {
		return Stopped(phase, "caller_expired")
	}
	l.Filled = nil // it belongs to the newest call, and its pointers refer to that call's arguments
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

// accept queues proposals of the caller. An empty batch does not count as a turn.
func (l *Log) accept(batch []document.Intent) {
	l.Queue, l.batch, l.taken = batch, batch, 0
	if len(batch) > 0 {
		l.turn++
	}
	for _, intent := range batch {
		l.proposed = append(l.proposed, intent.Value())
	}
}

// waiting describes what the run waits for.
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

// IntentAt returns the place of the newest intent. It points into the arguments of the caller's call, and is "" for a model's
// reply.
func (l *Log) IntentAt() ijson.Pointer {
	if l.ByCaller && l.taken > 0 {
		return l.batch[l.taken-1].At
	}
	return ""
}

// CutReason returns the stop reason if the run's end cut an effect short or prevented it: max_seconds, cancelled or kill_switch.
// Otherwise it returns "".
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

// EndsRun reports whether a stop reason is one that [CutReason] returns: the run itself ended.
func EndsRun(reason string) bool {
	return reason == "max_seconds" || reason == "cancelled" || reason == patterns.ReasonKillSwitch
}
