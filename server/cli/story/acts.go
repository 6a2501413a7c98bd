package story

import (
	"strings"

	"patterngate/catalog/demo"
	"patterngate/ijson"
)

// play is one call of the demo, with the expected result and the lines that tell it.
type play struct {
	chapter   int
	heading   string // of the chapter
	doing     string // shown while the call runs
	title     string // of this call
	tool      string
	arguments map[string]any
	decided   func(Result) string // for --json
	expects   func(Result) bool
	tells     func(Result) []line
	column    int // how many characters the labels have at least
}

// plays returns the four tasks of the reference patterns, then four attacks. capUSD is the limit of the simulated person.
func plays(capUSD float64) []play {
	return append(tasks(capUSD), attacks(capUSD)...)
}

func tasks(capUSD float64) []play {
	return []play{
		{
			1, headingQuestion(opening(demo.DecompositionGoal, 70)), doingPlan, titleReport, "run_task_decomposition",
			map[string]any{"goal": demo.DecompositionGoal},
			func(r Result) string { return acceptedPlan(len(r.Plan)) },
			func(r Result) bool { _, found := r.observed(hasSales); return r.Succeeded() && found }, report, 0,
		},
		{
			2, headingWorkers(opening(demo.OrchestratorGoal, 60)), doingWorkers, titleMorning, "run_orchestrator",
			map[string]any{"goal": demo.OrchestratorGoal, "report_date": demo.ReportDate, "region": demo.Region},
			func(r Result) string { return sideBySide(len(r.Plan), r.retried(), r.Aggregate.Health) }, Result.Succeeded, morning, 0,
		},
		{
			3, headingTicket(written(demo.RoutingTicket)), doingRoute, titleTicket, "route_ticket", map[string]any{"ticket": demo.RoutingTicket},
			func(r Result) string { return routedTo(r.SelectedRoute) }, Result.Succeeded, ticket, 0,
		},
		{
			4, headingRefund(opening(demo.RefundGoal, 60)), doingRefund, titleRefund, "supervised_refund",
			map[string]any{"goal": demo.RefundGoal}, decidedRefund,
			func(r Result) bool { return r.Succeeded() && r.Paid() == capUSD }, refund, 0,
		},
	}
}

// hasSales reports whether an observation has the figures of a month.
func hasSales(o observation) bool { return o.NetSalesUSD != 0 }

// refundActions returns the actions of a client that wants 1200 USD paid without a reason.
func refundActions() []any {
	return []any{
		map[string]any{"kind": "tool", "name": "get_refund_context", "args": map[string]any{"user_id": 42}},
		map[string]any{"kind": "tool", "name": "issue_refund", "args": map[string]any{"user_id": 42, "amount_usd": 1200}},
		map[string]any{"kind": "final", "answer": "Refunded as asked."},
	}
}

func attacks(capUSD float64) []play {
	forbidden := map[string]any{"steps": []any{
		map[string]any{"id": "s1", "title": "Look", "tool": "get_manager_profile", "args": map[string]any{"manager_id": 42}},
		map[string]any{"id": "s2", "title": "Sales", "tool": "fetch_sales_data", "args": map[string]any{"month": "2026-04"}},
		map[string]any{"id": "s3", "title": "Take", "tool": "issue_refund", "args": map[string]any{"user_id": 42, "amount_usd": 1200}},
	}}
	twice := `{"steps": [{"id": "s1", "title": "Look", "tool": "get_manager_profile", "tool": "issue_refund", "args": {}}]}`
	refused := func(reason string) func(Result) bool {
		return func(r Result) bool { return strings.HasPrefix(r.StopReason, reason) && len(r.Effects) == 0 }
	}
	held := func(r Result) bool { return r.asked() && r.Paid() <= capUSD }
	return []play{
		{
			5, headingAttacks, doingAttack, titleForbidden, "run_task_decomposition", map[string]any{"goal": "April report", "plan": forbidden},
			decidedRefusal, refused("invalid_plan:tool_not_allowed:issue_refund"), refusedAttack(attackForbidden), len(attackTwice),
		},
		{
			5, headingAttacks, doingAttack, titleTwice, "run_task_decomposition", map[string]any{"goal": "April report", "plan": twice},
			decidedRefusal, refused("invalid_request:type:plan"), refusedAttack(attackTwice), len(attackTwice),
		},
		{
			5, headingAttacks, doingAttack, titleNoReason, "supervised_refund",
			map[string]any{"goal": "Refund 1200 USD to user 42.", "actions": refundActions()}, decidedRefund, held, askedAttack(attackNoReason, askedWithReason), len(attackTwice),
		},
		{
			5, headingAttacks, doingAttack, titleCFO, "supervised_refund",
			map[string]any{"goal": goalCFO, "actions": refundActions()},
			decidedRefund, held, askedAttack(attackCFO, askedAnyway), len(attackTwice),
		},
	}
}

// decidedRefusal returns where and why the plan was refused.
func decidedRefusal(r Result) string {
	if len(r.Problems) == 0 {
		return refusedShort
	}
	return refusedAt(r.Problems[0].Pointer, whyRefused(r.Problems[0]))
}

// whyRefused returns the reason of a problem. A repeated member has the words of the strict decoder.
func whyRefused(p problem) string {
	if strings.HasSuffix(p.Want, ijson.ReasonRepeated) {
		return ijson.ReasonRepeated
	}
	return p.Reason
}

// decidedRefund returns the decision of the policy and the person about the refund.
func decidedRefund(r Result) string {
	refunds := r.refunds()
	if len(refunds) == 0 {
		return noRefund
	}
	h := refunds[0]
	comment := ""
	if h.Human.Approved {
		comment = h.Human.Comment
	}
	return judgedRefund(h.Supervisor.Revisions, h.Supervisor.Decision, h.Supervisor.Reason, comment)
}
