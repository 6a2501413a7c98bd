package doctor

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/server/cli/console"
)

// These limits of clients are in bytes, except for the description's, which is in characters.
const (
	mostDescription = 500
	mostInput       = 3 << 10
	mostOutput      = 4 << 10
	mostTools       = 32 << 10
	tokenBytes      = 4  // approximate bytes of JSON for a token
	mostFullName    = 64 // of mcp__SERVER__TOOL, as some clients call it
)

// takenName matches tool names that every client accepts.
var takenName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// examineTools checks the raw tools/list for tools that clients drop, turn into text or cut.
func examineTools(server string, tools []json.RawMessage, f *findings) {
	if len(tools) == 0 {
		f.fail("tools", fixListTools+f.with, startsNothing)
		return
	}
	size, before := 0, len(f.rows)
	for _, raw := range tools {
		size += len(raw)
		examineTool(server, raw, f)
	}
	if !slices.ContainsFunc(f.rows[before:], func(r finding) bool { return r.State != stateOK }) {
		f.ok("tools", toolsFit(len(tools)))
	}
	if size > mostTools {
		f.warn("size", fixSize, listTooLarge(size, size/tokenBytes, mostTools))
		return
	}
	f.ok("size", listSize(size, size/tokenBytes))
}

// examineTool checks one tool.
func examineTool(server string, raw json.RawMessage, f *findings) {
	var t struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Input       json.RawMessage `json:"inputSchema"`
		Output      json.RawMessage `json:"outputSchema"`
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		f.fail("tools", fixReport, unreadableTool+err.Error())
		return
	}
	name := console.OtherName(t.Name)
	if !takenName.MatchString(t.Name) {
		f.fail("names", fixName, badName(name))
	} else if full := "mcp__" + server + "__" + t.Name; len(full) > mostFullName {
		f.warn("names", fixLongName, longName(name, console.OtherName(full), mostFullName))
	}
	switch n := len([]rune(t.Description)); {
	case n == 0:
		f.warn("descriptions", fixNoWords, noDescription(name))
	case n > mostDescription:
		f.warn("descriptions", fixLongWords, longDescription(name, n, mostDescription))
	}
	for _, part := range []struct {
		what string
		text json.RawMessage
		most int
	}{{"input", t.Input, mostInput}, {"output", t.Output, mostOutput}} {
		if part.text == nil && part.what == "output" {
			continue
		}
		if len(part.text) > part.most {
			f.warn("schemas", fixSchema, largeSchema(name, part.what, len(part.text), part.most))
		}
		if found := undroppable(part.text); found != "" {
			f.fail("schemas", fixReportTool, badSchema(name, part.what, found))
		}
	}
}

// undroppable returns the first part of a schema for which clients drop the tool, or "" if there is none.
func undroppable(text json.RawMessage) string {
	schema, err := ijson.Decode(text)
	if err != nil {
		return notJSON(err)
	}
	root, ok := schema.(map[string]any)
	if !ok || root["type"] != "object" {
		return rootNoObject
	}
	return droppedIn(root, "")
}

// refusedKeywords are schema keywords that clients do not accept at any depth.
var refusedKeywords = []string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "definitions"}

// schemaMaps are keywords with schemas by name. schemaPlaces are keywords with one schema or a list of schemas.
var (
	schemaMaps   = []string{"properties", "patternProperties", "dependentSchemas"}
	schemaPlaces = []string{"items", "prefixItems", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
)

// droppedIn returns the first such part in a schema or in the schemas inside it.
func droppedIn(schema any, at string) string {
	here, ok := schema.(map[string]any)
	if !ok {
		if b, ok := schema.(bool); ok && (b || !strings.HasSuffix(at, "/additionalProperties")) {
			return "a boolean schema at " + at
		}
		return ""
	}
	for _, k := range refusedKeywords {
		if _, found := here[k]; found {
			return k + " at " + at + "/"
		}
	}
	if _, list := here["type"].([]any); list {
		return "a list of types at " + at + "/"
	}
	for _, k := range schemaMaps {
		members, _ := here[k].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if found := droppedIn(members[name], at+"/"+k+"/"+name); found != "" {
				return found
			}
		}
	}
	for _, k := range schemaPlaces {
		items, list := here[k].([]any)
		if inner, found := here[k]; found && !list {
			items = []any{inner}
		}
		for _, inner := range items {
			if found := droppedIn(inner, at+"/"+k); found != "" {
				return found
			}
		}
	}
	return ""
}
