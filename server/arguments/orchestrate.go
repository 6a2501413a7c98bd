package arguments

import (
	"strconv"

	"patterngate/catalog"
	"patterngate/patterns"
)

type orchestrateInput struct {
	Goal     string     `json:"goal" jsonschema_description:"$goal"`
	Plan     *tasksPlan `json:"plan,omitempty" jsonschema_description:"$intent"`
	Finalize bool       `json:"finalize,omitempty" jsonschema_description:"$finalize"`
	handleInput
	dryInput
}

type tasksPlan struct {
	Tasks []taskInput `json:"tasks" jsonschema_description:"$count"`
}

type taskInput struct {
	ID       string         `json:"id"`
	Worker   string         `json:"worker" jsonschema_description:"$names"`
	Args     map[string]any `json:"args,omitempty" jsonschema_description:"$args"`
	Critical bool           `json:"critical,omitempty" jsonschema_description:"If it fails, the run stops."`
}

// exampleTasks returns a whole plan of two tasks, the first of them critical.
func exampleTasks(spec patterns.Spec, tools []catalog.Tool, most int) tasksPlan {
	plan := tasksPlan{Tasks: []taskInput{}}
	for i, t := range tools[:min(2, len(tools), max(most, 0))] {
		plan.Tasks = append(plan.Tasks, taskInput{
			ID: "t" + strconv.Itoa(i+1), Worker: t.Name, Args: exampleArgs(spec, t), Critical: i == 0,
		})
	}
	return plan
}

// orchestrateForm is the form of calls that run tasks in parallel.
func orchestrateForm() form {
	return form{
		goal: "goal", intent: "plan",
		rows: func(spec patterns.Spec) []Row {
			return append(frontRows(spec), Row{Name: "plan", Shape: Intent}, finalizeRow())
		},
		shape: func(patterns.Spec) (*catalog.Schema, error) { return catalog.SchemaOf[orchestrateInput]() },
		proposal: func(spec patterns.Spec, tools []catalog.Tool) proposal {
			most := spec.Budget.MaxTasks
			tasks := tasksForm(most)
			return proposal{form: tasks, example: exampleTasks(spec, tools, most), least: 1, most: most}
		},
		skeleton: func() any {
			task := map[string]any{"id": "task_1", "worker": "", "args": map[string]any{}, "critical": false}
			return map[string]any{"tasks": []any{task}}
		},
	}
}
