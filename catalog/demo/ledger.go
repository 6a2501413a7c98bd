package demo

import (
	"context"
	"errors"

	"patterngate/catalog"
	"patterngate/ijson"
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
	if by := lookUps[t.Name]; by != "" && c.Look != nil {
		t.Reconcile = &catalog.Reconcile{Tool: by, Args: catalog.ArgsFrom(map[string]any{"key": catalog.EffectKey}), Happened: happened}
	}
	if c.Ledger == nil || isLookUp(t.Name) {
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

// lookUps are the tools that tell what became of a call, by the tool that was called.
var lookUps = map[string]string{"issue_refund": "find_refund", "send_refund_email": "find_refund_email"}

func isLookUp(name string) bool { return name == "find_refund" || name == "find_refund_email" }

// notFound is a look-up's answer about a call that did not happen.
const notFound = "not_found"

type lookUpArgs struct {
	Key string `json:"key" jsonschema_description:"The idempotency key of the call."`
}

// addLookUps adds the tools that find what was done, where the world can be asked.
func (b *builder) addLookUps(cfg Config) {
	if cfg.Look == nil {
		return
	}
	addFunc(b, catalog.Tool{
		Name: "find_refund", Title: "Find a refund", Description: "Finds the refund that was made under a key.",
	}, func(ctx context.Context, in lookUpArgs, _ catalog.Call) (refundResult, error) {
		return found(ctx, cfg, in.Key, refundResult{Status: "error", Error: notFound})
	})
	addFunc(b, catalog.Tool{
		Name: "find_refund_email", Title: "Find a refund email", Description: "Finds the email that was sent under a key.",
	}, func(ctx context.Context, in lookUpArgs, _ catalog.Call) (emailResult, error) {
		return found(ctx, cfg, in.Key, emailResult{Status: "error", Error: notFound})
	})
}

// found is what the call of a key answered, else none.
func found[Out any](ctx context.Context, cfg Config, key string, none Out) (Out, error) {
	e, was, err := cfg.Look(ctx, key)
	if err != nil || !was {
		return none, err
	}
	answer, ok := e.Result.(map[string]any)
	if !ok {
		return none, errors.New("the entry's result is no object")
	}
	var out Out
	err = ijson.Bind(answer, &out)
	return out, err
}

// happened reads what a look-up observed.
func happened(_ catalog.Doubt, observation any) (did, known bool) {
	answer, ok := observation.(map[string]any)
	return ok && answer["status"] == "ok", ok && (answer["status"] == "ok" || answer["error"] == notFound)
}
