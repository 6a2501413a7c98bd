package patterns

import (
	"cmp"
	"encoding/json"
	"time"
)

// Run is the interface through which pattern code sees its run and acts. A Run belongs to one branch, and one goroutine at a time uses
// it. A branch never uses the Run of its parent. Pattern code does not see faults of the engine: the branch unwinds.
type Run interface {
	// ID returns the id of the run. It cannot be guessed and stays the same over restarts.
	ID() string
	// Now returns the time of the newest outcome that this branch has seen. It costs nothing, never decreases, and is equal on replay.
	Now() time.Time
	// Recorded returns the real time at which the newest outcome was recorded, of this branch and of active bodies of its Flow. It
	// includes the time in which no process had the run. It is equal on replay too.
	Recorded() time.Time
	// Do performs an effect once and keeps its outcome under a key that depends on the code alone.
	Do(Effect) Outcome
	// Go runs body for 0 to n-1, each in a branch of its own, and returns when all have ended. They start in this order, at most limit
	// at once. Results go to slots: which branch is faster must not matter. Only one branch of a run executes pattern code at a time.
	Go(name string, n, limit int, body func(branch Run, i int))
	// Flow runs bodies, each in a branch of its own, as next supplies them. It calls next at the start and whenever a body has ended,
	// until next returns false. Flow returns when no body runs and next has no more.
	//
	// Only one branch of a run executes pattern code at a time, so bodies and next may share values. Branches continue in the order in
	// which their outcomes are recorded, so a replay supplies the same bodies. The key of a body's branch is its name (`name#n/`). A
	// body does not call Flow or Go itself. A body that waits for a person or the caller does not end: the others continue, then the
	// run waits.
	Flow(next func() (name string, body func(branch Run), ok bool))
	// Settled reports the resolved outcome of a call that ended in doubt, up to the attempt that [Outcome.Newest] names. Later calls
	// with the same business key see it, and so do judgments that look at earlier runs. It records no event and costs nothing.
	Settled(e Effect, out Outcome)
	// Shows sets the function that returns the run's result so far, for display while it runs or waits. soFar only reads. It is called
	// when none of the run's own code executes.
	Shows(soFar func() Result)
}

// EffectKind names the part that answers an effect.
type EffectKind string

// The kinds of effects (spec/surface.md section 7).
const (
	ModelEffect  EffectKind = "model"  // a question to a model
	ToolEffect   EffectKind = "tool"   // a call of a tool
	HumanEffect  EffectKind = "human"  // a question to a person
	CallerEffect EffectKind = "caller" // the caller's next proposal
	TimerEffect  EffectKind = "timer"  // a pause of Timeout
	PlanEffect   EffectKind = "plan"   // a stored plan is read or changed
	// JudgeEffect asks for the judgment of a call that depends on earlier runs. It is recorded as one event of kind judged under the
	// effect's key, not as an effect. Its outcome comes at once: no other branch runs in between.
	JudgeEffect EffectKind = "judge"
)

// Effect describes something to be done outside the run, as a value. The functions of this package make effects, and an engine
// performs them. An effect without an Act is a fault of the pattern code, and an engine does not perform it.
type Effect struct {
	Act  Act    // what is done
	Name string // identifies the effect among its siblings
	// Input is the request in canonical form. It is recorded before the effect and compared on replay.
	Input json.RawMessage

	// Phase and Doing are the words for the progress of an effect that is really performed. Said are the words for decisions before
	// it. They hold names, never arguments or outside text.
	Phase, Doing string
	Said         []string
	// Total is how many calls of its kind the run plans; 0: not known.
	Total int

	Judged []Judged // proposals since the previous effect that got no intent

	Timeout  time.Duration // from the intent on; zero means none
	Deadline time.Time     // of the run; zero means none
	// Untimed is the run's deadline without any waiting. The engine adds the time in which the run has waited for its caller and for
	// people. If the sum is later than Deadline, it replaces Deadline. Zero: Deadline counts.
	Untimed time.Time
	// Quotas are taken when the intent is recorded, all or none, in the order in which effects fall due. The grant is part of the
	// record, so branches can share a budget and a replay gives the same result.
	Quotas []Quota
}

// Kind returns the kind of the effect's act; "": it has none.
func (e Effect) Kind() EffectKind {
	if e.Act == nil {
		return ""
	}
	return e.Act.Kind()
}

// Waiting returns what the run waits for because of the effect; nil: it does not wait for a person or the caller.
func (e Effect) Waiting() *Waiting {
	switch a := e.Act.(type) {
	case ConsentAct:
		return a.Waiting
	case SettlementAct:
		return a.Waiting
	case TurnAct:
		return a.Waiting
	}
	return nil
}

// Quota is one unit of a budget that branches share.
type Quota struct {
	Name  string // also the reason of the refusal
	Limit int    // how many effects of the run may take one
}

// State says what is known about an effect. The zero State is none of the states.
type State string

// The states of an outcome.
const (
	OK       State = "ok"
	Failed   State = "failed"   // refused, or it certainly did not do what was asked
	Unknown  State = "unknown"  // it may have happened
	Canceled State = "canceled" // it was not tried
)

// These are the reasons that an engine gives. Other reasons are stop reasons or quota names.
const (
	ReasonTimeout     = "timeout"     // Effect.Timeout has passed, or the tool reported its own timeout
	ReasonDeadline    = "deadline"    // Effect.Deadline has passed
	ReasonCanceled    = "cancelled"   // the run was cancelled
	ReasonExpired     = "expired"     // no answer came in time
	ReasonInterrupted = "interrupted" // the process ended between intent and outcome: State is Unknown
	ReasonToolError   = "error"       // the tool failed
	ReasonToolPanic   = "panic"       // the tool broke
	ReasonBadResult   = "bad_result"
	ReasonRefused     = "refused"      // there was no permit
	ReasonUnavailable = "unavailable"  // nothing was sent: the tool cannot be reached
	ReasonBrokenReply = "broken_reply" // it was sent, but the reply was lost or cannot be read: State is Unknown
	ReasonKillSwitch  = "kill_switch"  // a kill switch forbids it, see [Switches]
	ReasonOnceReused  = "once_reused"  // another act used this business key
	ReasonStale       = "stale"        // the approval of the call is no longer valid, see [gateway.Weighing.Holds]
	ReasonNoTime      = "no_time"      // a pause would not end before the deadline, see [PauseAct]
	// A call that a person decided about can also be refused as approval_expired, approval_consumed or approval_invalid (package
	// gateway), and so can the person's answer.
)

// Outcome is the result of an effect.
type Outcome struct {
	State  State
	Output any // a decoded value: the reply's text, the observation, the decision
	Reason string
	Bytes  int    // length of the observation's whole compact text
	Child  string // the id of the child run that a call began; "": it began none
	Cost
	// Again says that the call may succeed a moment later. After is the wait that the tool asked for.
	Again bool
	After time.Duration
	// Duplicate says that nothing was sent: the outcome is that of an earlier call with the same business key.
	Duplicate bool
	Recorded
}

// Cost is what an effect used of the run's budget, apart from time: that of a question to a model, or of a call's child run. Other
// effects have the zero Cost.
type Cost struct {
	Usage  Usage
	Models []ModelUsage // per model that was asked; nil: all by the run's own model
	Calls  int          // tool calls of a child run, including those of its own child runs
}

// Recorded is what an engine adds to an outcome when it records it.
type Recorded struct {
	Key   string    // the effect's path in the run
	Try   string    // key of the newest attempt at a call that was repeated under its first attempt's key; else ""
	Once  string    // the idempotency key that was used
	Order int       // of the intent among all intents of the run
	Began time.Time // when the intent was recorded
	At    time.Time // when the outcome was recorded
	// Down is how long no process had the run between Began and At; Idle is how long before Began. Now and these times do not count
	// either. If nothing was begun, Idle is all of it.
	Down, Idle time.Duration
}

// Newest returns the key of the newest attempt that the outcome covers.
func (r Recorded) Newest() string { return cmp.Or(r.Try, r.Key) }

// Sent returns the real time at which the intent was recorded.
func (r Recorded) Sent() time.Time { return r.Began.Add(r.Idle) }

// Answered returns the real time at which the outcome was recorded.
func (r Recorded) Answered() time.Time { return r.At.Add(r.Idle + r.Down) }

// Times returns the part that says when the effect was begun and answered.
func (r Recorded) Times() Recorded {
	return Recorded{Began: r.Began, At: r.At, Down: r.Down, Idle: r.Idle}
}

// As returns the outcome of another attempt under the key, idempotency key and order of the first.
func (o Outcome) As(first Outcome) Outcome {
	o.Try = o.Newest()
	o.Key, o.Once, o.Order = first.Key, first.Once, first.Order
	return o
}
