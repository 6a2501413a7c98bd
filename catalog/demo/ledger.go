package demo

import (
	"context"

	"patterngate/catalog"
)

// Entry is one effect that a tool had in the world outside.
type Entry struct {
	Tool       string
	Effect     catalog.Effect
	Key        string // the idempotency key that the call came with
	Args       map[string]any
	Result     any  // what the tool answers
	Repeatable bool // the tool is declared to act once for a key
}

// told has a tool's effect entered in the ledger before the tool answers. A call that had no effect, because its time was
// over or because the world refused it, is not entered.
func (c Config) told(t catalog.Tool) catalog.Tool {
	if t.Effect != catalog.Read {
		t.Idempotent = !c.Plain
	}
	if c.Ledger == nil {
		return t
	}
	do, entry := t.Do, Entry{Tool: t.Name, Effect: t.Effect, Repeatable: t.Repeatable()}
	t.Do = func(ctx context.Context, call catalog.Call) (any, error) {
		result, err := do(ctx, call)
		if err != nil || refused(result) {
			return result, err
		}
		e := entry
		e.Key, e.Args, e.Result = call.Key, call.Args, result
		return result, c.Ledger(ctx, e)
	}
	return t
}

// refused reports whether a tool of this world did nothing.
func refused(result any) bool {
	answer, _ := result.(map[string]any)
	return answer["status"] == "error"
}
