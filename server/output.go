package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/patterns"
)

// An output schema names every member that a result of its tool may have, in the contract's order. Root and rows are open, so
// that later versions may add members; it has no boolean schemas and no choices, which clients drop or cannot read. It is
// short, as all tools' schemas together are part of what every client's model reads.

type object = map[string]any

// kindMembers are the members that results of some kinds of patterns alone have.
var kindMembers = map[gateway.Kind][]string{
	gateway.TaskDecomposition: {"plan", "raw_plan"},
	gateway.Orchestrator:      {"plan", "raw_plan", "aggregate", "failed_critical"},
	gateway.Routing: {
		"route", "selected_route", "raw_route", "expected_statuses", "received_status", "bad_observation",
	},
	gateway.Supervisor: {"action", "raw_action", "human_approval"},
	gateway.Planning:   {"plan", "raw_plan"},
	gateway.Call:       {"observation", "human_approval"},
}

// notOfCalls are members that a call of one tool has not: nothing is proposed, and no model is asked.
var notOfCalls = []string{
	"answer", "answer_bytes", "trace", "trace_omitted", "history", "history_omitted", "usage", "filled",
}

// aboutMembers are of the tools that are about runs alone.
var aboutMembers = []string{"record", "pattern", "created_at", "ended_at", "step"}

// outputWords describe members.
var outputWords = map[string]string{
	"status": "Not ok: do what next says.", "answer": "A claim; effects are facts.",
}

// envelopeSchema is the output schema of a pattern's tool.
func envelopeSchema(spec patterns.Spec) json.RawMessage {
	others := slices.Clone(aboutMembers)
	for kind, names := range kindMembers {
		if kind != spec.Kind {
			others = append(others, names...)
		}
	}
	others = slices.DeleteFunc(others, func(name string) bool { return slices.Contains(kindMembers[spec.Kind], name) })
	if spec.Kind == gateway.Call {
		others = append(others, notOfCalls...)
	}
	if spec.Kind == gateway.Planning || spec.Kind == gateway.Orchestrator { // there it ends a part of a run
		others = append(others, "block")
	}
	switch dry := spec.Kind != gateway.Planning && (spec.Kind != gateway.Call || slices.Contains(freeHandles(spec), dryArgument)); {
	case verbOf(spec) == patterns.DecomposeVerb:
		others = append(others, "verdict", "judged", "judged_omitted")
	case !dry:
		others = append(others, "dry_run", "verdict", "judged", "judged_omitted")
	}
	planned := map[string]bool{}
	for _, m := range fieldsOf(reflect.TypeFor[planMembers]()) {
		planned[m.name] = true
	}
	return outputWith(reflect.TypeFor[Envelope](), answerSchema(spec), func(name string) bool {
		if planned[name] {
			return plannedBy(verbOf(spec), name)
		}
		return !slices.Contains(others, name)
	})
}

// outputOf is the schema of a result: those of its members that it has.
func outputOf(result reflect.Type, has func(name string) bool) json.RawMessage {
	return outputWith(result, answerSchema(patterns.Spec{}), has)
}

// outputWith is [outputOf] with what is said of the answer.
func outputWith(result reflect.Type, answer string, has func(name string) bool) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	begun := false
	for _, m := range fieldsOf(result) {
		if !has(m.name) {
			continue
		}
		if begun {
			b.WriteByte(',')
		}
		begun = true
		said := answer
		if m.name != "answer" {
			said = memberSchema(result.FieldByIndex(m.index).Type, m.name)
		}
		b.WriteString(m.quoted + "{" + said + "}")
	}
	b.WriteString(`},"required":["status"]}`)
	return json.RawMessage(b.String())
}

// among is whether a name is among those of a list.
func among(names string) func(string) bool {
	list := strings.Fields(names)
	return func(name string) bool { return slices.Contains(list, name) }
}

// memberSchema are the members of a member's schema.
func memberSchema(t reflect.Type, name string) string {
	said := `"type":"` + schemaType(t) + `"`
	if schemaType(t) == "" {
		said = described("Any.") // clients must not take a schema without members for a boolean one
	}
	if name == "status" {
		said += `,"enum":["ok","stopped","running","waiting"]`
	}
	if words := outputWords[name]; words != "" {
		said += "," + described(words)
	}
	return said
}

// schemaType is the word for what a member's values are; "" where they may be anything.
func schemaType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	if t == reflect.TypeFor[waitingFor]() {
		return "object"
	}
	return ""
}
