package gateway

import (
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Reconciling is the reason of a look-up that a tool's own declaration allows.
const Reconciling = "reconcile"

// Reconcile permits the look-up by which the tool of a call in doubt says whether the call happened. The declaration is its
// allowlist: no budget, loop or policy counts it, as it only reads. False where none is declared, or what it asks does not
// fit: then a person is to be asked.
func (g *Gate) Reconcile(p Permit, d catalog.Doubt) (Permit, bool) {
	if !p.Reconciles() {
		return Permit{}, false
	}
	r := p.judged.tool.Reconcile
	tool, ok := g.config.Catalog.Tool(r.Tool)
	asked, err := lookUpArgs(r, d)
	if !ok || err != nil || tool.Effect != catalog.Read {
		return Permit{}, false
	}
	free := tool.Filled(asked)
	if len(tool.Check(free)) > 0 {
		return Permit{}, false
	}
	args, hash := owned(tool.Whole(free)), ijson.ArgsHash(free)
	return Permit{&judged{
		tool: tool, args: args, hash: hash, attempt: 1, verdict: Judgment{Decision: Approve, Reason: Reconciling},
	}}, true
}

// LooksUp reports whether the call is a look-up that [Gate.Reconcile] permitted.
func (p Permit) LooksUp() bool {
	return p.judged != nil && p.judged.verdict.Reason == Reconciling && p.judged.verdict.Rule == ""
}

// Reconciles reports whether the tool declares how a call in doubt is looked up.
func (p Permit) Reconciles() bool { return p.judged != nil && p.judged.tool.Reconcile != nil }

// lookUpArgs asks the declaration and contains its panic.
func lookUpArgs(r *catalog.Reconcile, d catalog.Doubt) (args map[string]any, err error) {
	defer contained(&err)
	return r.Args(d)
}

// Happened reads from the look-up's observation whether the call happened, and whether that can be told. A declaration that
// panics tells nothing.
func (p Permit) Happened(d catalog.Doubt, observation any) (happened, known bool) {
	if !p.Reconciles() {
		return false, false
	}
	happened, known, err := p.judged.happened(d, observation)
	return happened && err == nil, known && err == nil
}

func (c *judged) happened(d catalog.Doubt, observation any) (happened, known bool, err error) {
	defer contained(&err)
	happened, known = c.tool.Reconcile.Happened(d, copied(observation))
	return happened, known, nil
}

// Output is what the call itself would have returned, by the look-up's observation; false where that cannot be told.
func (p Permit) Output(d catalog.Doubt, observation any) (any, bool) {
	if !p.Reconciles() {
		return nil, false
	}
	if p.judged.tool.Reconcile.Output == nil {
		return observation, true
	}
	v, err := p.judged.output(d, observation)
	return v, err == nil
}

func (c *judged) output(d catalog.Doubt, observation any) (v any, err error) {
	defer contained(&err)
	return c.tool.Reconcile.Output(d, copied(observation))
}

// OwnOutput reports whether the declaration makes an output of its own of the look-up's observation.
func (p Permit) OwnOutput() bool { return p.Reconciles() && p.judged.tool.Reconcile.Output != nil }

// Settle is how long after it was sent the call may still arrive.
func (p Permit) Settle() time.Duration {
	if !p.Reconciles() {
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
