package arguments

import (
	"fmt"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// These are the inputs of planning's tools, for readers; see schema.go.

type planDecomposeInput struct {
	Goal     string           `json:"goal" jsonschema_description:"$goal"`
	Strategy string           `json:"strategy,omitempty" jsonschema:"enum=flat,enum=hierarchical,enum=iterative,default=flat"`
	Depth    int              `json:"max_depth,omitempty" jsonschema_description:"$max_depth"`
	Count    int              `json:"max_subtasks,omitempty" jsonschema_description:"$max_subtasks"`
	Context  string           `json:"context,omitempty" jsonschema_description:"$context"`
	Plan     *subtaskDocument `json:"plan,omitempty" jsonschema_description:"$intent"`
	Parent   string           `json:"parent_plan_id,omitempty" jsonschema_description:"Iterative: the plan to continue."`
	DryRun   bool             `json:"dry_run,omitempty" jsonschema_description:"Store nothing."`
	handleInput
}

type subtaskDocument struct {
	Kind     string         `json:"kind,omitempty" jsonschema:"enum=plan"`
	Subtasks []subtaskInput `json:"subtasks"`
	Complete bool           `json:"planning_complete,omitempty" jsonschema_description:"Iterative: the last part."`
}

type subtaskInput struct {
	ID           string         `json:"id" jsonschema_description:"a-z, 0-9, _, -."`
	Description  string         `json:"description"`
	Dependencies []string       `json:"dependencies,omitempty"`
	Tool         string         `json:"tool,omitempty" jsonschema_description:"$tool"`
	Args         map[string]any `json:"args,omitempty" jsonschema_description:"What a dependency returned: $results.ID or $results.ID./member."`
	Critical     bool           `json:"critical,omitempty"`
	Parent       string         `json:"parent,omitempty" jsonschema_description:"Hierarchical: the id above."`
	Expect       map[string]any `json:"expect,omitempty" jsonschema_description:"JSON schema of your result."`
}

type planExecuteInput struct {
	PlanID     string         `json:"plan_id,omitempty"`
	Plan       map[string]any `json:"plan,omitempty" jsonschema_description:"Instead of plan_id: as in $decompose."`
	Revision   int            `json:"expected_revision,omitempty" jsonschema:"minimum=0"`
	Parallel   bool           `json:"parallel,omitempty"`
	Concurrent int            `json:"max_concurrent,omitempty" jsonschema_description:"$max_concurrent"`
	OnFailure  string         `json:"on_subtask_failure,omitempty" jsonschema:"enum=abort,enum=skip,enum=retry,enum=replan,default=abort"`
	Retries    int            `json:"max_retries,omitempty" jsonschema_description:"$max_retries"`
	Delay      float64        `json:"retry_delay_seconds,omitempty" jsonschema:"minimum=0,default=1"`
	Steps      int            `json:"max_steps,omitempty" jsonschema:"minimum=1" jsonschema_description:"Stop after this many subtasks."`
	Finalize   bool           `json:"finalize,omitempty"`
	Results    map[string]any `json:"results,omitempty" jsonschema_description:"Of your subtasks, by id: {status: completed or failed, result}."`
	handleInput
}

type planReplanInput struct {
	PlanID   string         `json:"plan_id"`
	Revision int            `json:"expected_revision,omitempty" jsonschema:"minimum=0"`
	Reason   string         `json:"reason,omitempty"`
	Failed   string         `json:"failed_subtask,omitempty"`
	Hints    string         `json:"hints,omitempty"`
	Plan     map[string]any `json:"plan,omitempty" jsonschema_description:"$own"`
	handleInput
}

type planStatusInput struct {
	PlanID    string `json:"plan_id,omitempty"`
	Completed bool   `json:"include_completed,omitempty" jsonschema:"default=true"`
	Details   bool   `json:"include_details,omitempty" jsonschema_description:"Subtasks with results."`
	Trace     bool   `json:"include_trace,omitempty"`
	Cursor    string `json:"cursor,omitempty"`
	Limit     int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=20"`
}

// planShape returns the schema of the arguments of one planning tool.
func planShape(spec patterns.Spec) (*catalog.Schema, error) {
	switch VerbOf(spec) {
	case patterns.DecomposeVerb:
		return catalog.SchemaOf[planDecomposeInput]()
	case patterns.ExecuteVerb:
		return catalog.SchemaOf[planExecuteInput]()
	case patterns.ReplanVerb:
		return catalog.SchemaOf[planReplanInput]()
	case patterns.StatusVerb:
		return catalog.SchemaOf[planStatusInput]()
	}
	return nil, fmt.Errorf("no arguments for a planning tool %q: want the pattern's name and _decompose, _execute or _replan", spec.Name)
}

// planRemarks returns the remarks of planning's schemas.
func planRemarks(spec patterns.Spec) remarks {
	b, tools := spec.Budget, NamedTools(spec)
	most := func(name string, least, ceiling int) string {
		usual := Call{Spec: spec}.whole(name)
		return fmt.Sprintf(`"minimum":%d,"maximum":%d,"default":%d`, least, ceiling, usual)
	}
	who := subtaskTool
	if spec.LLM {
		who = subtaskToolOrModel
	}
	return remarks{
		"goal":         bounded(goalWords, MaxGoal),
		"context":      Described(contextWords),
		"max_depth":    most("max_depth", 1, b.MaxDepth),
		"max_subtasks": most("max_subtasks", 1, b.MaxSubtasks), "max_concurrent": most("max_concurrent", 1, b.MaxConcurrent),
		"max_retries": most("max_retries", 0, b.MaxRetries),
		"tool":        Described(who), "own": Described(ownRest(PlanTool(spec.Plans, patterns.DecomposeVerb))),
		"intent": Described(intentWords(ownSubtasks, namesOf(tools)+catalogHas, JSONText(examplePlan(tools)))),
	}
}

// namesOf returns the names of tools. A plan can name many, so [CatalogTool] shows their arguments.
func namesOf(tools []catalog.Tool) string {
	if len(tools) == 0 {
		return noTools
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// exampleSubtask is a subtask without the members that an example does not need.
type exampleSubtask struct {
	ID           string         `json:"id"`
	Description  string         `json:"description"`
	Dependencies []string       `json:"dependencies,omitempty"`
	Tool         string         `json:"tool"`
	Args         map[string]any `json:"args,omitempty"`
}

type examplePlanDocument struct {
	Subtasks []exampleSubtask `json:"subtasks"`
}

// examplePlan returns a whole plan: a tool looks something up, then the caller works with the result.
func examplePlan(tools []catalog.Tool) examplePlanDocument {
	plan := examplePlanDocument{}
	write := exampleSubtask{ID: "note", Description: "Write the note", Tool: planning.CallerExecutor}
	if len(tools) > 0 {
		t := exampleTool(tools)
		look := exampleSubtask{ID: "look", Description: TitleOf(t), Tool: t.Name, Args: t.Input.Example()}
		plan.Subtasks = append(plan.Subtasks, look)
		write.Dependencies, write.Args = []string{look.ID}, map[string]any{"facts": "$results." + look.ID}
	}
	plan.Subtasks = append(plan.Subtasks, write)
	return plan
}

// exampleTool returns the first tool that only reads, or the first tool if none does.
func exampleTool(tools []catalog.Tool) catalog.Tool {
	for _, t := range tools {
		if t.Effect == catalog.Read {
			return t
		}
	}
	return tools[0]
}
