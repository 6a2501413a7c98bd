package kinds

import (
	"slices"

	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// maxRefused is how often the caller's proposals may be refused at one turn: the last refusal stops the run.
const maxRefused = 3

// asking is how a pattern asks its caller for more.
type asking struct {
	argument         string
	names, forbidden []string
	left             int
	last             any
	// judge says what is wrong with a batch of proposals before anything of it runs; nil: nothing.
	judge func([]document.Intent) *stop
	soFar func() patterns.Result
}

// next gets the next intent: the caller's, in order, for which the run waits where they have run out; or a model's,
// where the caller began without one or has handed over.
func (l *log) next(phase string, q patterns.Question, a asking) (document.Intent, *stop) {
	for l.byCaller && len(l.queue) == 0 && !l.task.Handover {
		if stop := l.await(phase, a); stop != nil {
			return document.Intent{}, stop
		}
	}
	return l.propose(phase, q)
}

// await asks the caller for a batch of proposals and judges it whole. A refused one is asked for again at the same turn,
// twice at most.
func (l *log) await(phase string, a asking) *stop {
	asked := l.run.Now()
	out := patterns.Await(l.run, l.effect(phase, ""), l.waiting(phase, a))
	l.wait(asked) // also of a run that is taken back meanwhile
	if cut := cutReason(out); cut != "" {
		return stopped(phase, cut)
	}
	if out.State != patterns.OK {
		return stopped(phase, "caller_expired")
	}
	l.filled = nil // it is told of the newest call, whose arguments it points into
	batch, handover := patterns.HandedIn(out.Output, a.argument)
	l.handed = make([]any, len(batch))
	for i, intent := range batch {
		l.handed[i] = intent.Value()
	}
	if stop := a.judge(batch); stop != nil {
		l.batch, l.taken = batch, 0
		if l.refusals++; l.refusals == maxRefused {
			return stop
		}
		l.refusal = stop
		return nil
	}
	l.refusals, l.refusal = 0, nil
	l.task.Handover = l.task.Handover || handover
	l.accept(batch)
	return nil
}

// accept queues proposals of the caller. Asking for nothing yet is no turn.
func (l *log) accept(batch []document.Intent) {
	l.queue, l.batch, l.taken = batch, batch, 0
	if len(batch) > 0 {
		l.turn++
	}
	for _, intent := range batch {
		l.proposed = append(l.proposed, intent.Value())
	}
}

// waiting is what the run would wait for.
func (l *log) waiting(phase string, a asking) patterns.Waiting {
	w := patterns.Waiting{
		Phase: phase, Turn: l.turn, Argument: a.argument, Names: a.names, Forbidden: slices.Clone(a.forbidden), Left: a.left,
		Last: a.last, Refused: l.refusals, SoFar: a.soFar(),
	}
	w.SoFar.StopReason = ""
	if l.refusal != nil && l.refusal.with != nil {
		l.refusal.with(&w.SoFar)
	}
	return w
}

// callers takes the caller's next proposal.
func (l *log) callers(phase string, ask patterns.Ask) (document.Intent, *stop) {
	next := l.queue[0]
	l.queue, l.taken = l.queue[1:], l.taken+1
	out := patterns.Take(l.run, l.effect(phase, ask.Choosing()+" (caller)"), ask.Intent(), next)
	if cut := cutReason(out); cut != "" {
		return document.Intent{}, stopped(phase, cut)
	}
	return next, nil
}

// intentAt is where the newest intent stands: the caller's in its arguments, a model's at the top of the reply.
func (l *log) intentAt() ijson.Pointer {
	if l.byCaller && l.taken > 0 {
		return l.batch[l.taken-1].At
	}
	return ""
}

// cutReason is the stop reason of an effect that was cut short, or not begun, by the run's own end; else empty.
func cutReason(out patterns.Outcome) string {
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

// endsRun reports whether a stop reason is that of the run's own end.
func endsRun(reason string) bool {
	return reason == "max_seconds" || reason == "cancelled" || reason == patterns.ReasonKillSwitch
}
