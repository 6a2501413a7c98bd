package gateway

import (
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Reconciling is the reason of a look-up that a tool's own declaration allows.
const Reconciling = "reconcile"

// Reconcile permits a look-up that says whether a call in doubt happened. The declaration of the call's tool is the
// allowlist. Budgets, loop limits and policy do not count the look-up, because it only reads. It returns false if the
// tool declares none, or the look-up's arguments do not fit. Then a person must decide.
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

// Reconciles reports whether the tool declares how to look up a call in doubt.
func (p Permit) Reconciles() bool { return p.judged != nil && p.judged.tool.Reconcile != nil }

// lookUpArgs makes the arguments of the look-up. A panic of the declaration is an error.
func lookUpArgs(r *catalog.Reconcile, d catalog.Doubt) (args map[string]any, err error) {
	defer contained(&err)
	return r.Args(d)
}

// Happened reads from the look-up's observation whether the call happened, and whether that is known. If the
// declaration panics, it is not known.
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

// Output returns what the call itself would have returned, from the look-up's observation. It returns false if that is
// not known.
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

// OwnOutput reports whether the declaration makes its own output from the look-up's observation.
func (p Permit) OwnOutput() bool { return p.Reconciles() && p.judged.tool.Reconcile.Output != nil }

// Settle returns how long after sending the call may still arrive.
func (p Permit) Settle() time.Duration {
	if !p.Reconciles() {
		return 0
	}
	return p.judged.tool.Reconcile.Settle
}

// Judge checks a value that is said to be the call's result. It checks it as if the tool had returned it: its JSON, its
// schema, its size.
func (p Permit) Judge(result any) Done {
	if p.judged == nil {
		return Done{State: DoneRefused, Cause: ErrNoPermit}
	}
	return p.judged.judge(result)
}
