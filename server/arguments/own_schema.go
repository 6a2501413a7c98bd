package arguments

import (
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// The parts of a schema that depend on what a pattern declares.

// laidOver adds what the pattern declares to the input schema of its kind: its name for the goal, then its inputs. If
// runs of the kind can be continued, or for planning, the schema marks none of these inputs as required. Then only the
// check requires them.
func laidOver(spec patterns.Spec, text string) (string, error) {
	inputs := OwnInputs(spec)
	goal, name := formOf(spec.Kind).goal, spec.GoalArgument()
	if name == goal && len(inputs) == 0 && len(spec.TextInputs) == 0 {
		return text, nil
	}
	s, err := catalog.CompileSchema([]byte(text))
	if err != nil {
		return "", err
	}
	verb := VerbOf(spec)
	own := slices.DeleteFunc(spec.Input.Spelled(), func(p catalog.Spelled) bool {
		return !slices.ContainsFunc(inputs, func(i catalog.Property) bool { return i.Name == p.Name })
	})
	for i := range own {
		own[i].Required = own[i].Required && !formOf(spec.Kind).continues && spec.Kind != gateway.Planning
	}
	var all []catalog.Spelled
	for _, p := range s.Spelled() {
		if p.Name != goal {
			all = append(all, p)
			continue
		}
		p.Name = name
		all = append(append(all, p), own...)
		for _, i := range spec.TextInputs {
			all = append(all, catalog.Spelled{Name: i.Name, JSON: []byte(`{"type":"string",` + bounded(i.Words, MaxInput) + "}"), Required: true})
		}
	}
	if verb == patterns.ExecuteVerb { // for a plan that is sent with the call
		all = append(all, own...)
	}
	var properties, required []string
	for _, p := range all {
		properties = append(properties, JSONText(p.Name)+":"+string(p.JSON))
		if p.Required {
			required = append(required, p.Name)
		}
	}
	made := `{"properties":{` + strings.Join(properties, ",") + `},"additionalProperties":false,"type":"object"`
	if len(required) > 0 {
		made += `,"required":` + JSONText(required)
	}
	return made + "}", nil
}

// closingObject describes the answer of a final action as an object, if the pattern declares a schema for it and has no
// words of its own.
func closingObject(spec patterns.Spec, text string) string {
	if spec.Kind != gateway.Supervisor || spec.Answer == nil || spec.Words.Closing != "" {
		return text
	}
	return strings.Replace(text, `"type":"string",`+Described(closingWords), Described(closingObjectWords), 1)
}

// argsWords says which arguments of a worker or route a proposal may omit.
func argsWords(spec patterns.Spec) string {
	var names []string
	for _, p := range spec.Input.Properties() {
		names = append(names, p.Name)
	}
	if slices.ContainsFunc(NamedTools(spec), func(t catalog.Tool) bool { return t.Goal != "" }) {
		names = append(names, goalOfPattern)
	}
	return argumentsWords(names)
}

// leftOut returns the arguments of a tool that a proposal may omit.
func leftOut(spec patterns.Spec, t catalog.Tool) []string {
	if spec.Words.LeftOut != nil {
		return spec.Words.LeftOut
	}
	var names []string
	if spec.Kind == gateway.Orchestrator && spec.Supplies(t, RequestID) {
		names = append(names, RequestID)
	}
	if spec.Kind != gateway.Orchestrator && spec.Kind != gateway.Routing {
		return names
	}
	if t.Goal != "" {
		names = append(names, t.Goal)
	}
	if spec.Kind == gateway.Routing && spec.Supplies(t, patterns.TicketArgument) {
		names = append(names, patterns.TicketArgument)
	}
	for _, p := range spec.Input.Properties() {
		names = append(names, p.Name)
	}
	return names
}
