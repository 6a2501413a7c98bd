package outcome

import (
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// The advice after the policy blocked a call before anything was written (spec/surface.md section 4, supervisor_block).
// The first choice is to call what the blocked call needs. The second is the nearest call that the policy does not
// block. Otherwise the person must decide.

// unblocked returns the advice after a block.
func (a account) unblocked() envelope.Next {
	if len(a.Need) > 0 && a.Spec.Kind == gateway.Supervisor {
		return a.ownIntent(a.withNeeded())
	}
	if n, ok := a.nearest(); ok {
		return n
	}
	return envelope.Next{Action: envelope.ActionTell, Say: a.say()}
}

// nearest offers the caller's own call with one argument changed so that the policy does not block it.
func (a account) nearest() (envelope.Next, bool) {
	name, value, ok := a.near()
	if !ok || !a.ByCall || !a.ownUpTo() {
		return envelope.Next{}, false
	}
	at := a.argumentsAt().Member(name)
	fix := document.Problem{Pointer: at, Reason: reasonNearest, Fix: &document.Fix{At: at, Value: value}}
	var also []ijson.Pointer
	if a.Arguments[arguments.KeyName] != nil && a.ownKey() { // the key belongs to this run now
		also = append(also, ijson.Pointer("").Member(arguments.KeyName))
	}
	r := a.Repaired([]document.Problem{fix}, also...)
	if len(r.Changed) != 1 || len(r.Fill) != len(also) {
		return envelope.Next{}, false
	}
	return fixed(a.Call, r), true
}

// ownUpTo reports whether the caller's call, as shown, holds all calls of the run up to the blocked one. Only then does
// the same call with one argument changed reach the point where the run stopped.
func (a account) ownUpTo() bool {
	var holder any = a.Arguments
	if name := a.IntentName(); name != "" {
		holder = map[string]any{name: a.Intents[name]}
	}
	sent, _ := a.argumentsAt().In(holder)
	args, _ := sent.(map[string]any)
	was, given := a.Blocked.Args[a.Blocked.Argument]
	now, there := args[a.Blocked.Argument]
	if a.Spec.Kind == gateway.Supervisor && a.Taken != len(a.History)+1 { // a model's actions came between
		return false
	}
	return given == there && (!given || ijson.Equal(was, now))
}

// reasonNearest is the reason of the problem that represents a blocked argument. It is never shown.
const reasonNearest = "nearest"

// ownKey reports whether idempotency_key is an argument of the call itself and not of the tool.
func (a account) ownKey() bool {
	return a.Spec.Kind != gateway.Call || slices.Contains(arguments.FreeNames(a.Spec), arguments.KeyName)
}

// argumentsAt returns where the caller's own arguments hold the arguments of the call at which the run stopped.
func (a account) argumentsAt() ijson.Pointer {
	at := ijson.Pointer("").Member(a.IntentName())
	switch n := len(a.History); a.Spec.Kind {
	case gateway.TaskDecomposition:
		return at.Member("steps").Index(n).Member("args")
	case gateway.Routing:
		return at.Member("args")
	case gateway.Supervisor:
		return at.Index(n).Member("args")
	}
	return ""
}

// needs says what a blocked call needs first.
func (a account) needs() string {
	tools, arguments := a.needed()
	said := []string{sendOwnActions}
	if len(tools) > 0 {
		said = append(said, comeFirst(sentence.Names(tools)))
	}
	if len(arguments) > 0 {
		said = append(said, giveArguments(a.stoppedAt(), sentence.Names(arguments)))
	}
	return sentence.Joined(said...)
}

// needed returns the tools to call first, and the arguments that the blocked call must have.
func (a account) needed() (tools, arguments []string) {
	for _, name := range a.Need {
		if _, known := a.Spec.Catalog.Tool(name); known {
			tools = append(tools, name)
		} else {
			arguments = append(arguments, name)
		}
	}
	return tools, arguments
}

// withNeeded returns a list of actions with the needed tools before the blocked one.
func (a account) withNeeded() any {
	blocked, _ := a.Action.(map[string]any)
	proposed := []any{blocked, arguments.FinalAction()}
	at := 0
	if blocked["kind"] == "final" {
		proposed = proposed[:1]
	}
	if own, ok := a.Intents["actions"].([]any); ok && a.ByCall && len(a.History) < len(own) {
		proposed, at = slices.Clone(own), len(a.History)
	}
	tools, arguments := a.needed()
	proposed[at] = lacking(proposed[at], arguments)
	var needed []any
	for _, name := range tools {
		needed = append(needed, a.neededCall(name, blocked["args"]))
	}
	return slices.Insert(proposed, at, needed...)
}

// neededCall returns the form of a call that must come first. It copies arguments of the same name from the blocked
// call.
func (a account) neededCall(name string, of any) any {
	action := arguments.CallAction(name)
	args, _ := action["args"].(map[string]any)
	given, _ := of.(map[string]any)
	tool, _ := a.Spec.Catalog.Tool(name)
	for _, p := range tool.Input.Properties() {
		v, known := given[p.Name]
		switch {
		case known:
			args[p.Name] = v
		case p.Required:
			args[p.Name] = ""
		}
	}
	return action
}

// lacking returns the action with an empty value for each argument that it must have and lacks.
func lacking(action any, arguments []string) any {
	row, ok := action.(map[string]any)
	if !ok || len(arguments) == 0 {
		return action
	}
	row = maps.Clone(row)
	args, _ := row["args"].(map[string]any)
	args = maps.Clone(args)
	if args == nil {
		args = map[string]any{}
	}
	for _, name := range arguments {
		if args[name] == nil {
			args[name] = ""
		}
	}
	row["args"] = args
	return row
}
