package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// EffectKey is the value of an argument of [ArgsFrom] that stands for the call's idempotency key; ArgOf begins one that
// stands for an argument of the call: "args.user_id".
const (
	EffectKey = "effect.key"
	ArgOf     = "args."
)

// Reconcile says how to find out whether a call happened, of which nobody has the outcome, by a tool that only reads
// (spec/config.md section 6). Its functions are deterministic and change nothing that they are given; an error or a panic of
// one tells nothing.
type Reconcile struct {
	Tool string
	// Args makes the look-up's arguments; see [ArgsFrom].
	Args func(Doubt) (map[string]any, error)
	// Happened reads the look-up's observation: whether the call happened, and whether that can be told at all.
	Happened func(d Doubt, observation any) (happened, known bool)
	// Output makes of the look-up's observation what the call itself would have returned; nil: the observation is it.
	Output func(d Doubt, observation any) (any, error)
	// Settle is how long after the call was sent it may still arrive: "it did not happen" is final only then.
	Settle time.Duration
}

// ArgsFrom makes the look-up's arguments by a table: [EffectKey], [ArgOf] with a name, or any other value as it is. An
// argument that the call did not have is left out.
func ArgsFrom(table map[string]any) func(Doubt) (map[string]any, error) {
	return func(d Doubt) (map[string]any, error) {
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(table)) {
			text, _ := table[name].(string)
			of, fromCall := strings.CutPrefix(text, ArgOf)
			switch {
			case text == EffectKey:
				out[name] = d.Key
			case !fromCall:
				out[name] = table[name]
			default:
				if v, there := d.Args[of]; there {
					out[name] = v
				}
			}
		}
		return out, nil
	}
}

// CheckArgs says what is wrong with a table for [ArgsFrom]: an argument of the call that it does not have, or one that the
// look-up does not take; nil: nothing.
func CheckArgs(table map[string]any, call, lookUp Tool) error {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		text, _ := table[name].(string)
		if of, fromCall := strings.CutPrefix(text, ArgOf); fromCall && !has(call.Input, of) {
			return fmt.Errorf("tool %q: reconcile: %s is %s, and the tool has no argument %q", call.Name, name, text, of)
		}
		if !has(lookUp.Input, name) {
			return fmt.Errorf("tool %q: reconcile: %q has no argument %q", call.Name, lookUp.Name, name)
		}
	}
	return nil
}

// checkReconcile holds that a tool's look-up is there, only reads, and that something asks and judges it.
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
	case r.Args == nil:
		return fmt.Errorf("tool %q: reconcile: nothing says what %q is asked", t.Name, r.Tool)
	case r.Happened == nil:
		return fmt.Errorf("tool %q: reconcile: nothing tells from %q whether it happened", t.Name, r.Tool)
	case r.Settle < 0:
		return fmt.Errorf("tool %q: reconcile: settles after %v; 0 or more", t.Name, r.Settle)
	}
	return nil
}

func has(s *Schema, argument string) bool {
	return slices.ContainsFunc(s.Properties(), func(p Property) bool { return p.Name == argument })
}
