package execution

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// here answers effects that need no waiting: the caller's proposals, approvers that decide at once, and pauses without a time. It
// returns false for any other effect.
func here(e patterns.Effect) (patterns.Outcome, bool) {
	switch a := e.Act.(type) {
	case patterns.PauseAct:
		return patterns.Outcome{State: patterns.OK}, e.Timeout <= 0
	case patterns.ProposalAct:
		return patterns.Outcome{State: patterns.OK}, true
	case patterns.TurnAct: // this engine does not wait for the caller
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired}, true
	case patterns.ConsentAct:
		if a.Approval != nil {
			return patterns.Outcome{State: patterns.OK, Output: a.Approval.Approver.Decide(a.Approval.Action).Value()}, true
		}
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}, true
	case patterns.SettlementAct: // no person can settle it either
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}, true
	}
	return patterns.Outcome{}, false
}

// delivery is an effect in progress. Its outcome goes to one place.
type delivery struct {
	*Life
	act     act
	result  chan patterns.Outcome // holds one outcome
	vain    chan struct{}         // closed when an outcome came too late
	cut     string                // the reason of the outcome when the effect's time is over
	refused error                 // the intent could not be recorded; set before result is sent
	settled atomic.Bool           // the result was delivered, or the branch no longer waits for it
}

// make performs the effect and delivers its outcome, even if a tool or adapter ends its goroutine.
func (d *delivery) make(ctx context.Context) {
	e := d.act.effect
	out, cause := broken(e), fmt.Errorf(endedGoroutine, e.Name)
	defer func() { d.hand(ctx, out, cause) }()
	d.Host.Hook("send")
	out, cause = send(ctx, d.Job.Model, e, d.act.once)
	d.Host.Hook("sent")
}

// refuse reports to the branch that nothing was done.
func (d *delivery) refuse(cause error) {
	if d.settled.CompareAndSwap(false, true) {
		d.refused = cause
		d.result <- patterns.Outcome{}
	}
}

// unsentGrace is how long a configured tool that changes something may still report, after its time-out, that nothing was sent. The
// tool sees the time-out at the same moment as the branch. Tools of this program are cut at once.
const unsentGrace = 50 * time.Millisecond

// hand delivers the outcome to the waiting branch. A late outcome is recorded as late, with one exception: a call that was
// certainly not sent. That call is not in doubt, and if it is repeatable it may succeed on a retry. A late outcome that only
// reports the time-out is not recorded, nor is the end of a pause.
func (d *delivery) hand(ctx context.Context, out patterns.Outcome, cause error) {
	timely := inTime(ctx)
	if !timely && d.isUnsent(ctx, out) {
		timely = true
		switch call, _ := callOf(d.act.effect); {
		case d.cut == patterns.ReasonDeadline: // the run's time is over in any case
			out.Reason, out.Again, out.After = d.cut, false, 0
		case call.Permit.Repeatable() && call.Attempt.Retried:
			out.Reason, out.Again, out.After = d.cut, false, 0
		case call.Permit.Repeatable():
			out.Again = true
		}
	}
	if timely && d.settled.CompareAndSwap(false, true) {
		d.report(d.act.key, cause)
		d.result <- out
		return
	}
	close(d.vain)
	if !does[patterns.PauseAct](d.act.effect) && !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		d.Record.late(d.act.key, d.Backing.Now(), journal.OutcomeOf(d.act.effect, out))
	}
}

// isUnsent reports whether a call that changes something was cut by its time-out and certainly not sent.
func (d *delivery) isUnsent(ctx context.Context, out patterns.Outcome) bool {
	return changes(d.act.effect) && out.State == patterns.Failed && out.Reason == patterns.ReasonUnavailable && !errors.Is(ctx.Err(), context.Canceled)
}

// lastWord returns the outcome of a configured tool's writing call that comes shortly after its time-out. It returns false if none
// comes.
func (d *delivery) lastWord(scope context.Context) (out patterns.Outcome, ok bool) {
	if call, _ := callOf(d.act.effect); !changes(d.act.effect) || call.Permit.Server() == "" {
		return out, false
	}
	timer := time.NewTimer(unsentGrace)
	defer timer.Stop()
	select {
	case out = <-d.result:
		return out, true
	case <-d.vain:
	case <-scope.Done():
	case <-timer.C:
	}
	return out, false
}

// inTime reports whether a context's time is not over. It also checks the clock, because a timer may fire late.
func inTime(ctx context.Context) bool {
	due, limited := ctx.Deadline()
	return ctx.Err() == nil && (!limited || time.Now().Before(due))
}

// broken returns the outcome of an effect whose performer panicked or ended its goroutine. For a tool the outcome is unknown.
func broken(e patterns.Effect) patterns.Outcome {
	if does[patterns.CallAct](e) {
		return patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonToolPanic}
	}
	return patterns.Outcome{State: patterns.Failed, Reason: "llm_error:server", Cost: patterns.Cost{Usage: patterns.Usage{Requests: 1}}}
}

// close notes that the branch no longer waits for the result. It returns false if the result was delivered before.
func (d *delivery) close() bool { return d.settled.CompareAndSwap(false, true) }

// send performs a model question, a call or a pause.
func send(ctx context.Context, model patterns.Model, e patterns.Effect, once string) (out patterns.Outcome, cause error) {
	defer func() { // for a model adapter: gateway.Permit.Perform recovers a tool's panic
		if r := recover(); r != nil {
			out = broken(e)
			cause = fmt.Errorf(toolPanicked, e.Name, r, debug.Stack())
		}
	}()
	switch a := e.Act.(type) {
	case patterns.AskAct:
		return ask(ctx, model, *a.Question)
	case patterns.CallAct:
		done := a.Permit.Perform(ctx, once)
		return a.Doubted(called(a.Permit.Effect(), done)), done.Cause
	case patterns.PauseAct:
		<-ctx.Done()
		return patterns.Outcome{State: patterns.OK}, nil
	}
	return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}, nil // other acts are not sent
}

func ask(ctx context.Context, model patterns.Model, q patterns.Question) (patterns.Outcome, error) {
	answer, err := model.Ask(ctx, q)
	cost := patterns.Cost{Usage: answer.Usage, Models: answer.Models}
	if err == nil {
		return patterns.Outcome{State: patterns.OK, Output: answer.Text, Cost: cost}, nil
	}
	fault, ok := errors.AsType[*patterns.ModelFault](err)
	if !ok {
		return patterns.Outcome{State: patterns.Failed, Reason: "llm_unreachable", Cost: cost}, err
	}
	out := patterns.Outcome{State: patterns.Failed, Reason: fault.Reason, Cost: cost}
	if fault.Say != "" || len(fault.Candidates) > 0 {
		candidates := make([]any, len(fault.Candidates))
		for i, c := range fault.Candidates {
			candidates[i] = c
		}
		out.Output = map[string]any{"say": fault.Say, "candidates": candidates}
	}
	return out, fault.Cause
}

// called returns the outcome of a performed call. A call that only reads is never in doubt after a time-out or a lost reply.
func called(effect catalog.Effect, done gateway.Done) patterns.Outcome {
	out := outcomeOfCall(done)
	out.Again, out.After = done.Again, done.After
	if effect == catalog.Read && (out.Reason == patterns.ReasonTimeout || out.Reason == patterns.ReasonBrokenReply) {
		out.State = patterns.Failed
	}
	return out
}

func outcomeOfCall(done gateway.Done) patterns.Outcome {
	switch done.State {
	case gateway.DoneOK:
		return patterns.Outcome{State: patterns.OK, Output: done.Value, Bytes: journal.ExtentOf(done.Value, done.Bytes)}
	case gateway.DoneBadResult:
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonBadResult, Output: done.Value, Bytes: journal.ExtentOf(done.Value, done.Bytes)}
	case gateway.DonePanic:
		return patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonToolPanic}
	case gateway.DoneUnavailable:
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonUnavailable}
	case gateway.DoneTimeout:
		return patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonTimeout}
	case gateway.DoneLost:
		return patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonBrokenReply}
	case gateway.DoneError:
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonToolError}
	}
	return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonRefused}
}
