package kinds

import (
	"fmt"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// Supervise lets a worker propose one action after the other. Each action is approved, changed, blocked or put to a person
// before it is executed (spec/patterns.md section 5 under section 0). A run that succeeds ends with a closing answer.
func Supervise(run patterns.Run, spec patterns.Spec, task patterns.Task) patterns.Result {
	s := newSupervision(run, spec, task)
	if stop := s.checkWhole(s.Queue); stop != nil {
		return s.result(stop)
	}
	for s.step = 1; s.step <= spec.Budget.MaxSteps; s.step++ {
		a, stop := s.next()
		if stop == nil {
			stop = s.judge(a)
		}
		if stop == nil && a.executed.Final {
			answer, stop := s.closing(a)
			if stop != nil {
				return s.result(stop)
			}
			s.finish(a)
			return step.WithAnswer(s.result(nil), answer)
		}
		if stop == nil {
			stop = s.execute(a)
		}
		if stop != nil {
			return s.result(stop)
		}
	}
	s.step--
	return s.result(step.Stopped(patterns.PhaseWorker, "max_steps"))
}

func newSupervision(run patterns.Run, spec patterns.Spec, task patterns.Task) *supervision {
	s := &supervision{Log: step.Begin(run, spec, task, gateway.Config{
		Family: gateway.ToolFamily, SplitLoops: true,
		Calls: []gateway.CallBudget{{Limit: spec.Budget.MaxToolCalls, Reason: "max_tool_calls"}},
	})}
	s.SoFar = func() patterns.Result { return s.result(nil) }
	s.Limits = s.bounds
	return s
}

// supervision is the state of a run of [Supervise].
type supervision struct {
	*step.Log
	step int
	done []patterns.ActionDone
}

// act is one action on its way from proposal to execution.
type act struct {
	proposed gateway.Action
	executed gateway.Action    // after revisions and the person
	from     string            // original, supervisor_revised, human_revised
	ruling   gateway.Ruling    // of the first review, which rows show
	final    gateway.Ruling    // the one that covers what is executed
	asks     gateway.Ruling    // the newest ruling that requires a person
	by       patterns.Approver // with the strictest limits of those rulings
	sure     bool              // it is sure enough, for the final ruling, that a person decided
	human    *patterns.HumanApproval
	approval string // the id of their approval
}

// checkWhole judges all actions that the caller sends at once, before any of them runs.
func (s *supervision) checkWhole(batch []document.Intent) *step.Stop {
	var all document.Refusal
	var raw any
	for _, intent := range batch {
		_, refusal := gateway.ParseAction(intent, s.rules())
		if refusal == nil {
			continue
		}
		if all.Reason == "" {
			all.Reason, raw = refusal.Reason, intent.Raw()
		}
		all.Problems = append(all.Problems, refusal.Problems...)
	}
	if all.Reason == "" || s.Spec.Budget.MaxSteps == 0 {
		return nil
	}
	all.Problems = document.CapProblems(all.Problems)
	return s.Refused(patterns.PhaseWorker, "raw_action", &all, raw)
}

func (s *supervision) rules() gateway.ActionRules {
	return gateway.ActionRules{Allowed: s.Spec.Policy, Catalog: s.Spec.Catalog, Final: s.Spec.Answer}
}

// next gets the worker's next action and reads it.
func (s *supervision) next() (*act, *step.Stop) {
	var action gateway.Action
	left := s.Spec.RepairTurns
	refused := s.ReadIntent(patterns.Question{
		Ask: patterns.AskAction, Prompt: s.Spec.Prompts.Decide, Payload: s.payload(), Tools: s.Tools,
	}, func(q patterns.Question) (document.Intent, *step.Stop) {
		return s.Log.Next(patterns.PhaseWorker, q, s.asking())
	}, func(intent document.Intent) *step.Stop {
		var refusal *document.Refusal
		if action, refusal = gateway.ParseAction(intent, s.rules()); refusal != nil {
			return s.Refused(patterns.PhaseWorker, "raw_action", refusal, intent.Raw())
		}
		if left--; left < 0 || !action.Final || s.ByCaller { // closing judges the answer in any case
			return nil
		}
		if _, refusal = s.ReadAnswer(action.Answer); refusal != nil {
			return s.RefusedAnswer(patterns.PhaseWorker, refusal, action.Answer)
		}
		return nil
	})
	if refused != nil {
		return nil, refused
	}
	s.Filled = append(s.Filled, action.Filled...)
	return &act{proposed: action, executed: action, from: "original", by: s.Spec.Approver, sure: true}, nil
}

// asking returns how to ask the caller for more actions.
func (s *supervision) asking() step.Turn {
	left := s.Spec.Budget.MaxSteps - s.step + 1
	a := step.Turn{
		Argument: "actions", Names: append(slices.Clone(s.Spec.Policy), "final"), Left: left, Judge: s.checkWhole,
		SoFar: func() patterns.Result {
			r := s.result(nil)
			r.Budget["max_steps"] = patterns.Spent{Limit: float64(s.Spec.Budget.MaxSteps), Used: float64(s.step - 1)}
			return r
		},
	}
	if n := len(s.done); n > 0 {
		a.Last = s.done[n-1].Observation
	}
	return a
}

// judge has the action reviewed, and asks a person if the policy requires one.
func (s *supervision) judge(a *act) *step.Stop {
	a.ruling = s.Gate.Review(s.caseOf(a.proposed))
	a.final = a.ruling
	s.revised(a.proposed, a.ruling)
	if len(a.ruling.Revisions) > 0 {
		a.executed, a.from = a.proposed.With(a.ruling.Args), "supervisor_revised"
	}
	return s.decided(a)
}

// decided asks a person about an action as long as the policy requires one. It ends the run if the action is blocked.
func (s *supervision) decided(a *act) *step.Stop {
	// What a person leaves is reviewed again. The person is asked once more about a change made then. After a second change the
	// action is blocked.
	for asked := 0; step.NeedsPerson(a.final, asked); asked++ {
		if asked == step.MaxAsked && !a.sure {
			return s.refusedBy(a, gateway.ApprovalInvalid)
		}
		if asked == step.MaxAsked {
			a.final = gateway.Ruling{Reason: gateway.ReviseNotConvergent}
			break
		}
		if stop := s.askPerson(a); stop != nil {
			return stop
		}
	}
	if a.final.Decision == gateway.Block {
		return s.blocked(a)
	}
	return nil
}

// askPerson puts the action, as changed so far, to a person and reviews what the person approved.
func (s *supervision) askPerson(a *act) *step.Stop {
	asked, question := s.Run.Now(), s.question(a.executed)
	if a.final.Decision == gateway.Escalate {
		a.asks, a.by = a.final, a.by.Under(a.final)
	}
	s.Say(fmt.Sprintf("supervisor: %s escalated (%s)", a.executed.Name, a.asks.Reason))
	s.NewJudged = append(s.NewJudged, step.NewJudged(patterns.PhaseReview, a.executed.Tool(), a.executed.Row(), gateway.Escalate.String(), a.asks.Reason).Ruled(a.asks.Because()))
	decision, out, reason := step.Consult(s.Run, s.Effect(patterns.PhaseHuman, "waiting for a person"), patterns.Approval{
		Action: a.executed, Question: question, Approver: a.by, Catalog: s.Spec.Catalog,
	}.Because(a.asks), func() patterns.Result { return s.result(nil) })
	s.ExcludeSince(asked) // also if the run is cancelled during the wait
	switch {
	case step.CutReason(out) != "":
		return step.Stopped(patterns.PhaseHuman, reason)
	case reason != "":
		return s.refusedBy(a, reason)
	}
	if decision.Approved && decision.Args != nil {
		var known bool
		if a.executed, known = edited(a.executed, s.Gate.Proposed(a.executed.Tool(), decision.Args)); !known {
			return s.refusedBy(a, gateway.ApprovalInvalid)
		}
		a.from = "human_revised"
	}
	a.human = patterns.NewHumanApproval(decision, a.executed.Row(), out.At)
	if !a.executed.Final {
		a.human.Changing(question, s.question(a.executed))
	}
	if !decision.Approved {
		return s.refusedBy(a, step.HumanRejected)
	}
	a.approval = decision.Approval
	a.final = s.Gate.ReviewApproved(s.caseOf(a.executed), a.approval)
	s.revised(a.executed, a.final)
	if len(a.final.Revisions) > 0 {
		a.executed = a.executed.With(a.final.Args)
	}
	if a.sure = patterns.Suffices(a.final, decision.Assurance, out.At.Sub(asked)+out.Down); !a.sure { // the rule for what they approved requires more
		a.final.Decision = gateway.Escalate
	}
	return nil
}

// edited returns an action as a person left it: a call with other arguments, or a closing answer with another text. It returns
// false if the arguments are neither.
func edited(a gateway.Action, args map[string]any) (gateway.Action, bool) {
	if !a.Final {
		return a.With(args), true
	}
	answer, isText := args["answer"].(string)
	a.Answer = answer
	return a, isText && len(args) == 1
}

// revised records the changes that a review made, unless the action is blocked.
func (s *supervision) revised(from gateway.Action, r gateway.Ruling) {
	if r.Decision != gateway.Block {
		s.NewJudged = append(s.NewJudged, step.Revisions(patterns.PhaseReview, from, r)...)
	}
}

// question returns what a person is asked about an action.
func (s *supervision) question(a gateway.Action) gateway.Question {
	if a.Final {
		return s.Gate.Question(gateway.Proposal{Tool: a.Tool(), Args: map[string]any{"answer": a.Answer}})
	}
	return s.Gate.Question(gateway.Proposal{Tool: a.Name, Args: a.Args})
}

func (s *supervision) caseOf(a gateway.Action) gateway.Case {
	weigh := step.Weigh(s.Run, patterns.PhaseReview)
	if a.Final {
		return gateway.Case{Answer: a.Answer, Weigh: weigh}
	}
	return gateway.Case{Tool: a.Name, Args: a.Args, Weigh: weigh}
}

// again reviews an action again that was not made because its ruling no longer holds.
func (s *supervision) again(a *act) *step.Stop {
	if a.human != nil {
		a.final = s.Gate.ReviewApproved(s.caseOf(a.executed), a.approval)
	} else {
		a.final = s.Gate.Review(s.caseOf(a.executed))
	}
	s.revised(a.executed, a.final)
	if len(a.final.Revisions) > 0 && a.final.Decision != gateway.Block {
		a.executed = a.executed.With(a.final.Args)
		if a.human != nil { // a person did not approve these arguments
			a.final.Decision = gateway.Escalate
		} else {
			a.from = "supervisor_revised"
		}
	}
	if a.sure = a.human == nil || patterns.Suffices(a.final, a.human.Assurance, 0); !a.sure {
		a.final.Decision = gateway.Escalate
	}
	return s.decided(a)
}

// execute admits the action by its ruling and calls the tool.
func (s *supervision) execute(a *act) *step.Stop {
	row := s.row(a)
	row.ArgsHash = ijson.ArgsHash(a.executed.Args)
	failed := func(stop *step.Stop) *step.Stop {
		row.StopReason = stop.Reason
		s.Trace = append(s.Trace, row)
		return stop.Showing(func(r *patterns.Result) { r.Action = a.executed.Row() })
	}
	proposal := gateway.Proposal{Tool: a.executed.Name, Args: a.executed.Args, At: s.argsAt(), Attempt: 1}
	permit, refusal := s.Gate.AdmitRuled(proposal, a.final)
	if refusal != nil {
		return failed(s.NotAdmitted(patterns.PhaseExecution, proposal, refusal))
	}
	out, attempts := s.Perform(s.Effect(patterns.PhaseExecution, "calling "+a.executed.Name), permit)
	for n := 1; step.IsStale(out); n++ {
		if n == step.MaxStale {
			a.final = *step.Stuck().Block
			return s.blocked(a)
		}
		if stop := s.again(a); stop != nil {
			return stop
		}
		row, proposal.Args = s.row(a), a.executed.Args
		if permit, refusal = s.Gate.Approved(proposal, a.final); refusal != nil {
			return failed(s.NotAdmitted(patterns.PhaseExecution, proposal, refusal))
		}
		out, attempts = s.Perform(s.Effect(patterns.PhaseExecution, "calling "+a.executed.Name), permit)
	}
	row.ArgsHash, row.Attempts = permit.Hash(), step.ShownAttempts(attempts)
	if out.Reason == patterns.ReasonOnceReused {
		return s.reused(a)
	}
	if reason, blocked := step.IsBlocked(out); blocked {
		a.final = gateway.Ruling{Reason: reason}
		return s.blocked(a)
	}
	if reason := step.ApprovalReason(out); reason != "" {
		return s.refusedBy(a, reason)
	}
	if out.State != patterns.OK {
		return failed(step.Stopped(patterns.PhaseExecution, step.CallReason(gateway.ToolFamily, permit, out)))
	}
	row.OK = true
	row.ObservationError, _ = gateway.Reported(out.Output)
	s.Trace = append(s.Trace, row)
	s.remember(a, patterns.Shown(out.Output, out.Bytes))
	return nil
}

// closing judges the closing answer as the policy and people left it. It must still fit what the pattern declares.
func (s *supervision) closing(a *act) (step.Reply, *step.Stop) {
	if s.Spec.Answer == nil { // unchanged, even with white space around it
		return step.Reply{Text: a.executed.Answer}, nil
	}
	r, refusal := s.ReadAnswer(a.executed.Answer)
	if refusal == nil {
		return r, nil
	}
	row := s.row(a)
	row.StopReason = refusal.Reason
	return step.Reply{}, s.shownAsProposed(a, row, s.RefusedAnswer(patterns.PhaseWorker, refusal, a.executed.Answer))
}

// finish adds the closing answer to trace and history.
func (s *supervision) finish(a *act) {
	row := s.row(a)
	row.OK = true
	s.Trace = append(s.Trace, row)
	s.remember(a, map[string]any{"status": "final"})
}

func (s *supervision) remember(a *act, observation any) {
	done := patterns.ActionDone{
		Step: s.step, Action: a.proposed.Row(), Supervisor: a.reviewed(), Executed: a.executed.Row(),
		ExecutedFrom: a.from, Observation: observation, Human: a.human,
	}
	s.done = append(s.done, done)
	s.History = append(s.History, done)
}

// argsAt returns the place of the present action's arguments in the intent.
func (s *supervision) argsAt() ijson.Pointer {
	return s.IntentAt().Member("args")
}

func (s *supervision) result(stop *step.Stop) patterns.Result { return s.End(stop) }

// bounds adds the limits of this kind.
func (s *supervision) bounds(spent map[string]patterns.Spent) {
	spent["max_steps"] = patterns.Spent{Limit: float64(s.Spec.Budget.MaxSteps), Used: float64(s.step)}
}
