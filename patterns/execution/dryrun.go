package execution

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/kinds"
	"patterngate/patterns/store"
	"patterngate/patterns/windows"
)

// DryRun runs a job's pattern without performing anything but questions to the model. It records nothing.
func DryRun(ctx context.Context, b Backing, job patterns.Job) (r patterns.Rehearsal, err error) {
	ctx, cancel := context.WithTimeout(ctx, job.Spec.Budget.MaxTime)
	defer cancel()
	run := &dryRun{backing: b, ctx: ctx, job: job, now: b.Now()}
	defer func() {
		switch p := recover(); {
		case p != nil:
			r, err = patterns.Rehearsal{}, &patterns.Fault{Cause: fmt.Errorf(panickedDry, p, debug.Stack())}
		case run.err != nil:
			r, err = patterns.Rehearsal{}, run.err
		}
	}()
	if r, err = kinds.DryRun(run, job.Spec, job.Asked()); err != nil {
		return r, &patterns.Fault{Cause: err}
	}
	list, err := switchesIn(b.Store())
	return r.SwitchedOff(func(row patterns.RehearsedRow) bool {
		tool := row.Tool
		if known, ok := job.Spec.Catalog.Tool(tool); ok { // as switches name it
			tool = known.Own()
		}
		return store.Begins{Tool: tool, Starts: row.Begins, Patterns: patternsOf(job)}.StoppedBy(list)
	}), err
}

// dryRun is the Run of a dry run. It performs only questions to the model, and records nothing.
type dryRun struct {
	backing Backing
	ctx     context.Context
	job     patterns.Job
	now     time.Time
	err     error // a fault that makes the judgment impossible
}

var _ patterns.Run = (*dryRun)(nil)

func (d *dryRun) ID() string     { return "" }
func (d *dryRun) Now() time.Time { return d.now }

func (d *dryRun) Recorded() time.Time { return d.now }

func (d *dryRun) Do(e patterns.Effect) patterns.Outcome {
	if a, isJudge := e.Act.(patterns.JudgeAct); isJudge {
		return d.judge(*a.Weighing)
	}
	if !e.Deadline.IsZero() && !d.now.Before(e.Deadline) {
		return patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonDeadline}
	}
	switch e.Act.(type) {
	case patterns.ProposalAct:
		return patterns.Outcome{State: patterns.OK}
	case patterns.AskAct:
		if d.job.Model != nil {
			return d.ask(e)
		}
	}
	return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}
}

// ask asks the model. The run's own time limit cuts the request.
func (d *dryRun) ask(e patterns.Effect) patterns.Outcome {
	list, err := switchesIn(d.backing.Store())
	switch {
	case err != nil:
		d.err = err
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}
	case stops(list, d.job, e):
		return patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonKillSwitch}
	}
	out, _ := send(d.ctx, d.job.Model, e, "")
	if d.ctx.Err() != nil {
		out = patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonDeadline, Cost: patterns.Cost{Usage: out.Usage}}
	}
	return out
}

// judge judges a call by what earlier runs did up to now.
func (d *dryRun) judge(w gateway.Weighing) patterns.Outcome {
	own := make([]gateway.Entry, 0, len(w.Effects()))
	for _, e := range w.Effects() {
		e.At = d.now
		own = append(own, e)
	}
	var seen map[string]gateway.Seen
	err := d.backing.Calls(func(t windows.Table) (err error) {
		seen, err = windows.Look{}.Windows(t, w, own, d.now)
		return err
	})
	if err != nil {
		d.err = err
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}
	}
	return patterns.Outcome{State: patterns.OK, Output: w.Judge(seen).Value(w.Args())}
}

// Go, Flow, Settled and Shows implement [patterns.Run]. They do nothing in a dry run.
func (d *dryRun) Go(string, int, int, func(patterns.Run, int))   {}
func (d *dryRun) Flow(func() (string, func(patterns.Run), bool)) {}
func (d *dryRun) Settled(patterns.Effect, patterns.Outcome)      {}
func (d *dryRun) Shows(func() patterns.Result)                   {}
