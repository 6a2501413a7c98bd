package patterns

import (
	"cmp"
	"encoding/json"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
)

// Run is the world as pattern code sees it. A Run belongs to one branch and is used by one goroutine at a time; a
// branch never uses its parent's Run. An engine's own faults do not reach pattern code: the branch unwinds.
type Run interface {
	// ID names the run; unguessable and stable over restarts.
	ID() string
	// Now is the time of the newest outcome this branch has seen: free, never falling, equal on replay.
	Now() time.Time
	// Recorded is when the newest outcome was really recorded, with the time in which nobody had the run: of this branch, and of
	// bodies of its Flow that are under way. Equal on replay too.
	Recorded() time.Time
	// Do performs an effect once and remembers its outcome under a key that depends on the code alone.
	Do(Effect) Outcome
	// Go runs body for 0 to n-1, each in a branch of its own, begun in this order and at most limit at once, and
	// returns when all have ended. Results go to slots; which branch is faster must not matter. Of the branches of
	// one run only one runs pattern code at a time.
	Go(name string, n, limit int, body func(branch Run, i int))
	// Flow runs bodies, each in a branch of its own, as next hands them out: next is asked at the start and whenever a body
	// has ended, again and again until it gives none. Flow returns when none runs and next gave none. Of the branches of
	// one run only one runs pattern code at a time, so bodies and next may share values; and in which order they go on is
	// the order in which their outcomes are recorded, so that a replay hands out the same. A body's branch is keyed by its
	// name (`name#n/`); it does not call Flow or Go itself. One that waits for somebody does not end: the others go on,
	// then the run rests.
	Flow(next func() (name string, body func(branch Run), ok bool))
	// Settled says what was found out about a call whose own outcome said that nobody knows, up to the attempt at it that
	// [Outcome.Newest] names: for who asks by its business key, or looks at it as at an earlier run's. It is not recorded and
	// costs nothing.
	Settled(e Effect, out Outcome)
	// Shows says how the run as it stands is shown while it goes on or waits, for who looks at it meanwhile. soFar only
	// reads; it is called when none of the run's own code runs.
	Shows(soFar func() Result)
}

// EffectKind says who answers an effect.
type EffectKind string

// The kinds of effects (spec/surface.md section 7).
const (
	ModelEffect  EffectKind = "model"  // a question to a model
	ToolEffect   EffectKind = "tool"   // a call of a tool
	HumanEffect  EffectKind = "human"  // a question to a person
	CallerEffect EffectKind = "caller" // the caller's next proposal
	TimerEffect  EffectKind = "timer"  // a pause of Timeout
	PlanEffect   EffectKind = "plan"   // a stored plan is read or changed
	// JudgeEffect has a call judged that depends on earlier runs. It is recorded as what was judged and not as an effect: there is
	// one event of kind judged, under the effect's key. Its outcome comes at once: no other branch goes on meanwhile.
	JudgeEffect EffectKind = "judge"
)

// Effect is something to be done outside the run, as a value. The functions of this package make effects; an
// engine performs them.
type Effect struct {
	Kind EffectKind
	Name string // names the effect among its siblings
	// Input is what is asked, in canonical form: recorded before the effect, compared on replay.
	Input json.RawMessage

	// Phase and Doing word the progress of an effect that is really performed; Said words what was decided
	// before it. They hold names, never arguments or outside text.
	Phase, Doing string
	Said         []string
	// Total is how many calls of its kind the run plans; 0: it is not known.
	Total int

	Judged []Judged // proposals that got no intent since the effect before

	Timeout  time.Duration // from the intent on; zero means none
	Deadline time.Time     // of the run; zero means none
	// Untimed is the run's deadline if nobody had been waited for. The engine adds the time in which the run waited for its
	// caller and for people, up to now. Where that is later than Deadline, it counts instead. Zero: Deadline counts.
	Untimed time.Time
	// InTime is of a pause. The engine refuses it with [ReasonNoTime] if it would not end before the deadline.
	InTime bool
	// Quotas are taken when the intent is recorded, all or none, in the order in which effects fall due. The
	// grant is part of the record, so branches may share a budget and replay the same.
	Quotas []Quota
	// Once is the act's identity in the world, its idempotency key; empty means that the engine makes one.
	Once string
	// Of is the key of the effect of which a call is one more attempt at the same act; empty: it is an act of its own.
	Of string
	// Before is the identity under which an earlier run of the plan began the act, of which nobody knows what became; empty: none did.
	Before string
	// Doubt is why nobody knows what became of the attempt before; empty: that did nothing, or there was none. See [Effect.Doubted].
	Doubt string
	// Retried says of a call that its pattern makes it again by itself where it took too long: one that may be repeated, and was
	// not sent while its time ran, took too long then, and is not unavailable.
	Retried bool

	Question *Question      // of a model effect
	Permit   gateway.Permit // of a tool effect; the zero Permit is refused
	// Share bounds the child run of a call that begins one, its time apart; nil: no run may be begun.
	Share    *Share
	Approval *Approval         // of a human effect
	Plan     *PlanStep         // of a plan effect
	Weighing *gateway.Weighing // of a judge effect
	// SoFar is how the run stands while it waits with the child run of a call; it only reads. Nil: nothing is shown of it.
	SoFar func() Result
	// Ends is of a pause in a Flow: it is asked whenever a body has ended, and true ends the pause as if it were over. It
	// only reads. Nil: never.
	Ends func() bool
	// Waiting is of a caller effect that waits; nil: Input is a proposal that was handed in. It is also of a human effect
	// that settles a call in doubt, or that asks a person who takes their time.
	Waiting *Waiting
}

// Quota is one share of a budget that branches have in common.
type Quota struct {
	Name  string // also the reason of the refusal
	Limit int    // how many effects of the run may take one
}

// State tells what is known about an effect. The zero State is none of them.
type State string

// The states of an outcome.
const (
	OK       State = "ok"
	Failed   State = "failed"   // refused, or it certainly did not do what was asked
	Unknown  State = "unknown"  // it may have happened
	Canceled State = "canceled" // it was not tried
)

// Reasons an engine gives; others are stop reasons or quota names.
const (
	ReasonTimeout     = "timeout"     // Effect.Timeout has passed, or the tool said that its own did
	ReasonDeadline    = "deadline"    // Effect.Deadline has passed
	ReasonCanceled    = "cancelled"   // the run was taken back
	ReasonExpired     = "expired"     // nobody answered in time
	ReasonInterrupted = "interrupted" // the process ended between intent and outcome: State is Unknown
	ReasonToolError   = "error"       // the tool failed
	ReasonToolPanic   = "panic"       // the tool broke
	ReasonBadResult   = "bad_result"
	ReasonRefused     = "refused"      // there was no permit
	ReasonUnavailable = "unavailable"  // nothing was sent: the tool cannot be reached
	ReasonBrokenReply = "broken_reply" // it was sent, and the answer was lost or cannot be read: State is Unknown
	ReasonKillSwitch  = "kill_switch"  // a switch forbids it, see [Switches]
	ReasonOnceReused  = "once_reused"  // the act's business key was used by another one
	ReasonStale       = "stale"        // what the call was let through by does not hold any more, see [gateway.Weighing.Holds]
	ReasonNoTime      = "no_time"      // a pause would not end before the deadline, see [Effect.InTime]
	// A call that a person decided about may also be refused as approval_expired, approval_consumed or approval_invalid
	// (package gateway); so may their answer.
)

// Outcome is what became of an effect.
type Outcome struct {
	State  State
	Output any // a decoded value: the reply's text, the observation, the decision
	Reason string
	Bytes  int          // of the observation's whole compact text
	Usage  Usage        // of a model effect, and of a child run
	Models []ModelUsage // of both: by the models that were asked; nil: by the one that has the run's questions
	// Calls is how many calls of tools a child run made, with those of its own child runs; Child is its id.
	Calls int
	Child string
	// Again says of a call that it may succeed a moment later, After how long the tool asked to wait.
	Again bool
	After time.Duration
	// Duplicate says that nothing was sent: the outcome is that of an earlier call with the same business key.
	Duplicate bool

	Key   string    // the effect's path in the run
	Try   string    // of a call that was made again, and is known under its first attempt's key: that of the newest; else ""
	Once  string    // the idempotency key that was used
	Order int       // of the intent among all of the run
	Began time.Time // when the intent was recorded
	At    time.Time // when the outcome was
	// Down is for how long between the two the run was in nobody's hands, Idle for how long before Began: neither Now nor these
	// times count it. Where nothing was begun, Idle is all of it.
	Down, Idle time.Duration
}

// As is the outcome of one more attempt at an act, under the name of the first.
func (o Outcome) As(first Outcome) Outcome {
	o.Try = o.Newest()
	o.Key, o.Once, o.Order = first.Key, first.Once, first.Order
	return o
}

// Newest is the key of the newest attempt that the outcome tells of.
func (o Outcome) Newest() string { return cmp.Or(o.Try, o.Key) }

// Sent is when the intent was really recorded.
func (o Outcome) Sent() time.Time { return o.Began.Add(o.Idle) }

// Recorded is when the outcome really was.
func (o Outcome) Recorded() time.Time { return o.At.Add(o.Idle + o.Down) }

// Doubted is the outcome of a call as one of its act: that this attempt did nothing says nothing of the one before, which may
// have acted.
func (e Effect) Doubted(out Outcome) Outcome {
	if e.Doubt != "" && out.State == Failed && out.Reason != ReasonBadResult && e.Permit.Effect() != catalog.Read {
		out.State, out.Reason = Unknown, e.Doubt
	}
	return out
}
