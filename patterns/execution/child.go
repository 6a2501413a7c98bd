package execution

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// The engine makes a call of a pattern itself. The call begins a child run, which runs beside its parent, and waits for it (see
// [patterns.ChildID]). After a crash, the two runs continue like this:
//
//	parent's intent ── no row ──▶ the child is begun ── its row ──▶ joined: any process may carry it out
//	                                                       └─ ended ──▶ parent's outcome
//
// If the other branches of a parent have ended, the parent waits while its child waits for a person. The parent is
// ready again as soon as a process takes the child. The parent's record shows how long it waited, as the time between
// two notes.

// ChildCall is a call that begins a child run, or joins the one that it began in an earlier life. One goroutine at a time
// uses it.
type ChildCall struct {
	b      *branch
	id     string // of the child
	call   patterns.CallAct
	parent patterns.Parent // what the child knows of its parent
	known  bool            // the call was recorded in an earlier life: the child may exist
	life   *Life           // the child's, if it was begun by this call; nil: not yet
	// refused is the outcome if the call was recorded, its run was not, and no run may be begun now; nil: it may. It is
	// set while the branch has the baton.
	refused *patterns.Outcome
}

// ID returns the id of the child run.
func (c *ChildCall) ID() string { return c.id }

// Begun returns what the child run is begun with.
func (c *ChildCall) Begun() patterns.Begun {
	name, _ := c.call.Permit.Pattern()
	job := c.b.Job
	return patterns.Begun{
		RunID: c.id, Pattern: name, Caller: patterns.Caller{Principal: job.Principal, Client: job.Client}, Config: job.Config, Arguments: c.call.Permit.Args(), Parent: &c.parent,
	}
}

// Refused returns why the child run must not be begun if it is not there yet; "": it may be begun.
func (c *ChildCall) Refused() string {
	if c.refused == nil {
		return ""
	}
	return c.refused.Reason
}

// Carry starts a life of the child run, which this call began.
func (c *ChildCall) Carry(l *Life) {
	c.life = l
	go l.Carry()
}

// Life returns the life that this call started; nil: none.
func (c *ChildCall) Life() *Life { return c.life }

// ChildRest is what is known of a child run. The zero ChildRest says that the run is not over.
type ChildRest struct {
	Over    bool              // the run has ended
	Ended   patterns.Ended    // how it ended
	Spec    patterns.Spec     // of its pattern
	Kept    []byte            // the result from the record, if it cannot be made again; else nil
	Begun   patterns.Parent   // what its record says about its parent
	Acted   bool              // it may have changed something
	Cost    patterns.Cost     // of the child and of its own child runs
	Waiting *patterns.Waiting // what it waits for; nil: it does not wait
	Seen    store.Standing    // its row when it began to wait
	Lacking error             // why it cannot be begun here; nil: it can
}

// beginsRun reports whether an effect is a call that begins a run.
func beginsRun(e patterns.Effect) bool {
	call, _ := callOf(e)
	name, _ := call.Permit.Pattern()
	return name != ""
}

// callPattern begins the run of a call whose intent was recorded at the time began, or joins it, and waits until it is
// over. If known is true, an earlier life recorded the intent. If the child waits for a person or the caller, the
// branch ends and the parent waits too.
func (b *branch) callPattern(a act, began time.Time, known bool) patterns.Outcome {
	call, _ := callOf(a.effect)
	c := &ChildCall{b: b, id: patterns.ChildID(b.RunID, a.key), call: call, known: known}
	if out, refused := c.refusal(); refused {
		if !known {
			return out
		}
		c.refused = &out
	}
	due, reason := b.limit(a.effect, began)
	c.share(a.key, due)
	w := &wait{due, a.order}
	if due.IsZero() {
		w = nil
	}
	ctx, cancel := b.bounded(b.lightly, due)
	defer cancel()
	told := make(chan error, 1)
	b.callsRuns = true
	b.wrote = b.wrote || changes(a.effect)
	b.Record.Flush(changes(a.effect), func(err error) { told <- err })
	taken := b.ending.taken
	b.pause(w)
	rest, err := ChildRest{}, <-told
	if err == nil && !taken {
		rest, err = b.Host.Child(ctx, c)
	}
	b.resume(w, errors.Is(ctx.Err(), context.DeadlineExceeded))
	b.alive()
	switch {
	case b.ending.taken && !rest.Over:
		return c.cut(patterns.ReasonCanceled)
	case ctx.Err() == nil && err != nil:
		b.unwind(err)
	case ctx.Err() != nil && !rest.Over:
		b.stay()
		return c.cut(reason)
	case rest.Waiting != nil:
		c.rests(a.key, rest)
	}
	return c.outcome(rest, reason)
}

// refusal returns the outcome of a call for which no run may be begun; false: one may. Such a call has no share of a
// budget, is nested too deep, or belongs to a cancelled run. A repeated call is refused too if an earlier run of the
// same act may have changed something.
func (c *ChildCall) refusal() (patterns.Outcome, bool) {
	switch {
	case c.b.recalled():
		return patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonCanceled}, true
	case c.call.Share == nil, c.depth() > patterns.MaxDepth:
		c.b.report(c.id, fmt.Errorf(childRefused, c.call.Permit.Tool(), patterns.MaxDepth))
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}, true
	case c.call.Attempt.Of != "" && !c.call.Permit.Repeatable():
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}, true
	}
	return patterns.Outcome{}, false
}

// depth returns how deep the child would be nested.
func (c *ChildCall) depth() int { return len(within(c.b.Job)) + 1 }

// within returns the patterns of a run and of the runs around it, the outermost first.
func within(job patterns.Job) []string {
	var list []string
	if job.Parent != nil {
		list = append(list, job.Parent.Within...)
	}
	return append(list, job.Spec.Name)
}

// share sets what the child knows of its parent. due is when the time of the call, and so of the child, is over.
func (c *ChildCall) share(key string, due time.Time) {
	c.parent = patterns.Parent{RunID: c.b.RunID, Key: key, Within: within(c.b.Job)}
	if c.call.Share != nil {
		c.parent.Share = *c.call.Share
	}
	c.parent.Share.Time = patterns.NoTime
	if !due.IsZero() {
		c.parent.Share.Time = max(0, due.Sub(c.b.Backing.Now()).Truncate(time.Millisecond))
	}
}

// Progress returns the function that reports the child's progress as its parent's, one report at a time; nil: the
// parent reports none.
func (c *ChildCall) Progress() func(patterns.Progress) {
	if c.b.progress == nil {
		return nil
	}
	parent, name := c.b.Life, c.call.Permit.As()
	return func(p patterns.Progress) {
		parent.telling.Lock()
		defer parent.telling.Unlock()
		parent.progress(patterns.Progress{RunID: parent.RunID, Line: name + ": " + p.Line})
	}
}

// rests ends the branch until the child continues. The parent then waits for what the child waits for.
func (c *ChildCall) rests(key string, rest ChildRest) {
	w := childWaiting(key, c.id, c.call.Permit.Tool(), rest.Waiting)
	showSoFar(patterns.Effect{Act: c.call}, &w)
	c.b.ending.parked = append(c.b.ending.parked, &w)
	c.b.ending.onChildren = append(c.b.ending.onChildren, rest.Seen)
	runtime.Goexit()
}

// childWaiting returns what a run waits for while a child run of a call waits. Its key is the call's key, followed by
// the key in the child, so that each question counts as another turn.
func childWaiting(key, child, pattern string, of *patterns.Waiting) patterns.Waiting {
	w := *of
	w.Key = key + "/" + of.Key
	if w.Child == "" {
		w.Child, w.Pattern = child, pattern
	}
	return w
}

// showSoFar adds to a wait what the run shows at a call.
func showSoFar(e patterns.Effect, w *patterns.Waiting) {
	if call, _ := callOf(e); call.SoFar != nil {
		w.SoFar = call.SoFar()
		w.SoFar.StopReason, w.SoFar.Phase = "", ""
	}
}

// cut cancels the child of a call whose time, or whose run, is over. The outcome says what the child did, if it has
// ended by then.
func (c *ChildCall) cut(reason string) patterns.Outcome {
	l := c.life
	if l == nil {
		l = c.b.Host.Life(c.id)
	}
	if l != nil {
		c.b.pause(nil)
		l.End(patterns.Note{By: c.b.Job.Principal, Channel: "engine", Reason: callOver})
		<-l.done
		c.b.resume(nil, false)
		c.b.alive()
	}
	rest, err := c.b.Host.ChildNow(c)
	if err != nil {
		c.b.unwind(err)
	}
	if !rest.Over {
		out := cutOutcome(patterns.Effect{Act: c.call}, reason)
		out.Child, out.Cost = c.childID(rest), rest.Cost
		return out
	}
	if rest.Ended.Result.OK() { // the result came at the same moment
		return c.outcome(rest, reason)
	}
	return c.failed(rest, reason)
}

// childID returns the child's id, or "" if the record shows no child.
func (c *ChildCall) childID(rest ChildRest) string {
	if rest.Begun.RunID == "" {
		return ""
	}
	return c.id
}

// outcome returns the call's outcome for a child that is over. reason is the reason of a child that was stopped because
// the time of the call was over.
func (c *ChildCall) outcome(rest ChildRest, reason string) patterns.Outcome {
	switch r := rest.Ended.Result; {
	case rest.Lacking != nil:
		c.b.report(c.id, rest.Lacking)
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonUnavailable}
	case r.OK():
		out := called(c.call.Permit.Effect(), c.call.Permit.Judge(rest.observed()))
		out.Child, out.Cost = c.id, rest.Cost
		return out
	case r.StopReason == patterns.ReasonKillSwitch:
		return c.failed(rest, patterns.ReasonKillSwitch)
	case r.StopReason == "max_seconds" && rest.Spec.Budget.MaxTime >= rest.Begun.Share.Time:
		return c.failed(rest, reason)
	}
	return c.failed(rest, patterns.ReasonToolError)
}

// failed returns the call's outcome for a child that stopped. The outcome is unknown if the child may have changed
// something.
func (c *ChildCall) failed(rest ChildRest, reason string) patterns.Outcome {
	out := patterns.Outcome{
		State: patterns.Failed, Reason: reason, Child: c.childID(rest), Cost: rest.Cost,
	}
	about := map[string]any{"status": "stopped", "stop_reason": rest.Ended.Result.StopReason}
	if say := rest.Ended.Result.Say; say != "" { // only a person can answer it
		about["say"] = say
	}
	out.Output = about
	if rest.Acted {
		out.State = patterns.Unknown
	}
	return out
}

// observed returns what the parent receives from a child that succeeded.
func (r ChildRest) observed() any {
	if r.Kept == nil {
		return patterns.Observed(r.Spec, r.Ended.Result)
	}
	v, _ := ijson.Decode(r.Kept)
	kept, _ := v.(map[string]any)
	seen := map[string]any{"status": "ok"}
	for _, of := range [...][2]string{{"answer", "answer"}, {"aggregate", "aggregate"}, {"observation", "result"}} {
		if v, there := kept[of[0]]; there {
			seen[of[1]] = v
		}
	}
	return seen
}

// Learn adds what the child's record says: its calls, its model use, and whether it may have changed something. model
// is the model that answered where the record names none; the parent may have another model.
func (r *ChildRest) Learn(h *History, model string) {
	if h.Start.Parent != nil {
		r.Begun = *h.Start.Parent
	}
	for _, m := range h.past {
		used := m.outcome.Usage
		r.Cost.Usage = r.Cost.Usage.Plus(used)
		if r.Cost.Models = patterns.PlusModels(r.Cost.Models, m.outcome.Models); len(m.outcome.Models) == 0 && used != (patterns.Usage{}) {
			r.Cost.Models = patterns.PlusModels(r.Cost.Models, []patterns.ModelUsage{{Model: model, Usage: used}})
		}
		r.Cost.Calls += m.outcome.Calls
		if m.intent == nil || m.intent.Kind != patterns.ToolEffect {
			continue
		}
		r.Cost.Calls++
		certain := m.outcome.State == patterns.Failed && m.outcome.Reason != patterns.ReasonBadResult || m.outcome.State == patterns.Canceled
		r.Acted = r.Acted || m.intent.Effect != "read" && !certain
	}
}

// childTime returns the start of the time of a call that began a run in an earlier life. It is later than the intent by
// the time in which the child or its parent waited, whichever is longer.
func (b *branch) childTime(m *memory, key string) time.Time {
	rested, err := b.Host.ChildRested(patterns.ChildID(b.RunID, key))
	if err != nil {
		b.unwind(err)
	}
	return m.began.Add(max(b.clock.idle-m.idle, rested))
}

// drops returns the step that cancels the child of a call that is over before it. The step is part of the transaction
// of the call's outcome. nil: the call has no child to cancel.
func (b *branch) drops(e patterns.Effect, out patterns.Outcome) func(journal.Event) []store.Step {
	if !beginsRun(e) || out.State == patterns.OK || out.Order == 0 {
		return nil
	}
	child, _ := journal.RunNumber(patterns.ChildID(b.RunID, out.Key))
	step := store.DropChild{N: child, Parent: b.N}
	return func(journal.Event) []store.Step { return []store.Step{step} }
}

// HasChildren reports whether a run may have child runs that are not over.
func (l *Life) HasChildren() bool {
	if l.callsRuns {
		return true
	}
	for _, m := range l.past {
		if m.intent != nil && m.intent.Kind == patterns.ToolEffect && m.outcome.State == "" {
			return true
		}
	}
	return false
}
