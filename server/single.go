package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// A pattern of kind call is one tool behind the gate, offered under its own schema: the call's arguments are the tool's, taken
// flat, and no intent and no model have a part in it (spec/surface.md section 2, kind call). What does not fit the tool's schema
// is the gate's to say; only what is about the call itself is judged here.

// singleTool is the tool that a pattern of kind call calls.
func singleTool(spec patterns.Spec) (catalog.Tool, bool) {
	if spec.Kind != gateway.Call {
		return catalog.Tool{}, false
	}
	return spec.Catalog.Tool(spec.Tool)
}

// checkSingle tells what a pattern of kind call lacks to be served.
func checkSingle(spec patterns.Spec) error {
	if spec.Tool == "" {
		return fmt.Errorf("a pattern of kind call names a tool")
	}
	if _, ok := singleTool(spec); !ok {
		return fmt.Errorf("no tool %q in the catalog", spec.Tool)
	}
	return nil
}

// singleListing are the words by which a call of one tool is listed: the tool's own.
func singleListing(spec patterns.Spec) listing {
	t, _ := singleTool(spec)
	l := listing{title: titled(t), description: t.Description}
	if ijson.Blank(l.description) {
		l.description = "Calls " + titled(t) + " once, behind the gate."
	}
	return l
}

// freeHandles are the names of a call's own arguments that the tool does not take itself. Of a tool that is not known all are.
func freeHandles(spec patterns.Spec) []string {
	free := []string{waitArgument, keyArgument, dryArgument}
	t, _ := singleTool(spec)
	taken := t.Input.Properties()
	return slices.DeleteFunc(free, func(name string) bool {
		return slices.ContainsFunc(taken, func(p catalog.Property) bool { return p.Name == name })
	})
}

// ofCall keeps of a table of arguments what a call of the pattern takes itself.
func ofCall(spec patterns.Spec, table []argument) []argument {
	if spec.Kind != gateway.Call {
		return table
	}
	free := freeHandles(spec)
	return slices.DeleteFunc(slices.Clone(table), func(a argument) bool { return !slices.Contains(free, a.name) })
}

// toolArguments are the arguments of the one tool that is called: all of the call's less those about the call itself. An
// optional one that is null and may not be is as good as absent.
func (c call) toolArguments() map[string]any {
	args := maps.Clone(c.Arguments)
	if args == nil {
		args = map[string]any{}
	}
	for _, name := range freeHandles(c.Spec) {
		delete(args, name)
	}
	t, _ := singleTool(c.Spec)
	for _, p := range t.Input.Properties() {
		if v, there := args[p.Name]; there && v == nil && !p.Required && p.Type != "" && p.Type != "null" {
			delete(args, p.Name)
		}
	}
	return args
}

// openTexts takes the tool's objects and arrays also as texts that hold their JSON, as some clients send them. A text fits
// none of them, so that no call that fits is changed.
func (r *request) openTexts() {
	t, _ := singleTool(r.Spec)
	for _, p := range t.Input.Properties() {
		text, isText := r.Arguments[p.Name].(string)
		if !isText || p.Type != "object" && p.Type != "array" {
			continue
		}
		v, err := ijson.Decode([]byte(text))
		_, isObject := v.(map[string]any)
		_, isArray := v.([]any)
		if err == nil && (isObject && p.Type == "object" || isArray && p.Type == "array") {
			r.Arguments[p.Name] = v
			r.Size += ijson.Weight(v)
		}
	}
}

// singleSchema is the published schema of a call of one tool: the tool's own, with the arguments about the call itself.
func singleSchema(spec patterns.Spec, c Config) (json.RawMessage, error) {
	t, ok := singleTool(spec)
	if !ok {
		return nil, checkSingle(spec)
	}
	var root map[string]json.RawMessage
	if err := json.Unmarshal(t.Input.JSON(), &root); err != nil || root == nil {
		return nil, fmt.Errorf("the schema of %s is no object", spec.Tool)
	}
	own := map[string]string{
		waitArgument: `{"type":"number",` + waitRemark(c) + `}`,
		keyArgument:  `{"type":"string","minLength":1,"maxLength":255,` + described("Same key, same run.") + `}`,
		dryArgument:  `{"type":"boolean",` + described(dryWords) + `}`,
	}
	properties := bytes.TrimSpace(root["properties"])
	if len(properties) < 2 || properties[0] != '{' {
		properties = []byte("{}")
	}
	properties = bytes.TrimSpace(properties[1 : len(properties)-1])
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{` + string(properties))
	for i, name := range freeHandles(spec) {
		if i > 0 || len(properties) > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonText(name) + ":" + own[name])
	}
	b.WriteByte('}')
	delete(root, "type")
	delete(root, "properties")
	for _, name := range slices.Sorted(maps.Keys(root)) {
		b.WriteString("," + jsonText(name) + ":" + string(root[name]))
	}
	b.WriteByte('}')
	return withoutHeaders(json.RawMessage(b.String()))
}

// headerKeyword has a client send an argument as a header too. What an upstream declares of our headers counts for nothing, and
// mcp-go takes no tool whose declaration is at fault.
const headerKeyword = "x-mcp-header"

// withoutHeaders is a schema without [headerKeyword]; nearly all have none.
func withoutHeaders(schema json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(schema, []byte(headerKeyword)) {
		return schema, nil
	}
	v, err := ijson.Decode(schema)
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be shown: %w", err)
	}
	strip(v)
	return ijson.Canonical(v), nil
}

func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, headerKeyword)
		for _, member := range v {
			strip(member)
		}
	case []any:
		for _, item := range v {
			strip(item)
		}
	}
}
