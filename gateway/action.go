package gateway

import (
	"patterngate/catalog"
	"patterngate/ijson"
)

// Action is one accepted proposal of a supervised worker: a call, or the final answer. Texts are stripped.
type Action struct {
	Final  bool
	Answer string         // of a final action
	Name   string         // of a call
	Args   map[string]any // of a call, normalised to the tool's schema
	Filled []Filled
}

// Tool is the action's name in traces: the tool's, or "final".
func (a Action) Tool() string {
	if a.Final {
		return "final"
	}
	return a.Name
}

// Row is the action as results and payloads show it.
func (a Action) Row() map[string]any {
	if a.Final {
		return map[string]any{"kind": "final", "answer": a.Answer}
	}
	return map[string]any{"kind": "tool", "name": a.Name, "args": a.Args}
}

// With is the action with other arguments.
func (a Action) With(args map[string]any) Action {
	a.Args = args
	return a
}

// ActionRules bound an action.
type ActionRules struct {
	Allowed []string // the policy allowlist
	Catalog *catalog.Catalog
}

// ParseAction judges an action (spec/patterns.md section 5, in its order). Unlike in the other patterns the
// arguments' types are judged here and not at the call.
func ParseAction(in Intent, rules ActionRules) (Action, *Refusal) {
	f := &faults{family: "invalid_action"}
	doc, filled := openDocument(f, in, documentReasons, actionKinds(in)...)
	if doc == nil || f.first != "" { // of another kind: what its members should be, nobody knows
		return Action{}, f.refusal()
	}
	var a Action
	if doc["kind"] == "final" || len(filled) > 0 && filled[0].Value == "final" {
		a = parseFinal(f, doc, in.At)
	} else {
		a = parseCall(f, doc, in.At, rules)
	}
	if r := f.refusal(); r != nil {
		return Action{}, r
	}
	a.Filled = filled
	return a, nil
}

// actionKinds are the kinds an action may have: both, unless a caller left the kind out and its other members
// allow only one.
func actionKinds(in Intent) []string {
	doc, _ := in.value.(map[string]any)
	_, given := doc["kind"]
	_, named := doc["name"]
	_, answered := doc["answer"]
	switch {
	case given || named == answered:
		return []string{"tool", "final"}
	case named:
		return []string{"tool"}
	}
	return []string{"final"}
}

func parseFinal(f *faults, doc map[string]any, at ijson.Pointer) Action {
	extraKeys(f, "extra_keys_final", doc, at, "kind", "answer")
	answer, ok := text(doc["answer"])
	if !ok {
		f.add("bad_final_answer", at.Member("answer"), member(doc, "answer"), "a text").Fix = asText(at.Member("answer"), doc["answer"])
	}
	return Action{Final: true, Answer: answer}
}

func parseCall(f *faults, doc map[string]any, at ijson.Pointer, rules ActionRules) Action {
	extraKeys(f, "extra_keys_tool", doc, at, "kind", "name", "args")
	n, named := text(doc["name"])
	if !named {
		f.add("bad_tool_name", at.Member("name"), member(doc, "name"), oneOf(rules.Allowed))
	}
	args, ok := optionalObject(doc["args"])
	if !ok {
		f.add("bad_tool_args", at.Member("args"), doc["args"], "an object of arguments")
	}
	if !named {
		return Action{}
	}
	allowedName(f, doc, "name", at, nameRules{"bad_tool_name", "unknown_tool", rules.Allowed})
	a := Action{Name: n, Args: args}
	tool, known := rules.Catalog.Tool(n)
	if known && ok && contains(rules.Allowed, n) {
		a.Args = parseArgs(f, tool, args, at.Member("args"))
	}
	return a
}

// parseArgs judges a call's arguments against the tool's schema, each argument in the schema's order.
func parseArgs(f *faults, tool catalog.Tool, args map[string]any, at ijson.Pointer) map[string]any {
	properties := tool.Input.Properties()
	names := make([]string, len(properties))
	for i, p := range properties {
		names[i] = p.Name
	}
	unknown, means := misspelt(args, names)
	for _, n := range unknown {
		f.add("extra_tool_args:"+tool.Name, at.Member(n), args[n], listing("no argument beyond ", names)).
			rename(args, at, n, means[n])
	}
	out := make(map[string]any, len(args))
	for _, p := range properties {
		v, given := args[p.Name]
		switch {
		case !given && p.Required:
			f.add("missing_required_arg:"+tool.Name+":"+p.Name, at.Member(p.Name), Missing, wantType(p))
		case given:
			norm, ok := typed(p.Type, v)
			if !ok {
				f.add("bad_arg_type:"+tool.Name+":"+p.Name, at.Member(p.Name), v, wantType(p)).Fix = Retype(p.Type, at.Member(p.Name), v)
			}
			out[p.Name] = norm
		}
	}
	return out
}

func wantType(p catalog.Property) string {
	switch p.Type {
	case "string":
		return "a text that is not blank"
	case "":
		return "a value"
	}
	return "of type " + p.Type
}

// typed checks a value's type and normalises it: texts are stripped and must not be blank.
func typed(kind string, v any) (any, bool) {
	ok := true
	switch kind {
	case "integer":
		_, ok = ijson.Integer(v)
	case "number":
		_, ok = v.(float64)
	case "boolean":
		_, ok = v.(bool)
	case "string":
		s, ok := text(v)
		return s, ok
	case "array":
		_, ok = v.([]any)
	case "object":
		_, ok = v.(map[string]any)
	}
	return v, ok
}
