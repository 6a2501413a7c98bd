package arguments

import (
	"strconv"

	"patterngate/catalog"
	"patterngate/patterns"
)

type decomposeInput struct {
	Goal     string     `json:"goal" jsonschema_description:"$goal"`
	Plan     *stepsPlan `json:"plan,omitempty" jsonschema_description:"$intent"`
	Finalize bool       `json:"finalize,omitempty" jsonschema_description:"$finalize"`
	handleInput
	dryInput
}

type stepsPlan struct {
	Steps []stepInput `json:"steps" jsonschema_description:"$count"`
}

type stepInput struct {
	ID    string         `json:"id"`
	Title string         `json:"title"`
	Tool  string         `json:"tool" jsonschema_description:"$names"`
	Args  map[string]any `json:"args"`
}

// exampleSteps returns a whole plan with the least number of steps.
func exampleSteps(tools []catalog.Tool, least int) stepsPlan {
	plan := stepsPlan{Steps: []stepInput{}}
	for i := 0; i < least && len(tools) > 0; i++ {
		t := tools[i%len(tools)]
		plan.Steps = append(plan.Steps, stepInput{ID: "s" + strconv.Itoa(i+1), Title: TitleOf(t), Tool: t.Name, Args: t.Input.Example()})
	}
	return plan
}

// decomposeForm is the form of calls that carry out a goal as steps in order.
func decomposeForm() form {
	return form{
		goal: "goal", intent: "plan",
		rows: func(spec patterns.Spec) []Row {
			return append(frontRows(spec), Row{Name: "plan", Shape: Intent}, finalizeRow())
		},
		shape: func(patterns.Spec) (*catalog.Schema, error) { return catalog.SchemaOf[decomposeInput]() },
		proposal: func(spec patterns.Spec, tools []catalog.Tool) proposal {
			least, most := spec.Budget.MinPlanSteps, spec.Budget.MaxPlanSteps
			steps := stepsForm(least, most)
			return proposal{form: steps, example: exampleSteps(tools, least), least: least, most: most}
		},
		skeleton: stepsSkeleton,
	}
}

func stepsSkeleton() any {
	step := map[string]any{"id": "step_1", "title": "", "tool": "", "args": map[string]any{}}
	return map[string]any{"steps": []any{step}}
}
