package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"patterngate/catalog"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
)

// maxReplySchema is how long a schema may be that is sent along, in bytes. A longer one leaves out what tools take; where that is
// too long too, none is sent.
const maxReplySchema = 100 << 10

// replySchema is what a reply must be, as a JSON schema. The gate judges a reply by itself, whatever the server made of this: it
// only helps the model to write one that is accepted.
type replySchema struct {
	text   json.RawMessage // nil: none is sent
	strict bool            // OpenAI's strict mode takes it
}

// schemaOf generates the schema of a question's reply from what may be chosen: names as constants, arguments by each tool's own
// schema.
func schemaOf(q patterns.Question) replySchema {
	for _, whole := range []bool{true, false} {
		text := schemaWriter{q: q, whole: whole}.root()
		if text == "" || len(text) > maxReplySchema {
			continue
		}
		v, err := ijson.Decode([]byte(text))
		return replySchema{json.RawMessage(text), err == nil && isStrict(v)}
	}
	return replySchema{}
}

type schemaWriter struct {
	q     patterns.Question
	whole bool // with what tools take
}

// root is the schema; "" for questions whose answer is free.
func (w schemaWriter) root() string {
	switch w.q.Ask {
	case patterns.AskPlan:
		return closed("kind", constant("plan"), "steps", listOfOne(w.each(func(name, args string) string {
			return closed("id", someText, "title", someText, "tool", name, "args", args)
		})))
	case patterns.AskTasks:
		return closed("kind", constant("plan"), "tasks", listOfOne(w.each(func(name, args string) string {
			return closed("id", someText, "worker", name, "args", args, "critical", someFlag)
		})))
	case patterns.AskRoute:
		return oneAtRoot(w.each(func(name, args string) string {
			return closed("kind", constant("route"), "target", name, "args", args)
		}))
	case patterns.AskAction:
		return oneAtRoot(append(w.each(func(name, args string) string {
			return closed("kind", constant("tool"), "name", name, "args", args)
		}), closed("kind", constant("final"), "answer", w.finalAnswer())))
	case patterns.AskSubtasks, patterns.AskReplan:
		return w.subtasks()
	case patterns.AskAnswer:
		if w.q.Answer != nil {
			return string(w.q.Answer.JSON())
		}
	}
	return ""
}

// each writes a variant for all that may be chosen.
func (w schemaWriter) each(write func(name, args string) string) []string {
	var all []string
	forbidden, _ := w.q.Payload["forbidden_targets"].([]any)
	for _, t := range w.q.Tools {
		if !slices.Contains(forbidden, any(t.Name)) {
			all = append(all, write(constant(t.Name), w.args(t)))
		}
	}
	return all
}

// finalAnswer is what a final action closes with: what the pattern declares of its answer, else a text.
func (w schemaWriter) finalAnswer() string {
	if w.q.Answer == nil {
		return someText
	}
	return string(w.q.Answer.JSON())
}

func (w schemaWriter) args(t catalog.Tool) string {
	if !w.whole {
		return someObject
	}
	return string(t.Input.Without(w.q.Hidden...).JSON())
}

// subtasks leave arguments open: any of them may refer to an earlier result.
func (w schemaWriter) subtasks() string {
	names := make([]any, 0, len(w.q.Tools)+2)
	for _, t := range w.q.Tools {
		names = append(names, t.Name)
	}
	names = append(names, planning.ModelExecutor, planning.CallerExecutor)
	const optional = 4
	subtask := schemaObject(optional, "id", someText, "description", someText, "dependencies", listSchema(someText),
		"tool", `{"type":"string","enum":`+string(ijson.Canonical(names))+`}`,
		"args", someObject, "critical", someFlag, "expect", someObject, "parent", someText)
	return schemaObject(2, "kind", constant("plan"), "subtasks", listSchema(subtask), "adjustment_rationale", someText, "planning_complete", someFlag)
}

const (
	someText   = `{"type":"string"}`
	someFlag   = `{"type":"boolean"}`
	someObject = `{"type":"object"}`
)

// closed is the schema of an object with exactly these members: name, schema, name, schema.
func closed(members ...string) string { return schemaObject(0, members...) }

// schemaObject is the same where the last members may be absent.
func schemaObject(optional int, members ...string) string {
	properties := make([]string, 0, len(members)/2)
	var required []any
	for i := 0; i < len(members); i += 2 {
		properties = append(properties, fmt.Sprintf("%q:%s", members[i], members[i+1]))
		if i/2 < len(members)/2-optional {
			required = append(required, members[i])
		}
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":` + string(ijson.Canonical(required)) + `,"additionalProperties":false}`
}

func constant(name string) string {
	return `{"type":"string","const":` + string(ijson.Canonical(name)) + `}`
}

func listSchema(items string) string { return `{"type":"array","items":` + items + `}` }

// listOfOne is a list whose items each fit one of several.
func listOfOne(all []string) string {
	switch len(all) {
	case 0:
		return `{"type":"array","maxItems":0}`
	case 1:
		return listSchema(all[0])
	}
	return listSchema(`{"anyOf":[` + strings.Join(all, ",") + `]}`)
}

// oneAtRoot is the schema of one of several, for the root, which servers want to be an object by its own word.
func oneAtRoot(all []string) string {
	switch len(all) {
	case 0:
		return someObject
	case 1:
		return all[0]
	}
	return `{"type":"object","anyOf":[` + strings.Join(all, ",") + `]}`
}

// strictWords are the keywords that strict mode takes in every version of it.
var strictWords = []string{"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "title", "description"}

// isStrict reports whether OpenAI's strict mode takes a schema: an object at the root, every member of every object required and
// no other allowed, and no keyword beyond the few. Others are sent without it.
func isStrict(root any) bool {
	schema, _ := root.(map[string]any)
	return schema["type"] == "object" && schema["anyOf"] == nil && strictWithin(root)
}

func strictWithin(v any) bool {
	schema, isObject := v.(map[string]any)
	if !isObject {
		return false
	}
	for word := range schema {
		if !slices.Contains(strictWords, word) {
			return false
		}
	}
	if variants, there := schema["anyOf"].([]any); there {
		return !slices.ContainsFunc(variants, func(v any) bool { return !strictWithin(v) })
	}
	switch schema["type"] {
	case "object":
		return strictObject(schema)
	case "array":
		return strictWithin(schema["items"])
	case "string", "number", "integer", "boolean", "null":
		return true
	}
	return false
}

func strictObject(schema map[string]any) bool {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	if schema["additionalProperties"] != false || len(required) != len(properties) {
		return false
	}
	for name, v := range properties {
		if !slices.Contains(required, any(name)) || !strictWithin(v) {
			return false
		}
	}
	return true
}

// schemas keeps what was generated, by what it was generated of: the same tools are asked about again and again.
type schemas struct {
	mu   sync.Mutex
	made map[string]replySchema
}

// maxSchemas is how many are kept.
const maxSchemas = 128

func (s *schemas) of(q patterns.Question) replySchema {
	key := fmt.Appendf(nil, "%s %p %v %v", q.Ask, q.Answer, q.Hidden, q.Payload["forbidden_targets"])
	for _, t := range q.Tools {
		key = fmt.Appendf(key, " %s %p", t.Name, t.Input)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	made, known := s.made[string(key)]
	if !known {
		if len(s.made) >= maxSchemas {
			s.made = nil
		}
		if made = schemaOf(q); s.made == nil {
			s.made = map[string]replySchema{}
		}
		s.made[string(key)] = made
	}
	return made
}
