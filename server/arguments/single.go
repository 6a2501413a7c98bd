package arguments

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

// A pattern of kind call is one tool behind the gate, offered under its own schema. The call's arguments are the tool's
// arguments, without nesting, and there is no intent and no model (spec/surface.md section 2, kind call). The gate
// judges what does not fit the tool's schema. This file judges only the arguments about the call itself.

// CalledTool returns the tool that a pattern of kind call calls. It returns false for other kinds and unknown tools.
func CalledTool(spec patterns.Spec) (catalog.Tool, bool) {
	if spec.Kind != gateway.Call {
		return catalog.Tool{}, false
	}
	return spec.Catalog.Tool(spec.Tool)
}

// CheckCall returns an error if a pattern of kind call names no tool of the catalog.
func CheckCall(spec patterns.Spec) error {
	if spec.Tool == "" {
		return fmt.Errorf("a pattern of kind call names a tool")
	}
	if _, ok := CalledTool(spec); !ok {
		return fmt.Errorf("no tool %q in the catalog", spec.Tool)
	}
	return nil
}

// FreeNames returns the names of the call's own arguments that the tool does not define itself. For an unknown tool
// it returns all of them.
func FreeNames(spec patterns.Spec) []string {
	free := []string{WaitName, KeyName, DryRunName}
	t, _ := CalledTool(spec)
	taken := t.Input.Properties()
	return slices.DeleteFunc(free, func(name string) bool {
		return slices.ContainsFunc(taken, func(p catalog.Property) bool { return p.Name == name })
	})
}

// ofCall returns the rows of a table that a call of the pattern takes itself.
func ofCall(spec patterns.Spec, table []Row) []Row {
	if spec.Kind != gateway.Call {
		return table
	}
	free := FreeNames(spec)
	return slices.DeleteFunc(slices.Clone(table), func(a Row) bool { return !slices.Contains(free, a.Name) })
}

// toolArguments returns the arguments of the one tool that is called: the call's arguments without those about the call
// itself. An optional argument that is null counts as absent, unless null is allowed.
func (c Call) toolArguments() map[string]any {
	args := maps.Clone(c.Arguments)
	if args == nil {
		args = map[string]any{}
	}
	for _, name := range FreeNames(c.Spec) {
		delete(args, name)
	}
	t, _ := CalledTool(c.Spec)
	for _, p := range t.Input.Properties() {
		if v, there := args[p.Name]; there && v == nil && !p.Required && p.Type != "" && p.Type != "null" {
			delete(args, p.Name)
		}
	}
	return args
}

// openTexts also accepts the tool's objects and arrays as texts that hold their JSON, as some clients send them. A text
// never fits such an argument, so this changes no valid call.
func (r *Request) openTexts() {
	t, _ := CalledTool(r.Spec)
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

// singleSchema returns the published schema of a one-tool call: the tool's own, with the arguments about the call
// itself.
func singleSchema(spec patterns.Spec, w Waits) (json.RawMessage, error) {
	t, ok := CalledTool(spec)
	if !ok {
		return nil, CheckCall(spec)
	}
	var root map[string]json.RawMessage
	if err := json.Unmarshal(t.Input.JSON(), &root); err != nil || root == nil {
		return nil, fmt.Errorf("the schema of %s is not an object", spec.Tool)
	}
	own := map[string]string{
		WaitName:   `{"type":"number",` + w.Remark() + `}`,
		KeyName:    `{"type":"string"}`,
		DryRunName: `{"type":"boolean"}`,
	}
	properties := bytes.TrimSpace(root["properties"])
	if len(properties) < 2 || properties[0] != '{' {
		properties = []byte("{}")
	}
	properties = bytes.TrimSpace(properties[1 : len(properties)-1])
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{` + string(properties))
	for i, name := range FreeNames(spec) {
		if i > 0 || len(properties) > 0 {
			b.WriteByte(',')
		}
		b.WriteString(JSONText(name) + ":" + own[name])
	}
	b.WriteByte('}')
	delete(root, "type")
	delete(root, "properties")
	for _, name := range slices.Sorted(maps.Keys(root)) {
		b.WriteString("," + JSONText(name) + ":" + string(root[name]))
	}
	b.WriteByte('}')
	return withoutHeaders(json.RawMessage(b.String()))
}

// headerKeyword makes a client send an argument as a header too. Patterngate ignores what an upstream declares about
// its headers, and mcp-go rejects a tool with a faulty declaration.
const headerKeyword = "x-mcp-header"

// withoutHeaders returns a schema without [headerKeyword]. Nearly all schemas have none.
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

// CalledWith returns the tool's arguments, from the call or from the run that is looked at. It returns nil if they are
// not known.
func (c Call) CalledWith() map[string]any {
	switch {
	case c.Arguments != nil:
		return c.toolArguments()
	case c.Run != nil && c.Run.Arguments != nil:
		c.Arguments = c.Run.Arguments
		return c.toolArguments()
	}
	return nil
}

// callForm is the form of one-tool calls. They have no intent, and their arguments and schema are the tool's.
func callForm() form {
	return form{goal: "goal", rows: noRows, shape: noShape, skeleton: stepsSkeleton}
}
