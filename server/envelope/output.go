package envelope

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/arguments"
)

// An output schema names the members that a result of its tool can have, in the order of the contract. Its root and rows
// are open, so that later versions can add members. It has no boolean schemas and no choices, because clients drop them
// or cannot read them.
//
// There are two of each tool. The whole one names every member. The one in tools/list is brief, because every
// conversation of every client pays for that list. It names status, a declared answer, and for tools with dry runs also next
// and dry_run. By these three a client knows that the argument dry_run is the one of this program, and not an argument of
// that name with another meaning.

// kindMembers are the members that only results of some kinds of patterns have.
var kindMembers = map[gateway.Kind][]string{
	gateway.TaskDecomposition: {"plan", "raw_plan"},
	gateway.Orchestrator:      append([]string{"plan", "raw_plan"}, namesIn[orchestratorMembers]()...),
	gateway.Routing:           slices.Concat([]string{"raw_route"}, namesIn[routeMembers](), namesIn[statusMembers]()),
	gateway.Supervisor:        append([]string{"raw_action", "human_approval"}, namesIn[actionMembers]()...),
	gateway.Planning:          {"plan", "raw_plan"},
	gateway.Call:              {"observation", "human_approval"},
}

// notOfCalls are the members that a call of one tool lacks: it has no proposal and asks no model.
var notOfCalls = []string{
	"answer", "answer_bytes", "trace", "trace_omitted", "history", "history_omitted", "usage", "filled",
}

// aboutMembers are the members that only results of tools about runs have.
var aboutMembers = append([]string{"record"}, namesIn[runMembers]()...)

// namesIn returns the names of the members that a struct has.
func namesIn[T any]() []string {
	var names []string
	for _, m := range fieldsOf(reflect.TypeFor[T]()) {
		names = append(names, m.name)
	}
	return names
}

// outputWords are the descriptions of members, by name.
var outputWords = map[string]string{
	"status": "If not ok, follow next.", "answer": "A claim, not a fact.",
}

// Schema returns the whole output schema of a pattern's tool.
func Schema(spec patterns.Spec) json.RawMessage {
	return outputWith(reflect.TypeFor[Envelope](), answerSchema(spec), membersOf(spec))
}

// Brief returns the output schema of a pattern's tool for tools/list.
func Brief(spec patterns.Spec) json.RawMessage {
	brief := briefBegins
	dry := membersOf(spec)("dry_run")
	if dry {
		brief += `,"next":{"type":"object"}`
	}
	if spec.Answer != nil {
		brief += `,"answer":{` + answerSchema(spec) + "}"
	}
	if dry {
		brief += `,"dry_run":{"type":"boolean"}`
	}
	return json.RawMessage(brief + outputEnds)
}

// BriefSchema returns the output schema in tools/list of a tool without a declared answer or dry runs.
func BriefSchema() json.RawMessage { return json.RawMessage(briefBegins + outputEnds) }

const (
	outputBegins = `{"type":"object","properties":{`
	briefBegins  = outputBegins + `"status":{"type":"string"}`
	outputEnds   = `},"required":["status"]}`
)

// membersOf returns a function that reports whether results of a pattern's tool can have a member.
func membersOf(spec patterns.Spec) func(name string) bool {
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
	if spec.Kind == gateway.Planning || spec.Kind == gateway.Orchestrator { // there a block ends only a part of a run
		others = append(others, "block")
	}
	switch dry := spec.Kind != gateway.Planning && (spec.Kind != gateway.Call || slices.Contains(arguments.FreeNames(spec), arguments.DryRunName)); {
	case arguments.VerbOf(spec) == patterns.DecomposeVerb:
		others = append(others, "verdict", "judged", "judged_omitted")
	case !dry:
		others = append(others, "dry_run", "verdict", "judged", "judged_omitted")
	}
	planned := namesIn[planMembers]()
	return func(name string) bool {
		if slices.Contains(planned, name) {
			return HasPlanMember(arguments.VerbOf(spec), name)
		}
		return !slices.Contains(others, name)
	}
}

// SchemaOf returns the whole schema of a result type, with the members that has accepts.
func SchemaOf(result reflect.Type, has func(name string) bool) json.RawMessage {
	return outputWith(result, answerSchema(patterns.Spec{}), has)
}

// outputWith is [SchemaOf] with a schema for the answer.
func outputWith(result reflect.Type, answer string, has func(name string) bool) json.RawMessage {
	var b strings.Builder
	b.WriteString(outputBegins)
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
	b.WriteString(outputEnds)
	return json.RawMessage(b.String())
}

// Among returns a function that reports whether a name is in a list of names.
func Among(names string) func(string) bool {
	list := strings.Fields(names)
	return func(name string) bool { return slices.Contains(list, name) }
}

// memberSchema returns the content of a member's schema.
func memberSchema(t reflect.Type, name string) string {
	said := `"type":"` + schemaType(t) + `"`
	if schemaType(t) == "" {
		said = arguments.Described("Any.") // clients could read an empty schema as a boolean one
	}
	if name == "status" {
		said += `,"enum":["ok","stopped","running","waiting"]`
	}
	if words := outputWords[name]; words != "" {
		said += "," + arguments.Described(words)
	}
	return said
}

// schemaType returns the JSON schema type of a member's values, or "" if they can be of any type.
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
	if t == reflect.TypeFor[WaitingFor]() {
		return "object"
	}
	return ""
}

// answerSchema returns the output schema of the answer: the one that the pattern declares, or else a text.
func answerSchema(spec patterns.Spec) string {
	if spec.Answer == nil {
		return `"type":"string",` + arguments.Described(outputWords["answer"])
	}
	text := strings.TrimSpace(string(spec.Answer.JSON())) // an object without a description
	return strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}") + "," + arguments.Described(outputWords["answer"])
}

// maxOwnAnswer limits the size of an answer's schema in bytes, because every client's model reads it (design.md section
// 7).
const maxOwnAnswer = 4 << 10

// CheckAnswer returns an error if the answer's schema is too long for the tool's output schema.
func CheckAnswer(spec patterns.Spec) error {
	if n := len(answerSchema(spec)); spec.Answer != nil && n > maxOwnAnswer {
		return errors.New(schemaTooLong(n, maxOwnAnswer))
	}
	return nil
}
