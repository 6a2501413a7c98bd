package gateway

import (
	"slices"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Action is one accepted proposal of a supervised worker: a call, or the final answer. Its texts have no space around
// them.
type Action struct {
	Final  bool
	Answer string         // of a final action; JSON where the pattern has a schema for it
	Name   string         // of a call
	Args   map[string]any // of a call, normalised to the tool's schema
	Filled []document.Filled
}

// Tool returns the action's name in traces: the tool's name, or "final".
func (a Action) Tool() string {
	if a.Final {
		return "final"
	}
	return a.Name
}

// Row returns the action as results and payloads show it.
func (a Action) Row() map[string]any {
	if a.Final {
		return map[string]any{"kind": "final", "answer": a.Answer}
	}
	return map[string]any{"kind": "tool", "name": a.Name, "args": a.Args}
}

// With returns the action with other arguments.
func (a Action) With(args map[string]any) Action {
	a.Args = args
	return a
}

// ActionRules are the rules that an action must fit.
type ActionRules struct {
	Allowed []string // the policy allowlist
	Catalog *catalog.Catalog
	// Final is the schema of a final answer; nil: any text. The answer may be an object in the action itself, or a text
	// that holds JSON.
	Final *catalog.Schema
}

// ParseAction parses and checks an action (spec/patterns.md section 5, in its order). It checks the types and values of
// the arguments too. For the other patterns, the gate checks them at the call.
func ParseAction(in document.Intent, rules ActionRules) (Action, *document.Refusal) {
	f := document.NewFaults("invalid_action")
	doc, filled, ok := document.Open(f, in, document.DefaultReasons, actionKinds(in)...)
	if !ok || f.Refusal() != nil { // with a wrong kind, the expected members are unknown
		return Action{}, f.Refusal()
	}
	a := Action{Final: doc.Members["kind"] == "final" || len(filled) > 0 && filled[0].Value == "final", Filled: filled}
	if a.Final {
		doc.Extra("extra_keys_final", ofFinal(), "kind", "answer")
		if rules.Final != nil {
			return a.answered(doc, rules.Final)
		}
		a.Answer = doc.Text("answer", "bad_final_answer", aText)
	} else {
		a.Name, a.Args = readCall(doc, rules)
	}
	if r := f.Refusal(); r != nil {
		return Action{}, r
	}
	return a, nil
}

// answered reads an answer that must fit a schema. Faults of the action come before faults of the answer.
func (a Action) answered(doc document.Object, schema *catalog.Schema) (Action, *document.Refusal) {
	v := doc.Members["answer"]
	text, isText := v.(string)
	if _, isObject := v.(map[string]any); !isObject && (!isText || ijson.Blank(text)) {
		doc.Wrong("bad_final_answer", "answer", objectOrText)
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

// actionKinds returns the kinds that an action may have. These are both kinds, unless a caller omitted the kind and the
// other members allow only one.
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
	args, ok := o.Args("bad_tool_args", argumentsObject)
	if !named {
		return "", nil
	}
	_, allowed := o.Name("name", document.NameReasons{NotAllowed: "unknown_tool"}, rules.Allowed)
	tool, known := rules.Catalog.Tool(name)
	if !ok || !allowed || !known { // the gate reports an allowed tool that is missing
		return name, args
	}
	return name, readArgs(document.Object{Faults: o.Faults, Members: args, At: o.At.Member("args")}, tool)
}

// readArgs checks arguments against a tool's schema, each in the schema's order, and normalises them.
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
			o.Wrong("bad_arg_type:"+tool.Name+":"+p.Name, p.Name, wantType(p)).RetypeArgument(tool, o.Members, o.At, p.Name, p.Type)
			told = append(told, p.Name)
		}
	}
	judgeArgs(o, tool, out, told)
	return out
}

// judgeArgs checks normalised arguments against the tool's schemas, as the call does. It skips the arguments in told:
// they have a fault already.
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
		return aTextNotBlank
	case "":
		return aValue
	}
	return ofType(p.Type)
}

// ofCall returns other names of the members of a call.
func ofCall(allowed []string) []document.Synonym {
	return []document.Synonym{{Name: "name", Words: document.WordsOfTool, As: document.NamedIn(allowed)}, document.ArgsSynonym()}
}

// ofFinal returns other names of the members of a final answer.
func ofFinal() []document.Synonym {
	return []document.Synonym{{Name: "answer", Words: wordsOfAnswer, As: document.Textual}}
}

// wordsOfAnswer are other names of the member answer.
var wordsOfAnswer = []string{"text", "content", "message", "result", "output", "response", "finalanswer"}
