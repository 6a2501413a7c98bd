package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// EffectKey is the value of a [Reconcile] argument that stands for the call's idempotency key; ArgOf begins one that
// stands for an argument of the call: "args.user_id".
const (
	EffectKey = "effect.key"
	ArgOf     = "args."
)

// Reconcile says how to find out whether a call happened, of which nobody has the outcome: by a tool that only reads and
// that returns what the call itself would have returned.
type Reconcile struct {
	Tool string
	// Args are the look-up's arguments: [EffectKey], [ArgOf] with a name, or any other value as it is. An argument that
	// the call did not have is left out.
	Args map[string]any
	// Happened reads the look-up's observation: whether the call happened, and whether that can be told at all. It is
	// deterministic; a panic of it tells nothing.
	Happened func(observation any) (happened, known bool)
	// Settle is how long after the call was begun it may still arrive: "it did not happen" is final only then.
	Settle time.Duration
}

// ArgsFor are the look-up's arguments for one call.
func (r Reconcile) ArgsFor(args map[string]any, key string) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(r.Args)) {
		text, _ := r.Args[name].(string)
		of, fromCall := strings.CutPrefix(text, ArgOf)
		switch {
		case text == EffectKey:
			out[name] = key
		case !fromCall:
			out[name] = r.Args[name]
		default:
			if v, there := args[of]; there {
				out[name] = v
			}
		}
	}
	return out
}

// checkReconcile holds that a tool's look-up is there, only reads, and is asked for what it and the call have.
func (c *Catalog) checkReconcile(t Tool) error {
	r := t.Reconcile
	if r == nil {
		return nil
	}
	by, ok := c.Tool(r.Tool)
	switch {
	case !ok:
		return fmt.Errorf("tool %q: reconcile: no tool %q", t.Name, r.Tool)
	case by.Effect != Read:
		return fmt.Errorf("tool %q: reconcile: %q has effect %s; only a read may settle a doubt", t.Name, r.Tool, by.Effect)
	case r.Happened == nil:
		return fmt.Errorf("tool %q: reconcile: nothing tells from %q whether it happened", t.Name, r.Tool)
	case r.Settle < 0:
		return fmt.Errorf("tool %q: reconcile: settles after %v; 0 or more", t.Name, r.Settle)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Args)) {
		text, _ := r.Args[name].(string)
		if of, fromCall := strings.CutPrefix(text, ArgOf); fromCall && !has(t.Input, of) {
			return fmt.Errorf("tool %q: reconcile: %s is %s, and the tool has no argument %q", t.Name, name, text, of)
		}
		if !has(by.Input, name) {
			return fmt.Errorf("tool %q: reconcile: %q has no argument %q", t.Name, r.Tool, name)
		}
	}
	return nil
}

func has(s *Schema, argument string) bool {
	return slices.ContainsFunc(s.Properties(), func(p Property) bool { return p.Name == argument })
}
