package arguments

import (
	"fmt"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// form is the form of the calls of one kind of patterns. A new kind has a form and a line in [formOf].
type form struct {
	goal      string // the name of the goal in the kind's schema
	intent    string // the argument that holds the caller's intent; "": there is none
	continues bool   // the caller may propose step by step
	// rows returns the arguments in the order in which faults are reported.
	rows func(patterns.Spec) []Row
	// shape returns the schema of the arguments, with placeholders.
	shape func(patterns.Spec) (*catalog.Schema, error)
	// proposal describes the intent that a caller may send; nil: the prompts and the schema do not show one.
	proposal func(patterns.Spec, []catalog.Tool) proposal
	// skeleton returns the form of an intent. The gate refuses it, because it has blanks.
	skeleton func() any
}

// proposal describes an intent of a pattern to its readers.
type proposal struct {
	words       string // for the schema
	form        string // for a prompt, in a few words
	example     any    // a whole intent
	least, most int    // how many steps or tasks it has
}

// formOf returns the form of a kind. A kind that is not known has the form of a plan, and no arguments.
func formOf(kind gateway.Kind) form {
	switch kind {
	case gateway.TaskDecomposition:
		return decomposeForm()
	case gateway.Orchestrator:
		return orchestrateForm()
	case gateway.Routing:
		return routeForm()
	case gateway.Supervisor:
		return superviseForm()
	case gateway.Planning:
		return planForm()
	case gateway.Call:
		return callForm()
	}
	return form{goal: "goal", intent: "plan", rows: noRows, shape: noShape, skeleton: stepsSkeleton}
}

func noRows(patterns.Spec) []Row { return nil }

func noShape(spec patterns.Spec) (*catalog.Schema, error) {
	return nil, fmt.Errorf("no arguments for kind %q", spec.Kind)
}

// IntentName returns the name of the argument that holds the caller's intent, or "" if the kind has no intent.
func (c Call) IntentName() string { return formOf(c.Spec.Kind).intent }

// IntentSkeleton returns the form of an intent of this kind. The gate refuses a form with blanks.
func (c Call) IntentSkeleton() any { return formOf(c.Spec.Kind).skeleton() }

// ExampleIntent returns a whole intent of the pattern's kind, and its form in a few words. The kind must have proposals,
// so it is not planning and not a call of one tool.
func ExampleIntent(spec patterns.Spec, tools []catalog.Tool) (example any, form string) {
	p := formOf(spec.Kind).proposal(spec, tools)
	return p.example, p.form
}

// frontRows returns the rows that come first for every kind: the goal, then the pattern's own inputs.
func frontRows(spec patterns.Spec) []Row { return append([]Row{goalRow(spec)}, InputRows(spec)...) }

// finalizeRow returns the argument that asks for a final text.
func finalizeRow() Row { return Row{Name: "finalize", Shape: Flag} }

// continuing lists the arguments of the kinds whose caller may propose step by step.
var continuing = []Row{
	{Name: "run_id", Most: MaxInput}, {Name: "turn", Shape: Count},
	{Name: "continue_with", Shape: Word, Words: []string{"caller", "model"}},
}
