package demo

import (
	"context"
	"errors"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Entry is one effect of a tool on the simulated world.
type Entry struct {
	Tool       string
	Effect     catalog.Effect
	Key        string // the idempotency key of the call
	Args       map[string]any
	Result     any  // the tool's answer
	Repeatable bool // the tool declares that it acts once for each key
}

// told wraps a tool so that it enters its effect in the ledger before it answers. It does not enter a call without an
// effect: one that timed out, or one that the world refused.
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

// refused reports whether the result of a tool says that nothing was done.
func refused(result any) bool {
	answer, _ := result.(map[string]any)
	return answer["status"] == "error"
}

// lookUps maps a tool to the look-up that finds the outcome of its calls.
var lookUps = map[string]string{"issue_refund": "find_refund", "send_refund_email": "find_refund_email"}

func isLookUp(name string) bool { return name == "find_refund" || name == "find_refund_email" }

// notFound is the answer of a look-up for a call that did not happen.
const notFound = "not_found"

type lookUpArgs struct {
	Key string `json:"key" jsonschema_description:"The idempotency key of the call."`
}

// addLookUps adds the look-ups, if cfg.Look is set.
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

// found returns the answer of the call with a key, or none if there was no such call.
func found[Out any](ctx context.Context, cfg Config, key string, none Out) (Out, error) {
	e, was, err := cfg.Look(ctx, key)
	if err != nil || !was {
		return none, err
	}
	answer, ok := e.Result.(map[string]any)
	if !ok {
		return none, errors.New("the entry's result is not an object")
	}
	var out Out
	err = ijson.Bind(answer, &out)
	return out, err
}

// happened reads the observation of a look-up. did reports whether the call happened, and known whether the observation
// says so.
func happened(_ catalog.Doubt, observation any) (did, known bool) {
	answer, ok := observation.(map[string]any)
	return ok && answer["status"] == "ok", ok && (answer["status"] == "ok" || answer["error"] == notFound)
}
