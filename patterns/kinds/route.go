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

func payloadOfDelegation(d patterns.Delegation) map[string]any {
	return map[string]any{"attempt": float64(d.Attempt), "route": d.Route, "observation": d.Observation}
}

// Route hands a ticket to one specialist, and to another one if that one declines, until one has done it. Then it asks for an
// answer, if the task wants one (spec/patterns.md section 4).
func Route(run patterns.Run, spec patterns.Spec, task patterns.Task) patterns.Result {
	r := newRouting(run, spec, task)
	for attempt := 1; attempt <= r.total; attempt++ {
		r.attempt = attempt
		route, stop := r.choose()
		if stop != nil {
			return r.result(stop)
		}
		declined, stop := r.delegate(route)
		if stop != nil {
			return r.result(stop)
		}
		if declined {
			r.forbidden = append(r.forbidden, route.Target)
			r.Say(fmt.Sprintf("route: %s declined", route.Target))
			continue
		}
		return r.finish(route)
	}
	return r.result(step.Stopped(patterns.PhaseRoute, "max_route_attempts"))
}

func newRouting(run patterns.Run, spec patterns.Spec, task patterns.Task) *routing {
	l := step.Begin(run, spec, task, gateway.Config{Family: gateway.RouteFamily, SplitLoops: true, Calls: []gateway.CallBudget{
		{Limit: spec.Budget.MaxDelegations, Reason: "max_delegations"},
		{Limit: spec.Budget.MaxToolCalls, Reason: "max_tool_calls"},
	}})
	r := &routing{Log: l, total: spec.Budget.MaxRouteAttempts}
	r.SoFar = func() patterns.Result { return r.result(nil) }
	r.Limits = r.bounds
	return r
}

// routing is the state of a run of [Route].
type routing struct {
	*step.Log
	total, attempt int
	forbidden      []string // targets that declined, in order
	delegations    []patterns.Delegation
}

// choose gets the next route and has it judged.
func (r *routing) choose() (gateway.Route, *step.Stop) {
	var route gateway.Route
	stop := r.ReadIntent(patterns.Question{
		Ask: patterns.AskRoute, Prompt: r.Spec.Prompts.Decide, Payload: r.payload(), Tools: r.Tools, Hidden: r.HiddenArgs(),
	}, func(q patterns.Question) (document.Intent, *step.Stop) {
		return r.Next(patterns.PhaseRoute, q, r.asking())
	}, func(intent document.Intent) (refused *step.Stop) {
		route, refused = r.read(intent)
		return refused
	})
	if stop != nil {
		return gateway.Route{}, stop
	}
	r.Filled = append(r.Filled, route.Filled...)
	return route, nil
}

// read judges a route.
func (r *routing) read(intent document.Intent) (gateway.Route, *step.Stop) {
	route, refusal := gateway.ParseRoute(intent, gateway.RouteRules{
		Allowed: r.Spec.Policy, Forbidden: r.forbidden, Ticket: r.Task.Goal, Takes: r.takesTicket, Fill: r.InputArgs, Goal: r.GoalArgs,
	})
	if refusal != nil {
		return gateway.Route{}, r.Refused(patterns.PhaseRoute, "raw_route", refusal, intent.Raw())
	}
	return route, nil
}

// takesTicket reports whether a target has an argument ticket, which then holds the run's goal. If the pattern supplies tickets, it
// also returns true for a target that the catalog lacks, so that the call reports the missing tool. The other targets get their
// goal from [step.Log.GoalArgs].
func (r *routing) takesTicket(target string) bool {
	tool, ok := r.Spec.Catalog.Tool(target)
	if !ok {
		return slices.Contains(r.Spec.Supplied, patterns.TicketArgument)
	}
	return r.Spec.Supplies(tool, patterns.TicketArgument)
}

// declines reports whether a target's result means that another target must take over.
func (r *routing) declines(target string, observation any) bool {
	if reroute := r.Spec.Reroute[target]; reroute != nil {
		return reroute(observation)
	}
	return step.Status(observation) == "needs_reroute"
}

// asking returns how to ask the caller for another route.
func (r *routing) asking() step.Turn {
	a := step.Turn{
		Argument: "route", Forbidden: r.forbidden, Left: r.total - r.attempt + 1,
		Judge: func(batch []document.Intent) *step.Stop {
			for _, intent := range batch { // a batch holds one
				if _, stop := r.read(intent); stop != nil {
					return stop
				}
			}
			return nil
		},
		SoFar: func() patterns.Result {
			result := r.result(nil)
			result.Budget["max_route_attempts"] = patterns.Spent{Limit: float64(r.total), Used: float64(r.attempt - 1)}
			return result
		},
	}
	for _, name := range r.Spec.Policy {
		if !slices.Contains(r.forbidden, name) {
			a.Names = append(a.Names, name)
		}
	}
	if n := len(r.delegations); n > 0 {
		a.Last = r.delegations[n-1].Observation
	}
	return a
}

// delegate hands the ticket to the specialist and reports whether the specialist declined.
func (r *routing) delegate(route gateway.Route) (declined bool, _ *step.Stop) {
	row := patterns.RouteRow{Attempt: r.attempt, Target: route.Target, ArgsHash: ijson.ArgsHash(route.Args)}
	shows := func(s *step.Stop) *step.Stop {
		row.StopReason = s.Reason
		r.Trace = append(r.Trace, row)
		return s.Showing(func(result *patterns.Result) { result.Route = route.Row() })
	}
	proposal := gateway.Proposal{Tool: route.Target, Args: route.Args, At: r.argsAt(), Attempt: 1}
	c, refused := r.Call(patterns.PhaseDelegate, "handing over to "+route.Target, proposal)
	if row.HumanApproval = c.Human; refused != nil {
		return false, shows(refused)
	}
	permit, out := c.Permit, c.Out
	if row.ArgsHash = permit.Hash(); c.Human != nil { // the person may have changed them
		route.Args = permit.Proposed()
	}
	row.Attempts, row.ChildRunID = step.ShownAttempts(c.Attempts), out.Child
	if out.State != patterns.OK && out.Reason != patterns.ReasonBadResult {
		row.ObservationError = step.ChildStopReason(out)
		stop := step.Stopped(patterns.PhaseDelegate, step.CallReason(gateway.RouteFamily, permit, out))
		return false, shows(stop.Showing(func(result *patterns.Result) { result.Say = step.ChildSay(out) }))
	}
	return r.answeredBy(route, row, out)
}

// answeredBy records what the specialist returned and judges its status.
func (r *routing) answeredBy(route gateway.Route, row patterns.RouteRow, out patterns.Outcome) (declined bool, _ *step.Stop) {
	d := patterns.Delegation{Attempt: r.attempt, Route: route.Row(), Observation: patterns.Shown(out.Output, out.Bytes)}
	r.delegations = append(r.delegations, d)
	r.History = append(r.History, d)
	obj, _ := out.Output.(map[string]any)
	row.OK, row.Status = true, step.Status(out.Output)
	if domain, ok := obj["domain"].(string); ok && domain != "" {
		row.Domain = domain
	}
	row.ObservationError, _ = gateway.Reported(out.Output)
	r.Trace = append(r.Trace, row)
	if out.State == patterns.OK {
		switch {
		case r.declines(route.Target, out.Output):
			return true, nil
		case row.Status == "done", r.Spec.Reroute[route.Target] != nil:
			return false, nil
		}
	}
	return false, &step.Stop{Phase: patterns.PhaseDelegate, Reason: "route_bad_observation", With: func(result *patterns.Result) {
		result.Route, result.Expected = route.Row(), []string{"needs_reroute", "done"}
		result.Received, result.BadObservation, result.Bad = row.Status, d.Observation, true
	}}
}

// finish asks for the answer, if the task wants one, and ends the run.
func (r *routing) finish(route gateway.Route) patterns.Result {
	if !r.Task.Finalize {
		result := r.result(nil)
		result.SelectedRoute = route.Target
		return result
	}
	answer, stop := r.Answer(map[string]any{
		"goal": r.Task.Goal, "selected_route": route.Target, "history": r.rows(len(r.delegations)),
	})
	if stop != nil {
		return r.result(stop.Showing(func(result *patterns.Result) { result.Route = route.Row() }))
	}
	result := step.WithAnswer(r.result(nil), answer)
	result.SelectedRoute = route.Target
	return result
}

// payload returns what the router is shown (spec/patterns.md section 4).
func (r *routing) payload() map[string]any {
	var last, lastStatus, observation any
	used := []any{}
	for i, d := range r.delegations {
		target := d.Route["target"]
		if !slices.Contains(used, target) {
			used = append(used, target)
		}
		if i == len(r.delegations)-1 {
			last, observation, lastStatus = target, d.Observation, step.Status(d.Observation)
		}
	}
	return map[string]any{
		"goal":              r.Task.Goal,
		"budgets":           map[string]any{"max_route_attempts": float64(r.total), "remaining_attempts": float64(r.total - r.attempt + 1)},
		"forbidden_targets": patterns.TextValues(r.forbidden),
		"state_summary": map[string]any{
			"attempts_completed": float64(len(r.delegations)), "routes_used_unique": used, "last_route_target": last,
			"last_observation_status": lastStatus, "last_observation": observation,
		},
		"recent_history":   r.rows(3),
		"available_routes": r.Spec.Offered(r.Tools),
	}
}

// rows returns the last n delegations, for a payload.
func (r *routing) rows(n int) []any {
	rows := []any{}
	for _, d := range r.delegations[max(0, len(r.delegations)-n):] {
		rows = append(rows, payloadOfDelegation(d))
	}
	return rows
}

// argsAt returns the place of the route's arguments: in the caller's arguments, or in a model's reply.
func (r *routing) argsAt() ijson.Pointer {
	return r.IntentAt().Member("args")
}

func (r *routing) result(s *step.Stop) patterns.Result {
	return r.End(s)
}

// bounds adds the limits of this kind.
func (r *routing) bounds(spent map[string]patterns.Spent) {
	spent["max_route_attempts"] = patterns.Spent{Limit: float64(r.total), Used: float64(min(r.attempt, r.total))}
	step.AddLimit(spent, "max_delegations", r.Spec.Budget.MaxDelegations, r.Gate.Asked())
}
