package local

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
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

// childCall is a call that begins a child run, or joins the one that it began in an earlier life.
type childCall struct {
	*branch
	id     string // of the child
	call   patterns.CallAct
	parent patterns.Parent // what the child knows of its parent
	known  bool            // the call was recorded in an earlier life: the child may exist
	life   *life           // the child's, if it was begun by this call; nil: not yet
	// refused is the outcome if the call was recorded, its run was not, and no run may be begun now; nil: it may. It is
	// set while the branch has the baton.
	refused *patterns.Outcome
}

// childRest is the state of a child run that has ended or waits.
type childRest struct {
	over    bool
	ended   patterns.Ended
	spec    patterns.Spec
	kept    []byte // the result from the record, if it cannot be made again; else nil
	begun   patterns.Parent
	acted   bool              // it may have changed something
	cost    patterns.Cost     // of the child and of its own child runs
	waiting *patterns.Waiting // what it waits for; nil: it is over
	seen    store.Standing    // its row's state then
	lacking error             // why it cannot be begun here
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
	c := &childCall{branch: b, id: patterns.ChildID(b.id, a.key), call: call, known: known}
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
	b.record.flush(changes(a.effect), func(err error) { told <- err })
	taken := b.taken
	b.pause(w)
	rest, err := childRest{}, <-told
	if err == nil && !taken {
		rest, err = b.engine.keeper().child(ctx, c)
	}
	b.resume(w, errors.Is(ctx.Err(), context.DeadlineExceeded))
	b.alive()
	switch {
	case b.taken && !rest.over:
		return c.cut(patterns.ReasonCanceled)
	case ctx.Err() == nil && err != nil:
		b.unwind(err)
	case ctx.Err() != nil && !rest.over:
		b.stay()
		return c.cut(reason)
	case rest.waiting != nil:
		c.rests(a.key, rest)
	}
	return c.outcome(rest, reason)
}

// refusal returns the outcome of a call for which no run may be begun; false: one may. Such a call has no share of a
// budget, is nested too deep, or belongs to a cancelled run. A repeated call is refused too if an earlier run of the
// same act may have changed something.
func (c *childCall) refusal() (patterns.Outcome, bool) {
	switch {
	case c.recalled():
		return patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonCanceled}, true
	case c.call.Share == nil, c.depth() > patterns.MaxDepth:
		c.report(c.id, fmt.Errorf("a run of %s is not begun: runs lie at most %d deep in each other, and each within a share of its parent's budget", c.call.Permit.Tool(), patterns.MaxDepth))
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}, true
	case c.call.Attempt.Of != "" && !c.call.Permit.Repeatable():
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}, true
	}
	return patterns.Outcome{}, false
}

// depth returns how deep the child would be nested.
func (c *childCall) depth() int { return len(within(c.job)) + 1 }

// within returns the patterns of a run and of the runs around it, the outermost first.
func within(job patterns.Job) []string {
	var list []string
	if job.Parent != nil {
		list = append(list, job.Parent.Within...)
	}
	return append(list, job.Spec.Name)
}

// share sets what the child knows of its parent. due is when the time of the call, and so of the child, is over.
func (c *childCall) share(key string, due time.Time) {
	c.parent = patterns.Parent{RunID: c.branch.id, Key: key, Within: within(c.job)}
	if c.call.Share != nil {
		c.parent.Share = *c.call.Share
	}
	c.parent.Share.Time = patterns.NoTime
	if !due.IsZero() {
		c.parent.Share.Time = max(0, due.Sub(c.engine.now()).Truncate(time.Millisecond))
	}
}

// begin creates the child run. It does not store the run yet. Its error is a [patterns.Lacking] if this process cannot
// run the pattern.
func (c *childCall) begin() (*run, error) {
	source := c.engine.source()
	name, _ := c.call.Permit.Pattern()
	of := patterns.Begun{
		RunID: c.id, Pattern: name, Caller: patterns.Caller{Principal: c.job.Principal, Client: c.job.Client}, Config: c.job.Config, Arguments: c.call.Permit.Args(), Parent: &c.parent,
	}
	if source == nil {
		return nil, &patterns.Lacking{Cause: "config_missing", Needs: []string{of.Config}}
	}
	job, err := source.Job(of)
	if err != nil {
		return nil, err
	}
	job.Principal, job.Client, job.Config, job.Arguments = of.Principal, of.Client, of.Config, of.Arguments
	job.ClientVersion, job.Era = c.job.ClientVersion, c.job.Era
	job = job.Begun(of.Parent)
	if _, ok := c.engine.codeOf(job.Spec.Kind); !ok || job.Spec.Name != name {
		return nil, &patterns.Lacking{Cause: "tool_missing", Needs: []string{name}}
	}
	return &run{engine: c.engine, id: c.id, job: job, record: &Record{}, size: job.Size, state: patterns.Running, within: c.branch.run}, nil
}

// live starts the child's life.
func (c *childCall) live(r *run) {
	c.life = newLife(r, nil, c.progressOf())
	go c.life.carry()
}

// progressOf returns the function that reports the child's progress as its parent's, one report at a time; nil: the
// parent reports none.
func (c *childCall) progressOf() func(patterns.Progress) {
	if c.progress == nil {
		return nil
	}
	parent, name := c.branch.life, c.call.Permit.As()
	return func(p patterns.Progress) {
		parent.telling.Lock()
		defer parent.telling.Unlock()
		parent.progress(patterns.Progress{RunID: parent.id, Line: name + ": " + p.Line})
	}
}

// rests ends the branch until the child continues. The parent then waits for what the child waits for.
func (c *childCall) rests(key string, rest childRest) {
	w := childWaiting(key, c.id, c.call.Permit.Tool(), rest.waiting)
	if c.call.SoFar != nil {
		w.SoFar = c.call.SoFar()
		w.SoFar.StopReason, w.SoFar.Phase = "", ""
	}
	c.parked = append(c.parked, &w)
	c.onChildren = append(c.onChildren, rest.seen)
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

// cut cancels the child of a call whose time, or whose run, is over. The outcome says what the child did, if it has
// ended by then.
func (c *childCall) cut(reason string) patterns.Outcome {
	l := c.life
	if l == nil {
		l = c.engine.lives(c.job.Principal, c.id)
	}
	if l != nil {
		c.pause(nil)
		l.end(patterns.Note{By: c.job.Principal, Channel: "engine", Reason: "the call that began it is over"})
		<-l.done
		c.resume(nil, false)
		c.alive()
	}
	rest, err := c.engine.keeper().ended(c)
	if err != nil {
		c.unwind(err)
	}
	if !rest.over {
		out := cutOutcome(patterns.Effect{Act: c.call}, reason)
		out.Child, out.Cost = c.childID(rest), rest.cost
		return out
	}
	if rest.ended.Result.OK() { // the result came at the same moment
		return c.outcome(rest, reason)
	}
	return c.failed(rest, reason)
}

// childID returns the child's id, or "" if the record shows no child.
func (c *childCall) childID(rest childRest) string {
	if rest.begun.RunID == "" {
		return ""
	}
	return c.id
}

// outcome returns the call's outcome for a child that is over. reason is the reason of a child that was stopped because
// the time of the call was over.
func (c *childCall) outcome(rest childRest, reason string) patterns.Outcome {
	switch r := rest.ended.Result; {
	case rest.lacking != nil:
		c.report(c.id, rest.lacking)
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonUnavailable}
	case r.OK():
		out := called(c.call.Permit.Effect(), c.call.Permit.Judge(rest.observed()))
		out.Child, out.Cost = c.id, rest.cost
		return out
	case r.StopReason == patterns.ReasonKillSwitch:
		return c.failed(rest, patterns.ReasonKillSwitch)
	case r.StopReason == "max_seconds" && rest.spec.Budget.MaxTime >= rest.begun.Share.Time:
		return c.failed(rest, reason)
	}
	return c.failed(rest, patterns.ReasonToolError)
}

// failed returns the call's outcome for a child that stopped. The outcome is unknown if the child may have changed
// something.
func (c *childCall) failed(rest childRest, reason string) patterns.Outcome {
	out := patterns.Outcome{
		State: patterns.Failed, Reason: reason, Child: c.childID(rest), Cost: rest.cost,
		Output: map[string]any{"status": "stopped", "stop_reason": rest.ended.Result.StopReason},
	}
	if rest.acted {
		out.State = patterns.Unknown
	}
	return out
}

// observed returns what the parent receives from a child that succeeded.
func (r childRest) observed() any {
	if r.kept == nil {
		return patterns.Observed(r.spec, r.ended.Result)
	}
	v, _ := ijson.Decode(r.kept)
	kept, _ := v.(map[string]any)
	seen := map[string]any{"status": "ok"}
	for _, of := range [...][2]string{{"answer", "answer"}, {"aggregate", "aggregate"}, {"observation", "result"}} {
		if v, there := kept[of[0]]; there {
			seen[of[1]] = v
		}
	}
	return seen
}

// learned adds what the child's record says: its calls, its model use, and whether it may have changed something. model
// is the model that answered where the record names none; the parent may have another model.
func (r *childRest) learned(h *history, model string) {
	if h.start.Parent != nil {
		r.begun = *h.start.Parent
	}
	for _, m := range h.past {
		used := m.outcome.Usage
		r.cost.Usage = r.cost.Usage.Plus(used)
		if r.cost.Models = patterns.PlusModels(r.cost.Models, m.outcome.Models); len(m.outcome.Models) == 0 && used != (patterns.Usage{}) {
			r.cost.Models = patterns.PlusModels(r.cost.Models, []patterns.ModelUsage{{Model: model, Usage: used}})
		}
		r.cost.Calls += m.outcome.Calls
		if m.intent == nil || m.intent.Kind != patterns.ToolEffect {
			continue
		}
		r.cost.Calls++
		certain := m.outcome.State == patterns.Failed && m.outcome.Reason != patterns.ReasonBadResult || m.outcome.State == patterns.Canceled
		r.acted = r.acted || m.intent.Effect != "read" && !certain
	}
}
