package execution

import (
	"context"
	"errors"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
	"patterngate/patterns/windows"
)

// branch is one line of pattern code in a life, as a goroutine: the root, a branch of Go, or a body of a Flow. It
// implements [patterns.Run] for that code. A branch runs pattern code only while it holds the baton of its life.
type branch struct {
	*Life
	keys      *keys
	at        time.Time
	newest    time.Time     // see Recorded
	started   chan struct{} // closed when the branch first releases the baton; nil for the root
	flow      *flow         // the Flow of which this branch is a body; nil: none
	active    bool          // in a Flow: it has the turn
	flows     bool          // its own Flow is running
	planned   []store.Step  // they store what a step of a plan decided, with its outcome
	read      windows.Look  // what the newest judgment saw of earlier runs
	outwaited bool          // the time to wait for another call with the same business key was over, and that call was still under way
}

var _ patterns.Run = (*branch)(nil)

func (b *branch) ID() string     { return b.RunID }
func (b *branch) Now() time.Time { return b.at }

func (b *branch) Recorded() time.Time { return b.newest }

// saw moves the branch's real time forward to an outcome's. For a body of a Flow it moves the parent's too, because
// bodies continue in the order of the record.
func (b *branch) saw(out patterns.Outcome) {
	at := out.Answered()
	if at.After(b.newest) {
		b.newest = at
	}
	if b.flow != nil && at.After(b.flow.parent.newest) {
		b.flow.parent.newest = at
	}
}

// Do records the intent, performs the effect and records its outcome. If the record has the outcome already, Do returns
// that. The caller holds the baton, and holds it again when Do returns.
func (b *branch) Do(e patterns.Effect) patterns.Outcome {
	if b.flows {
		panic(errNested)
	}
	switch a := e.Act.(type) {
	case nil:
		panic(errNoAct)
	case patterns.JudgeAct:
		return b.weighs(e, a)
	}
	b.alive()
	b.stay()
	key := b.keys.next(e.Name)
	b.phase = e.Phase
	m := b.past[key]
	if journal.IsQuestion(e) {
		e = b.asking(key, e, m)
	}
	switch {
	case b.dry != nil:
		return b.rehearse(m, key, e)
	case m != nil && m.outcome.State != "":
		return b.recorded(m, e)
	case m != nil:
		return b.again(m, key, e)
	}
	b.judged(e.Judged, b.keys)
	b.awaitFirst(e)
	now := b.Backing.Now()
	if reason := b.refusal(key, e, now); reason != "" {
		return b.ended(e, notBegun(key, reason), now)
	}
	return b.first(key, e, now)
}

// errNoAct is the panic of pattern code that performs an effect without an act.
var errNoAct = errors.New("local: an effect has no act")

// callOf returns the call that an effect makes; false: it makes none.
func callOf(e patterns.Effect) (patterns.CallAct, bool) {
	c, isCall := e.Act.(patterns.CallAct)
	return c, isCall
}

// does reports whether an effect's act has this type.
func does[A patterns.Act](e patterns.Effect) bool {
	_, is := e.Act.(A)
	return is
}

// first performs an effect that the record does not have yet.
func (b *branch) first(key string, e patterns.Effect, now time.Time) patterns.Outcome {
	a := act{key: key, effect: e}
	call, isCall := callOf(e)
	if isCall {
		a.once = onceOf(b.RunID, key, call)
	}
	done, isDone := b.duplicated(key, e)
	holds := b.holding(e, now)
	if isDone { // nothing is sent
		holds = nil
	}
	if !b.Backing.admits(b, key, a.once, e, holds, now) {
		b.budget.giveBack(e.Quotas)
		return b.ended(e, notBegun(key, patterns.ReasonStale), now)
	}
	if !b.Backing.takesKey(b, key, e, isDone) { // another call of this process took the key first
		b.awaitFirst(e)
		done, isDone = b.duplicated(key, e)
	}
	if !b.Backing.takesKey(b, key, e, isDone) {
		return b.ended(e, notBegun(key, patterns.ReasonOnceReused), now)
	}
	b.budget.order++
	begins, steps := b.Backing.intent(b, key, a.once, e, isDone, holds)
	intent := b.Record.appendIntent(begins, key, now, journal.IntentOf(e, a.once), steps)
	a.order, a.began, a.idle = b.budget.order, intent.At, b.clock.idle
	b.tell(e.Said...)
	if isCall {
		b.budget.calls++
		b.sent[key] = intent.At
	}
	if e.Doing != "" {
		b.tell(e.Phase + ": " + e.DoneBy(b.Job.Model))
	}
	b.see(e, 0)
	if isWait(e.Kind(), e.Name) {
		b.clock.waited.begin(intent.At)
	}
	if wait, may := b.patience(e); may {
		if journal.IsQuestion(e) {
			b.entered(e.Waiting(), intent)
		}
		b.park(key, e, intent.At, wait)
	}
	if isDone {
		return b.finish(a, done)
	}
	if beginsRun(e) {
		return b.finish(a, b.callPattern(a, now, false))
	}
	return b.made(a, now)
}

// notBegun returns the outcome of an effect that is not begun.
func notBegun(key, reason string) patterns.Outcome {
	return patterns.Outcome{State: patterns.Canceled, Reason: reason, Recorded: patterns.Recorded{Key: key}}
}

// patience returns how long an effect waits for a person or the caller; false: it does not wait.
func (b *branch) patience(e patterns.Effect) (time.Duration, bool) {
	w := e.Waiting()
	switch {
	case w == nil:
		return 0, false
	case w.Kind == patterns.ForCaller:
		return b.Host.CallerWait()
	case w.Kind == patterns.ForApproval, w.Kind == patterns.ForSettlement:
		return e.Timeout, b.Backing.people()
	}
	return e.Timeout, true
}

// finish completes the outcome of an effect with its key, order and times, records it and returns it.
func (b *branch) finish(a act, out patterns.Outcome) patterns.Outcome {
	b.see(a.effect, 1)
	out.Key, out.Once, out.Order = a.key, a.once, a.order
	out.Began, out.Down, out.Idle = a.began.Add(-a.idle), b.clock.idle-a.idle, a.idle
	now := b.Backing.Now()
	if isWait(a.effect.Kind(), a.effect.Name) {
		b.clock.waited.end(now)
	}
	return b.ended(a.effect, out, now)
}

// see updates the progress that observers of the run see: the current effect, and how many more calls were answered.
func (b *branch) see(e patterns.Effect, answered int) {
	now := *b.now.Load()
	now.Phase, now.Doing = e.Phase, e.DoneBy(b.Job.Model)
	if e.Total > 0 {
		now.Total = e.Total
	}
	if does[patterns.CallAct](e) {
		now.Done += answered
		if now.Total > 0 { // retries and look-ups do not count as progress
			now.Done = min(now.Done, now.Total)
		}
	}
	b.now.Store(&now)
}

// refusal returns the reason why an effect is not begun; "": it may begin. The reasons are a kill switch, a cancelled
// run, an approval or a business key that does not permit the call, a spent quota, and a deadline. A deadline counts if
// it has passed, or if too little time is left for a pause.
func (b *branch) refusal(key string, e patterns.Effect, now time.Time) string {
	if b.isStopped(e) {
		return patterns.ReasonKillSwitch
	}
	if does[patterns.PlanAct](e) { // if it were refused, a plan would stay claimed
		return ""
	}
	if b.recalled() {
		return patterns.ReasonCanceled
	}
	if call, isCall := callOf(e); isCall {
		if reason := b.ungranted(key, onceOf(b.RunID, key, call), call.Permit, false); reason != "" {
			return reason
		}
		if b.isReused(key, e) {
			return patterns.ReasonOnceReused
		}
	}
	spent := b.budget.take(e.Quotas)
	pause, _ := e.Act.(patterns.PauseAct)
	switch {
	case spent != "":
		return spent
	case pause.InTime && !e.Deadline.IsZero() && !b.clock.virtual(now).Add(e.Timeout).Before(b.clock.deadline(e, now)):
		return patterns.ReasonNoTime
	case !e.Deadline.IsZero() && !b.clock.virtual(now).Before(b.clock.deadline(e, now)):
		return patterns.ReasonDeadline
	}
	return ""
}

// ended records an outcome and moves the branch's time forward. In a state file, the outcome of a call that changes
// something or has a business key is on the disk before the pattern sees it. Other outcomes are written with the next
// intent.
func (b *branch) ended(e patterns.Effect, out patterns.Outcome, at time.Time) patterns.Outcome {
	if out.Order > 0 {
		b.conclude(e, out, false)
	}
	event := b.Record.appendAlso(patterns.OutcomeEvent, out.Key, at, journal.OutcomeOf(e, out), b.Backing.outcome(b, e, out))
	b.budget.asked += out.Usage.Requests
	b.at = b.clock.virtual(event.At)
	if out.At = b.at; out.Order == 0 {
		out.Idle = b.clock.idle
	}
	b.clock.latest = event.At
	if a, isPlan := e.Act.(patterns.PlanAct); isPlan && out.State == patterns.OK && a.Step.Op != patterns.LoadOp {
		b.Backing.planKept(b, a.Step)
	}
	durable := b.Backing.awaits(b, e, out)
	switch refused := out.Order == 0; {
	case b.flow != nil && !refused && !atOnce(e):
		b.flow.await(b, event.Seq, durable)
	case durable:
		b.written()
	}
	b.saw(out)
	return out
}

// written waits until everything recorded so far is on the disk.
func (b *branch) written() {
	told := make(chan error, 1)
	b.Record.Flush(true, func(err error) { told <- err })
	b.pause(nil)
	err := <-told
	b.resume(nil, false)
	if err != nil {
		b.unwind(err)
	}
}

// judged records the proposals that got no intent.
func (l *Life) judged(list []patterns.Judged, k *keys) {
	for _, j := range list {
		l.Record.Append(patterns.JudgedEvent, k.peek(j.Name), l.Backing.Now(), journal.JudgedBody(j.Body))
	}
}

// limit returns when an effect is cut, and the reason that is recorded then. A zero time: it is not cut.
func (l *Life) limit(e patterns.Effect, began time.Time) (due time.Time, reason string) {
	reason = patterns.ReasonDeadline
	if !e.Deadline.IsZero() {
		due = l.clock.deadline(e, l.Backing.Now()).Add(l.clock.idle)
	}
	if e.Timeout > 0 && (due.IsZero() || began.Add(e.Timeout).Before(due)) {
		due, reason = began.Add(e.Timeout), patterns.ReasonTimeout
	}
	return due, reason
}

// act is one effect that is being performed.
type act struct {
	effect patterns.Effect
	key    string
	once   string // the idempotency key
	order  int
	began  time.Time     // when its intent was recorded
	idle   time.Duration // how long no process carried out the run before that
}

// perform performs an effect once its intent is recorded. It waits for the outcome, for the effect's limit or for the
// end of the run.
func (b *branch) perform(a act, now time.Time) patterns.Outcome {
	if of, isPlan := a.effect.Act.(patterns.PlanAct); isPlan {
		return b.step(of.Step)
	}
	if out, ok := here(a.effect); ok {
		return out
	}
	if b.recalled() { // nothing was sent yet
		return patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonCanceled}
	}
	b.wrote = b.wrote || changes(a.effect)
	due, reason := b.limit(a.effect, now)
	w := &wait{due, a.order}
	if due.IsZero() {
		w = nil
	}
	scope := b.scope(a.effect)
	ctx, cancel := b.bounded(scope, due)
	defer cancel()
	early := b.curtailed(a.effect, cancel)
	d := &delivery{Life: b.Life, act: a, result: make(chan patterns.Outcome, 1), vain: make(chan struct{}), cut: reason}
	b.Record.Flush(changes(a.effect), func(err error) {
		if err != nil {
			d.refuse(err)
			return
		}
		b.Host.Perform(func() { d.make(ctx) })
	})
	b.pause(w)
	select {
	case out := <-d.result:
		b.resume(w, false)
		return b.unlessRefused(d, out)
	case <-ctx.Done():
	}
	if out, ok := d.lastWord(scope); ok {
		b.resume(w, false)
		return b.unlessRefused(d, out)
	}
	if !d.close() { // the outcome came at the same moment
		b.resume(w, false)
		return b.unlessRefused(d, <-d.result)
	}
	b.resume(w, scope.Err() == nil && !early.done.Load()) // scope ends when the run is cancelled, given up or left
	b.alive()
	if scope.Err() != nil {
		b.stay()
	}
	if b.ending.taken {
		reason = patterns.ReasonCanceled
	}
	return cutOutcome(a.effect, reason)
}

// unlessRefused returns the outcome. It unwinds the branch instead if the intent could not be recorded, so that nothing
// was done.
func (b *branch) unlessRefused(d *delivery, out patterns.Outcome) patterns.Outcome {
	b.alive()
	if d.refused != nil {
		b.unwind(d.refused)
	}
	return out
}

// bounded returns the context of one effect. The context ends when the effect is cut.
func (l *Life) bounded(scope context.Context, due time.Time) (context.Context, context.CancelFunc) {
	if due.IsZero() {
		return context.WithCancel(scope)
	}
	return context.WithTimeout(scope, due.Sub(l.Backing.Now())) // the record's clock may differ from the system clock
}
