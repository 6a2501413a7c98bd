package arguments

import (
	"cmp"
	"slices"

	"patterngate/catalog"
	"patterngate/patterns"
)

type routeInput struct {
	Ticket   string       `json:"ticket,omitempty" jsonschema_description:"$ticket"`
	Route    *routeChoice `json:"route,omitempty" jsonschema_description:"$intent"`
	Finalize bool         `json:"finalize,omitempty" jsonschema_description:"$finalize"`
	continueInput
	handleInput
	dryInput
}

type routeChoice struct {
	Target string         `json:"target" jsonschema_description:"$names"`
	Args   map[string]any `json:"args,omitempty" jsonschema_description:"$args"`
}

// TicketWords describes the request that is routed.
func TicketWords(spec patterns.Spec) string {
	return cmp.Or(spec.Words.Goal, requestWords)
}

func exampleRoute(spec patterns.Spec, tools []catalog.Tool) routeChoice {
	if len(tools) == 0 {
		return routeChoice{}
	}
	return routeChoice{Target: tools[0].Name, Args: exampleArgs(spec, tools[0])}
}

// routeForm is the form of calls that hand a request to one tool.
func routeForm() form {
	return form{
		goal: "ticket", intent: "route", continues: true,
		rows: func(spec patterns.Spec) []Row {
			return slices.Concat(frontRows(spec), []Row{{Name: "route", Shape: Intent}, finalizeRow()}, continuing)
		},
		shape: func(patterns.Spec) (*catalog.Schema, error) { return catalog.SchemaOf[routeInput]() },
		proposal: func(spec patterns.Spec, tools []catalog.Tool) proposal {
			return proposal{form: routeForms, example: exampleRoute(spec, tools)}
		},
		skeleton: func() any { return map[string]any{"target": ""} },
	}
}
