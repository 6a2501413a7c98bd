package gateway

import (
	"slices"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Action is one accepted proposal of a supervised worker: a call, or the final answer. Texts are stripped.
type Action struct {
	Final  bool
	Answer string         // of a final action; JSON where the pattern says what it must be
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
	// Final is what a final answer must be; nil: any text. It may stand in the action itself, or as JSON in a text.
	Final *catalog.Schema
}

// ParseAction judges an action (spec/patterns.md section 5, in its order). Unlike in the other patterns the
// arguments' types and values are judged here and not at the call.
func ParseAction(in Intent, rules ActionRules) (Action, *Refusal) {
	f := newFaults("invalid_action")
	doc, filled, ok := openDocument(f, in, documentReasons, actionKinds(in)...)
	if !ok || f.refusal() != nil { // of another kind: what its members should be, nobody knows
		return Action{}, f.refusal()
	}
	a := Action{Final: doc.members["kind"] == "final" || len(filled) > 0 && filled[0].Value == "final", Filled: filled}
	if a.Final {
		doc.extra("extra_keys_final", ofFinal(), "kind", "answer")
		if rules.Final != nil {
			return a.answered(doc, rules.Final)
		}
		a.Answer = doc.text("answer", "bad_final_answer", "a text")
	} else {
		a.Name, a.Args = readCall(doc, rules)
	}
	if r := f.refusal(); r != nil {
		return Action{}, r
	}
	return a, nil
}

// answered reads an answer that must fit a schema. What the action is comes before what it says.
func (a Action) answered(doc object, schema *catalog.Schema) (Action, *Refusal) {
	v := doc.members["answer"]
	text, isText := v.(string)
	if _, isObject := v.(map[string]any); !isObject && (!isText || ijson.Blank(text)) {
		doc.wrong("bad_final_answer", "answer", "an object, or a text that holds one")
	}
	if r := doc.refusal(); r != nil {
		return Action{}, r
	}
	f, at := newFaults("invalid_answer"), doc.at.Member("answer")
	if isText {
		v = decodeAnswer(f, text, at)
	}
	if f.count() == 0 {
		judgeAnswer(f, v, at, schema)
	}
	if r := f.refusal(); r != nil {
		return Action{}, r
	}
	a.Answer = string(ijson.Canonical(v))
	return a, nil
}

// actionKinds are the kinds an action may have: both, unless a caller left the kind out and its other members
// allow only one.
func actionKinds(in Intent) []string {
	doc, _ := in.Value().(map[string]any)
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

// readCall reads the name and the arguments of a call.
func readCall(o object, rules ActionRules) (string, map[string]any) {
	o.extra("extra_keys_tool", ofCall(rules.Allowed), "kind", "name", "args")
	name, named := text(o.members["name"])
	if !named {
		o.wrong("bad_tool_name", "name", oneOf(rules.Allowed))
	}
	args, ok := o.args("bad_tool_args", "an object of arguments")
	if !named {
		return "", nil
	}
	_, allowed := o.name("name", nameReasons{notAllowed: "unknown_tool"}, rules.Allowed)
	tool, known := rules.Catalog.Tool(name)
	if !ok || !allowed || !known { // the gate says that an allowed tool is missing
		return name, args
	}
	return name, readArgs(object{faults: o.faults, members: args, at: o.at.Member("args")}, tool)
}

// readArgs judges arguments against a tool's schema, each in the schema's order, and normalises them.
func readArgs(o object, tool catalog.Tool) map[string]any {
	properties := tool.Input.Properties()
	names, types := make([]string, len(properties)), make(map[string]string, len(properties))
	for i, p := range properties {
		names[i], types[p.Name] = p.Name, p.Type
	}
	unknown, means := misspelt(o.members, names)
	for _, n := range unknown {
		o.wrong("extra_tool_args:"+tool.Name, n, listing("no argument beyond ", names)).rename(o.members, o.at, n, means[n], types[means[n]])
	}
	out, told := make(map[string]any, len(o.members)), unknown
	for _, p := range properties {
		v, given := o.members[p.Name]
		if !given {
			if p.Required {
				o.wrong("missing_required_arg:"+tool.Name+":"+p.Name, p.Name, wantType(p))
				told = append(told, p.Name)
			}
			continue
		}
		var ok bool
		if out[p.Name], ok = typed(p.Type, v); !ok {
			o.wrong("bad_arg_type:"+tool.Name+":"+p.Name, p.Name, wantType(p)).Fix = Retype(p.Type, o.at.Member(p.Name), v)
			told = append(told, p.Name)
		}
	}
	judgeArgs(o, tool, out, told)
	return out
}

// judgeArgs judges normalised arguments by the tool's schemas, as the call would be, but for those of which something was
// told already.
func judgeArgs(o object, tool catalog.Tool, args map[string]any, told []string) {
	for _, w := range tool.Check(tool.Filled(args)) {
		tokens := w.Pointer.Tokens()
		if len(tokens) == 0 {
			if len(told) == 0 {
				o.add("bad_tool_args", o.at, args, w.Want)
			}
			continue
		}
		if slices.Contains(told, tokens[0]) {
			continue
		}
		got, there := w.Pointer.In(o.members)
		if !there {
			got = Missing
		}
		reason := "bad_arg_value:" + tool.Name + ":" + ijson.Cut(tokens[0], maxNamed)
		if len(tokens) == 1 {
			switch w.Kind {
			case catalog.MismatchUnknown:
				reason = "extra_tool_args:" + tool.Name
			case catalog.MismatchMissing:
				reason = "missing_required_arg:" + tool.Name + ":" + ijson.Cut(tokens[0], maxNamed)
			case catalog.MismatchType:
				reason = "bad_arg_type:" + tool.Name + ":" + ijson.Cut(tokens[0], maxNamed)
			}
		}
		if noted := o.add(reason, o.at+w.Pointer, got, w.Want); w.Kind == catalog.MismatchUnknown {
			noted.Choose = RemoveOrRename
		}
	}
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

// ofCall are other names of the members of a call.
func ofCall(allowed []string) []rename {
	return []rename{{right: "name", words: wordsOfTool, as: namedIn(allowed)}, argsRename()}
}

// ofFinal are other names of the members of a final answer.
func ofFinal() []rename { return []rename{{right: "answer", words: wordsOfAnswer, as: textual}} }

// wordsOfAnswer are other names of answer.
var wordsOfAnswer = []string{"text", "content", "message", "result", "output", "response", "finalanswer"}
