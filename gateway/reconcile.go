package gateway

import (
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Reconciling is the reason of a look-up that a tool's own declaration allows.
const Reconciling = "reconcile"

// Reconcile permits the look-up by which the tool of a call in doubt says whether the call happened; key is the call's
// idempotency key. The declaration is its allowlist: no budget, loop or policy counts it, as it only reads. False where
// none is declared, or it does not fit: then a person is to be asked.
func (g *Gate) Reconcile(p Permit, key string) (Permit, bool) {
	if p.judged == nil || p.judged.tool.Reconcile == nil {
		return Permit{}, false
	}
	r := p.judged.tool.Reconcile
	tool, ok := g.config.Catalog.Tool(r.Tool)
	args := owned(r.ArgsFor(p.judged.args, key))
	if !ok || tool.Effect != catalog.Read || len(tool.Input.Check(args)) > 0 {
		return Permit{}, false
	}
	return Permit{&judged{
		tool: tool, args: args, hash: ijson.ArgsHash(args), attempt: 1, verdict: Judgment{Decision: Approve, Reason: Reconciling},
	}}, true
}

// Happened reads from the look-up's observation whether the call happened, and whether that can be told.
func (p Permit) Happened(observation any) (happened, known bool) {
	if p.judged == nil || p.judged.tool.Reconcile == nil {
		return false, false
	}
	return p.judged.happened(observation)
}

// Settle is how long after its begin the call may still arrive.
func (p Permit) Settle() time.Duration {
	if p.judged == nil || p.judged.tool.Reconcile == nil {
		return 0
	}
	return p.judged.tool.Reconcile.Settle
}

// Judge checks what is said to be the call's result as if the tool had returned it: its shape, its schema, its size.
func (p Permit) Judge(result any) Done {
	if p.judged == nil {
		return Done{State: DoneRefused, Cause: ErrNoPermit}
	}
	return p.judged.judge(result)
}
