package patterns

import (
	"encoding/json"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// maxRefused is how often the caller's proposals may be refused at one turn: the last refusal stops the run.
const maxRefused = 3

// WaitingKind says who or what a run waits for (spec/surface.md section 1).
type WaitingKind string

// The kinds of waiting.
const (
	ForCaller     WaitingKind = "caller"     // the caller's next proposals
	ForApproval   WaitingKind = "approval"   // a person who decides about a call
	ForSettlement WaitingKind = "settlement" // a person who says whether a call in doubt happened
	ForRetry      WaitingKind = "retry"      // something that is missing here
)

// Waiting is what a run waits for: its caller when the proposals have run out (design section 6.1), a person who settles
// a call in doubt, or something that this process lacks. Nothing of the run is held meanwhile but its record; what the
// caller sends is taken by [Engine.Continue].
type Waiting struct {
	Kind  WaitingKind
	Key   string // of the effect that waits; set by the engine
	Phase string

	// Of settlement: the call in doubt and why nobody knows: crash, timeout, broken_reply. Of retry: config_missing,
	// tool_missing, secret_missing, journal; Needs names what is missing.
	Effect, Tool, ArgsHash string
	Cause                  string
	Needs                  []string

	// Of an approval; Tool and ArgsHash are the call's. The id, the question's run, step and expiry, and with these its
	// digest are the engine's.
	Approval     string           // ap_ and 16 hex digits
	Question     gateway.Question // the call as it would be sent
	CallEffect   catalog.Effect
	Phrase       string          // the call in words, of judged typed values only
	Schema       json.RawMessage // of the arguments
	WholePlan    bool            // the question is about a plan, see [planning.Envelope], and not a call
	Rule, Reason string
	Text         string         // of the rule, for people
	Values       map[string]any // that made it true, by their expressions
	Least        gateway.Assurance

	// Child is the child run that waits, and Pattern its pattern; "": the run itself does. What a child run waits for, so does its
	// parent.
	Child, Pattern string

	// Of the caller:
	Turn     int    // 1, 2, ...: which of the caller's turns it is
	Argument string // what is asked for: route or actions
	// Names may be chosen, Forbidden not any more; Left is how often something may be proposed.
	Names, Forbidden []string
	Left             int
	Last             any            // the newest observation, as rows show it; nil where there is none
	Refused          int            // proposals refused at this turn; SoFar has the problems of the newest
	Ready            []ReadySubtask // of planning: the work that the caller is to do; Argument is results
	SoFar            Result

	Since, Until time.Time // set by the engine; a zero Until is no limit
}

// asking is how a pattern asks its caller for more.
type asking struct {
	argument         string
	names, forbidden []string
	left             int
	last             any
	// judge says what is wrong with a batch of proposals before anything of it runs; nil: nothing.
	judge func([]document.Intent) *stop
	soFar func() Result
}

// next gets the next intent: the caller's, in order, for which the run waits where they have run out; or a model's,
// where the caller began without one or has handed over.
func (l *log) next(phase string, q Question, a asking) (document.Intent, *stop) {
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
	out := Await(l.run, l.effect(phase, ""), l.waiting(phase, a))
	l.wait(asked) // also of a run that is taken back meanwhile
	if cut := cutReason(out); cut != "" {
		return stopped(phase, cut)
	}
	if out.State != OK {
		return stopped(phase, "caller_expired")
	}
	l.filled = nil // it is told of the newest call, whose arguments it points into
	batch, handover := handedIn(out.Output, a.argument)
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
func (l *log) waiting(phase string, a asking) Waiting {
	w := Waiting{
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
func (l *log) callers(phase string, ask Ask) (document.Intent, *stop) {
	next := l.queue[0]
	l.queue, l.taken = l.queue[1:], l.taken+1
	out := Take(l.run, l.effect(phase, ask.choosing()+" (caller)"), ask.intent(), next)
	if cut := cutReason(out); cut != "" {
		return document.Intent{}, stopped(phase, cut)
	}
	return next, nil
}

// handedIn reads what a caller sent for a turn: {route} or {actions}, and whether the model is to go on.
func handedIn(v any, argument string) (batch []document.Intent, handover bool) {
	sent, _ := v.(map[string]any)
	if intent, ok := sent[argument]; ok {
		batch = Proposals(argument, intent)
	}
	return batch, sent["continue_with"] == "model"
}

// Proposals are what a caller hands in by an argument: each of a list of actions, or one plan or route. Of an empty list
// they are empty, not nil: the caller proposes, and has proposed nothing yet.
func Proposals(argument string, v any) []document.Intent {
	at := ijson.Pointer("").Member(argument)
	actions, isList := v.([]any)
	if argument != "actions" || !isList {
		return []document.Intent{document.FromCaller(v, at)}
	}
	list := make([]document.Intent, len(actions))
	for i, action := range actions {
		list[i] = document.FromCaller(action, at.Index(i))
	}
	return list
}

// intentAt is where the newest intent stands: the caller's in its arguments, a model's at the top of the reply.
func (l *log) intentAt() ijson.Pointer {
	if l.byCaller && l.taken > 0 {
		return l.batch[l.taken-1].At
	}
	return ""
}

// cutReason is the stop reason of an effect that was cut short, or not begun, by the run's own end; else empty.
func cutReason(out Outcome) string {
	switch {
	case out.State == OK:
	case out.Reason == ReasonDeadline:
		return "max_seconds"
	case out.Reason == ReasonCanceled:
		return "cancelled"
	case out.Reason == ReasonKillSwitch:
		return ReasonKillSwitch
	}
	return ""
}

// endsRun reports whether a stop reason is that of the run's own end.
func endsRun(reason string) bool {
	return reason == "max_seconds" || reason == "cancelled" || reason == ReasonKillSwitch
}
