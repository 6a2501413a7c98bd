package arguments

import (
	"slices"

	"patterngate/catalog"
	"patterngate/patterns"
)

// CallAction returns the form of a supervised action that calls a tool. An empty name is for the reader to fill.
func CallAction(tool string) map[string]any {
	return map[string]any{"kind": "tool", "name": tool, "args": map[string]any{}}
}

// FinalAction returns the form of the supervised action that ends a run.
func FinalAction() map[string]any { return map[string]any{"kind": "final", "answer": ""} }

type superviseInput struct {
	Goal    string        `json:"goal,omitempty" jsonschema_description:"$goal"`
	Actions []actionInput `json:"actions,omitempty" jsonschema_description:"$intent"`
	continueInput
	handleInput
	dryInput
}

type actionInput struct {
	Kind   string         `json:"kind" jsonschema_description:"$kind"`
	Name   string         `json:"name,omitempty" jsonschema_description:"$names"`
	Args   map[string]any `json:"args,omitempty"`
	Answer string         `json:"answer,omitempty" jsonschema_description:"$closing"`
}

// exampleActions returns actions that look something up and end.
func exampleActions(spec patterns.Spec, tools []catalog.Tool) []actionInput {
	actions := []actionInput{}
	if i := slices.IndexFunc(tools, func(t catalog.Tool) bool { return t.Effect == catalog.Read }); i >= 0 {
		actions = append(actions, actionInput{Kind: "tool", Name: tools[i].Name, Args: tools[i].Input.Example()})
	}
	final := actionInput{Kind: "final", Answer: "What I found."}
	if spec.Answer != nil {
		final.Answer = JSONText(spec.Answer.Example())
	}
	return append(actions, final)
}

// superviseForm is the form of calls that carry out a goal action by action.
func superviseForm() form {
	return form{
		goal: "goal", intent: "actions", continues: true,
		rows: func(spec patterns.Spec) []Row {
			return slices.Concat(frontRows(spec), []Row{{Name: "actions", Shape: List}}, continuing)
		},
		shape: func(patterns.Spec) (*catalog.Schema, error) { return catalog.SchemaOf[superviseInput]() },
		proposal: func(spec patterns.Spec, tools []catalog.Tool) proposal {
			return proposal{
				words:   ownActions,
				form:    actionsForm,
				example: exampleActions(spec, tools),
			}
		},
		skeleton: func() any { return []any{CallAction(""), FinalAction()} },
	}
}
