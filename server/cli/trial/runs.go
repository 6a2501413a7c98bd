package trial

import (
	"fmt"

	"patterngate/catalog/demo"
	"patterngate/catalog/demo/ledger"
)

// proveConfig is the configuration of the runs of prove: that of the demo, but without the delays of simulated workers.
var proveConfig = demoConfig + noDelay

// askedConfig is the same, but a person decides later.
const askedConfig = "version: 1\nllm: {provider: rules}\npatterns:\n  supervised_refund: {approver: {kind: inbox}}\n" + noDelay

const noDelay = "demo: {delay_factor: 0}\n"

// provedRun is one run of prove: the call, and what its caller sends when the run waits.
type provedRun struct {
	Name      string         `json:"name"` // also its idempotency key
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	Turns     [][]any        `json:"turns,omitempty"` // actions of the turns after the first
	Edit      map[string]any `json:"edit,omitempty"`  // changes of the person who decides; nil: none
	World     ledger.World   `json:"-"`
	Config    string         `json:"-"` // "": proveConfig
}

// provedRuns returns the runs that are killed at every boundary. The list has each pattern with the offline rules, and
// refunds whose repeated call pays again, settled by a person or by a look-up. One run gets two turns from its caller. In
// others a person decides: they are killed while they wait, when they are decided, and when they use the decision.
func provedRuns() []provedRun {
	refund := map[string]any{"goal": demo.RefundGoal}
	actions := refundOf(49)
	return []provedRun{
		{Name: "task decomposition", Tool: "run_task_decomposition", Arguments: map[string]any{"goal": demo.DecompositionGoal}},
		{Name: "orchestrator", Tool: "run_orchestrator", Arguments: map[string]any{
			"goal": demo.OrchestratorGoal, "report_date": demo.ReportDate, "region": demo.Region,
		}},
		{Name: "routing", Tool: "route_ticket", Arguments: map[string]any{"ticket": demo.RoutingTicket}},
		{Name: "supervisor", Tool: "supervised_refund", Arguments: refund},
		{Name: "supervisor, settled", Tool: "supervised_refund", Arguments: refund, World: ledger.Plain},
		{Name: "supervisor, looked up", Tool: "supervised_refund", Arguments: refund, World: ledger.Asked},
		{Name: "supervisor, two turns", Tool: "supervised_refund", Turns: [][]any{actions[2:]}, Arguments: map[string]any{
			"goal": "Refund 49 USD to user 42.", "actions": actions[:2],
		}},
		{Name: "supervisor, approved", Tool: "supervised_refund", Arguments: map[string]any{
			"goal": "Refund 1200 USD to user 42.", "actions": refundOf(1200),
		}, Config: askedConfig},
		{Name: "supervisor, edited", Tool: "supervised_refund", Arguments: map[string]any{
			"goal": "Refund 1200 USD to user 42.", "actions": refundOf(1200)[:2],
		}, Turns: [][]any{actions[3:]}, Edit: map[string]any{"amount_usd": 800}, World: ledger.Plain, Config: askedConfig},
	}
}

// refundOf returns the actions of a refund that the policy allows without a person: look, pay, mail, close.
func refundOf(usd float64) []any {
	tool := func(name string, args map[string]any) any {
		return map[string]any{"kind": "tool", "name": name, "args": args}
	}
	return []any{
		tool("get_refund_context", map[string]any{"user_id": 42}),
		tool("issue_refund", map[string]any{"user_id": 42, "amount_usd": usd, "reason": "Refund within policy"}),
		tool("send_refund_email", map[string]any{"user_id": 42, "amount_usd": usd, "message": refundMail}),
		map[string]any{"kind": "final", "answer": "Refunded and confirmed."},
	}
}

// crowdOf returns n runs for the same time. Their refunds differ in the amount, so that each effect shows its run.
func crowdOf(n int) []provedRun {
	runs := make([]provedRun, n)
	for i := range runs {
		usd := float64(i + 1)
		runs[i] = provedRun{
			Name: fmt.Sprintf("refund of %v USD", usd), Tool: "supervised_refund",
			Arguments: map[string]any{"goal": goalOfRefund(usd), "actions": refundOf(usd)},
		}
	}
	return runs
}

// call returns the run's first call. A second one joins the run that the first one began.
func (r provedRun) call() map[string]any {
	args := map[string]any{"idempotency_key": r.Name, "max_wait_seconds": provedWait}
	for name, v := range r.Arguments {
		args[name] = v
	}
	return args
}

// turn returns what the caller sends for a turn. The first call contains turn 1.
func (r provedRun) turn(runID string, turn int) (map[string]any, error) {
	if turn < 2 || turn-2 >= len(r.Turns) {
		return nil, waitsForTurn(r.Name, turn)
	}
	return map[string]any{"run_id": runID, "turn": turn, "actions": r.Turns[turn-2], "max_wait_seconds": provedWait}, nil
}
