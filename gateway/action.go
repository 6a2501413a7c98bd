package gateway

import (
	"slices"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Action is one accepted proposal of a supervised worker: a call, or the final answer. Texts are stripped.
type Action struct {
	Final  bool
	Answer string         // of a final action; JSON where the pattern says what it must be
	Name   string         // of a call
	Args   map[string]any // of a call, normalised to the tool's schema
	Filled []document.Filled
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
func ParseAction(in document.Intent, rules ActionRules) (Action, *document.Refusal) {
	f := document.NewFaults("invalid_action")
	doc, filled, ok := document.Open(f, in, document.DefaultReasons, actionKinds(in)...)
	if !ok || f.Refusal() != nil { // of another kind: what its members should be, nobody knows
		return Action{}, f.Refusal()
	}
	a := Action{Final: doc.Members["kind"] == "final" || len(filled) > 0 && filled[0].Value == "final", Filled: filled}
	if a.Final {
		doc.Extra("extra_keys_final", ofFinal(), "kind", "answer")
		if rules.Final != nil {
			return a.answered(doc, rules.Final)
		}
		a.Answer = doc.Text("answer", "bad_final_answer", "a text")
	} else {
		a.Name, a.Args = readCall(doc, rules)
	}
	if r := f.Refusal(); r != nil {
		return Action{}, r
	}
	return a, nil
}

// answered reads an answer that must fit a schema. What the action is comes before what it says.
func (a Action) answered(doc document.Object, schema *catalog.Schema) (Action, *document.Refusal) {
	v := doc.Members["answer"]
	text, isText := v.(string)
	if _, isObject := v.(map[string]any); !isObject && (!isText || ijson.Blank(text)) {
		doc.Wrong("bad_final_answer", "answer", "an object, or a text that holds one")
	}
	if r := doc.Refusal(); r != nil {
		return Action{}, r
	}
	f, at := document.NewFaults("invalid_answer"), doc.At.Member("answer")
	if isText {
		v = decodeAnswer(f, text, at)
	}
	if f.Count() == 0 {
		judgeAnswer(f, v, at, schema)
	}
	if r := f.Refusal(); r != nil {
		return Action{}, r
	}
	a.Answer = string(ijson.Canonical(v))
	return a, nil
}

// actionKinds are the kinds an action may have: both, unless a caller left the kind out and its other members
// allow only one.
func actionKinds(in document.Intent) []string {
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
func readCall(o document.Object, rules ActionRules) (string, map[string]any) {
	o.Extra("extra_keys_tool", ofCall(rules.Allowed), "kind", "name", "args")
	name, named := document.Text(o.Members["name"])
	if !named {
		o.Wrong("bad_tool_name", "name", document.OneOf(rules.Allowed))
	}
	args, ok := o.Args("bad_tool_args", "an object of arguments")
	if !named {
		return "", nil
	}
	_, allowed := o.Name("name", document.NameReasons{NotAllowed: "unknown_tool"}, rules.Allowed)
	tool, known := rules.Catalog.Tool(name)
	if !ok || !allowed || !known { // the gate says that an allowed tool is missing
		return name, args
	}
	return name, readArgs(document.Object{Faults: o.Faults, Members: args, At: o.At.Member("args")}, tool)
}

// readArgs judges arguments against a tool's schema, each in the schema's order, and normalises them.
func readArgs(o document.Object, tool catalog.Tool) map[string]any {
	properties := tool.Input.Properties()
	names, types := make([]string, len(properties)), make(map[string]string, len(properties))
	for i, p := range properties {
		names[i], types[p.Name] = p.Name, p.Type
	}
	unknown, means := document.Misspellings(o.Members, names)
	for _, n := range unknown {
		o.Wrong("extra_tool_args:"+tool.Name, n, document.Listing("no argument beyond ", names)).Rename(o.Members, o.At, n, means[n], types[means[n]])
	}
	out, told := make(map[string]any, len(o.Members)), unknown
	for _, p := range properties {
		v, given := o.Members[p.Name]
		if !given {
			if p.Required {
				o.Wrong("missing_required_arg:"+tool.Name+":"+p.Name, p.Name, wantType(p))
				told = append(told, p.Name)
			}
			continue
		}
		var ok bool
		if out[p.Name], ok = document.Typed(p.Type, v); !ok {
			o.Wrong("bad_arg_type:"+tool.Name+":"+p.Name, p.Name, wantType(p)).Fix = document.Retype(p.Type, o.At.Member(p.Name), v)
			told = append(told, p.Name)
		}
	}
	judgeArgs(o, tool, out, told)
	return out
}

// judgeArgs judges normalised arguments by the tool's schemas, as the call would be, but for those of which something was
// told already.
func judgeArgs(o document.Object, tool catalog.Tool, args map[string]any, told []string) {
	for _, w := range tool.Check(tool.Filled(args)) {
		tokens := w.Pointer.Tokens()
		if len(tokens) == 0 {
			if len(told) == 0 {
				o.Add("bad_tool_args", o.At, args, w.Want)
			}
			continue
		}
		if slices.Contains(told, tokens[0]) {
			continue
		}
		got, there := w.Pointer.In(o.Members)
		if !there {
			got = document.Missing
		}
		reason := "bad_arg_value:" + tool.Name + ":" + ijson.Cut(tokens[0], document.MaxNamed)
		if len(tokens) == 1 {
			switch w.Kind {
			case catalog.MismatchUnknown:
				reason = "extra_tool_args:" + tool.Name
			case catalog.MismatchMissing:
				reason = "missing_required_arg:" + tool.Name + ":" + ijson.Cut(tokens[0], document.MaxNamed)
			case catalog.MismatchType:
				reason = "bad_arg_type:" + tool.Name + ":" + ijson.Cut(tokens[0], document.MaxNamed)
			}
		}
		if noted := o.Add(reason, o.At+w.Pointer, got, w.Want); w.Kind == catalog.MismatchUnknown {
			noted.Choose = document.RemoveOrRename
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
func ofCall(allowed []string) []document.Synonym {
	return []document.Synonym{{Name: "name", Words: document.WordsOfTool, As: document.NamedIn(allowed)}, document.ArgsSynonym()}
}

// ofFinal are other names of the members of a final answer.
func ofFinal() []document.Synonym {
	return []document.Synonym{{Name: "answer", Words: wordsOfAnswer, As: document.Textual}}
}

// wordsOfAnswer are other names of answer.
var wordsOfAnswer = []string{"text", "content", "message", "result", "output", "response", "finalanswer"}
