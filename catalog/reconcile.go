package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// EffectKey, as a value in the table of [ArgsFrom], means the call's idempotency key. A value that begins with ArgOf
// means an argument of the call, for example "args.user_id".
const (
	EffectKey = "effect.key"
	ArgOf     = "args."
)

// Reconcile tells how to find out with a read tool whether a call happened whose outcome is unknown (spec/config.md
// section 6). Its functions are deterministic and do not change their arguments. If one returns an error or panics, the
// outcome stays unknown.
type Reconcile struct {
	Tool string
	// Args returns the look-up's arguments; see [ArgsFrom].
	Args func(Doubt) (map[string]any, error)
	// Happened interprets the look-up's observation: whether the call happened, and whether the observation shows that.
	Happened func(d Doubt, observation any) (happened, known bool)
	// Output converts the look-up's observation to the result that the call itself would have returned; nil: no
	// conversion.
	Output func(d Doubt, observation any) (any, error)
	// Settle is how long a call may take to arrive after it was sent. "It did not happen" is final only after that
	// time.
	Settle time.Duration
}

// ArgsFrom returns a function that makes the look-up's arguments from a table. A value of the table is [EffectKey],
// [ArgOf] with a name, or any other value, which is used unchanged. Arguments that the call did not have are left out.
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

// CheckArgs returns an error if a table for [ArgsFrom] names an argument that the call or the look-up does not have.
func CheckArgs(table map[string]any, call, lookUp Tool) error {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		text, _ := table[name].(string)
		if of, fromCall := strings.CutPrefix(text, ArgOf); fromCall && !has(call.Input, of) {
			return fmt.Errorf(reconcileArgument, call.Name, name, text, of)
		}
		if !has(lookUp.Input, name) {
			return fmt.Errorf(reconcileUnknownArgument, call.Name, lookUp.Name, name)
		}
	}
	return nil
}

// checkReconcile returns an error unless the look-up of a tool exists, only reads, and has the functions Args and
// Happened.
func (c *Catalog) checkReconcile(t Tool) error {
	r := t.Reconcile
	if r == nil {
		return nil
	}
	by, ok := c.Tool(r.Tool)
	switch {
	case !ok:
		return fmt.Errorf(reconcileNoTool, t.Name, r.Tool)
	case by.Effect != Read:
		return fmt.Errorf(reconcileNotRead, t.Name, r.Tool, by.Effect)
	case r.Args == nil:
		return fmt.Errorf(reconcileNoArguments, t.Name, r.Tool)
	case r.Happened == nil:
		return fmt.Errorf(reconcileNoHappened, t.Name, r.Tool)
	case r.Settle < 0:
		return fmt.Errorf(reconcileSettle, t.Name, r.Settle)
	}
	return nil
}

func has(s *Schema, argument string) bool {
	return slices.ContainsFunc(s.Properties(), func(p Property) bool { return p.Name == argument })
}

// Doubt is a call whose outcome is unknown, as a [Reconcile] sees it (spec/config.md section 6, effect).
type Doubt struct {
	Key, RunID, Tool string         // Key is the idempotency key
	Args             map[string]any // all arguments as they were sent
	At               time.Time      // when it was sent
}
