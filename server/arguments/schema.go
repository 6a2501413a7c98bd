package arguments

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// The input structs define the shape of the published schemas. A description that is a word beginning with $ is a
// placeholder. [remarksOf] replaces it with members: bounds, an allowlist, counts or an example.

type decomposeInput struct {
	Goal     string     `json:"goal" jsonschema_description:"$goal"`
	Plan     *stepsPlan `json:"plan,omitempty" jsonschema_description:"$intent"`
	Finalize bool       `json:"finalize,omitempty" jsonschema_description:"$finalize"`
	handleInput
	dryInput
}

// handleInput holds the arguments about the call itself, not about its task.
type handleInput struct {
	MaxWaitSeconds float64 `json:"max_wait_seconds,omitempty" jsonschema_description:"$max_wait_seconds"`
	IdempotencyKey string  `json:"idempotency_key,omitempty" jsonschema:"minLength=1,maxLength=255" jsonschema_description:"Same key, same run."`
}

// dryInput belongs to the kinds that have dry runs. Planning has its own.
type dryInput struct {
	DryRun bool `json:"dry_run,omitempty" jsonschema_description:"$dry_run"`
}

// dryWords describes the argument dry_run.
const dryWords = "Only judge; call nothing."

type stepsPlan struct {
	Steps []stepInput `json:"steps" jsonschema_description:"$count"`
}

type stepInput struct {
	ID    string         `json:"id" jsonschema_description:"Your name for the step; no two alike."`
	Title string         `json:"title" jsonschema_description:"What the step is for, in a few words."`
	Tool  string         `json:"tool" jsonschema_description:"$names"`
	Args  map[string]any `json:"args" jsonschema_description:"The tool's arguments."`
}

type orchestrateInput struct {
	Goal       string     `json:"goal" jsonschema_description:"$goal"`
	ReportDate string     `json:"report_date" jsonschema_description:"$report_date"`
	Region     string     `json:"region" jsonschema_description:"$region"`
	Plan       *tasksPlan `json:"plan,omitempty" jsonschema_description:"$intent"`
	Finalize   bool       `json:"finalize,omitempty" jsonschema_description:"$finalize"`
	handleInput
	dryInput
}

type tasksPlan struct {
	Tasks []taskInput `json:"tasks" jsonschema_description:"$count"`
}

type taskInput struct {
	ID       string         `json:"id" jsonschema_description:"Your name for the task; no two alike."`
	Worker   string         `json:"worker" jsonschema_description:"$names"`
	Args     map[string]any `json:"args,omitempty" jsonschema_description:"The worker's arguments; report_date and region are the call's own and may be left out."`
	Critical bool           `json:"critical,omitempty" jsonschema_description:"Without this task's result the run stops. Default false."`
}

type routeInput struct {
	Ticket   string       `json:"ticket,omitempty" jsonschema_description:"$ticket"`
	Route    *routeChoice `json:"route,omitempty" jsonschema_description:"$intent"`
	Finalize bool         `json:"finalize,omitempty" jsonschema_description:"$finalize"`
	continueInput
	handleInput
	dryInput
}

// continueInput holds the arguments of the kinds whose caller may propose step by step.
type continueInput struct {
	RunID        string `json:"run_id,omitempty" jsonschema_description:"$run_id"`
	Turn         int    `json:"turn,omitempty" jsonschema:"minimum=1" jsonschema_description:"The waiting run's turn, as in next."`
	ContinueWith string `json:"continue_with,omitempty" jsonschema:"enum=caller,enum=model" jsonschema_description:"Who proposes when yours run out. Default caller: the run waits."`
}

type routeChoice struct {
	Target string         `json:"target" jsonschema_description:"$names"`
	Args   map[string]any `json:"args,omitempty" jsonschema_description:"The specialist's arguments; ticket may be left out."`
}

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
	Args   map[string]any `json:"args,omitempty" jsonschema_description:"The tool's arguments."`
	Answer string         `json:"answer,omitempty" jsonschema_description:"Of kind final: what you tell the customer."`
}

// Schema returns the published schema of a pattern's arguments. It is for readers: [rowsOf] and the gate
// judge the arguments of a call, in the order of the contract. Tests compile the schema and compare.
func Schema(spec patterns.Spec, w Waits, configured bool) (json.RawMessage, error) {
	if spec.Kind == gateway.Call {
		return singleSchema(spec, w)
	}
	shape, err := inputShape(spec)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(shape.JSON()), "$decompose", PlanTool(spec.Plans, patterns.DecomposeVerb))
	r := remarksOf(spec, configured)
	r[WaitName], r[DryRunName] = w.Remark(), Described(dryWords)
	for name, members := range r {
		text = strings.ReplaceAll(text, `"description":"$`+name+`"`, members)
	}
	if strings.Contains(text, `:"$`) {
		return nil, fmt.Errorf("a remark is missing in %s", text)
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("a remark is no JSON in %s", text)
	}
	if text, err = laidOver(spec, ownWords(spec, text)); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// Remark returns the members of a schema with the bounds of how long a call may wait for its run.
func (w Waits) Remark() string {
	return fmt.Sprintf(`"minimum":0,"maximum":%d,"default":%s,`, int(w.Max.Seconds()), JSONText(max(0, w.Default.Seconds()))) +
		Described("Past it: running; 0 returns at once.")
}

func inputShape(spec patterns.Spec) (*catalog.Schema, error) {
	switch spec.Kind {
	case gateway.Planning:
		return planShape(spec)
	case gateway.TaskDecomposition:
		return catalog.SchemaOf[decomposeInput]()
	case gateway.Orchestrator:
		return catalog.SchemaOf[orchestrateInput]()
	case gateway.Routing:
		return catalog.SchemaOf[routeInput]()
	case gateway.Supervisor:
		return catalog.SchemaOf[superviseInput]()
	}
	return nil, fmt.Errorf("no arguments for kind %q", spec.Kind)
}

// remarks holds members of a schema as JSON text, by their placeholder.
type remarks map[string]string

func remarksOf(spec patterns.Spec, configured bool) remarks {
	if spec.Kind == gateway.Planning {
		return planRemarks(spec)
	}
	tools := NamedTools(spec)
	finalize := "Have a final text written. Default true."
	switch {
	case spec.Finalize == patterns.FinalizeNo:
		finalize = "Have a final text written. Default false."
	case spec.Finalize != patterns.FinalizeYes && !configured:
		finalize = "Have a final text written. Default true; false where you propose."
	}
	r := remarks{
		"goal":        bounded("What is wanted, in plain words, with every id, date and amount that matters.", MaxGoal),
		"ticket":      bounded(TicketWords(spec), MaxGoal),
		"report_date": bounded("The day it is about, as YYYY-MM-DD.", MaxInput),
		"region":      bounded("The market it is about, such as US.", MaxInput),
		"finalize":    Described(finalize),
		"run_id":      bounded("A waiting run to go on with, as in next, without goal or ticket.", MaxInput),
		"kind":        `"enum":["tool","final"]`,
		"names":       Described("No name is allowed."),
	}
	if len(spec.Policy) > 0 { // an empty enum is not a valid schema
		r["names"] = `"enum":` + JSONText(spec.Policy)
	}
	b := spec.Budget
	intent, example, least, most := "", any(nil), 0, 0
	switch spec.Kind {
	case gateway.TaskDecomposition:
		least, most = b.MinPlanSteps, b.MaxPlanSteps
		intent, example = fmt.Sprintf("Your own plan: %d to %d steps, taken in order.", least, most), exampleSteps(tools, least)
	case gateway.Orchestrator:
		least, most = 1, b.MaxTasks
		intent, example = fmt.Sprintf("Your own plan: up to %d tasks, run side by side.", most), exampleTasks(spec, tools, most)
	case gateway.Routing:
		intent, example = "Your own choice of the specialist.", exampleRoute(spec, tools)
		if spec.Declared {
			intent = "Your own choice of the route."
		}
	case gateway.Supervisor:
		intent, example = "Your own actions in order, the last one final; fewer, and the run waits for more.", exampleActions(spec, tools)
	}
	r["count"] = fmt.Sprintf(`"minItems":%d,"maxItems":%d`, least, most)
	r["intent"] = Described(intent + " Tools: " + Signatures(spec, tools) + ". Example: " + JSONText(example))
	return r
}

// TicketWords describes the request that is routed.
func TicketWords(spec patterns.Spec) string {
	if spec.Declared {
		return "The request, whole and unchanged."
	}
	return "The customer's message, whole and unchanged."
}

// filled returns the arguments that have only one possible value in a pattern of a kind. The value comes from the call
// or from the pattern.
func filled(kind gateway.Kind) []string {
	switch kind {
	case gateway.Orchestrator:
		return []string{"report_date", "region", RequestID}
	case gateway.Routing:
		return []string{"ticket"}
	}
	return nil
}

// NamedTools returns the tools that an intent may name, in the allowlist's order.
func NamedTools(spec patterns.Spec) []catalog.Tool {
	var list []catalog.Tool
	for _, name := range spec.Policy {
		if t, ok := spec.Catalog.Tool(name); ok {
			list = append(list, t)
		}
	}
	return list
}

// Signatures returns the tools with their arguments, in one line, without arguments that the pattern sets itself.
func Signatures(spec patterns.Spec, tools []catalog.Tool) string {
	if len(tools) == 0 {
		return "none"
	}
	var list []string
	for _, t := range tools {
		if spec.Kind == gateway.Orchestrator && (!spec.Declared || spec.SetsRequestID(t)) || spec.Kind == gateway.Planning && !spec.Declared {
			list = append(list, t.Signature(RequestID))
		} else {
			list = append(list, t.Signature())
		}
	}
	return strings.Join(list, "; ")
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

func exampleRoute(spec patterns.Spec, tools []catalog.Tool) routeChoice {
	if len(tools) == 0 {
		return routeChoice{}
	}
	return routeChoice{Target: tools[0].Name, Args: exampleArgs(spec, tools[0])}
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

// exampleArgs returns example arguments without those that have one possible value.
func exampleArgs(spec patterns.Spec, t catalog.Tool) map[string]any {
	return t.Input.Without(leftOut(spec, t)...).Example()
}

// TitleOf returns the title of a tool, or its name if it has none.
func TitleOf(t catalog.Tool) string {
	if t.Title != "" {
		return t.Title
	}
	return t.Name
}

// bounded returns the members for a text that is not blank.
func bounded(text string, most int) string {
	return fmt.Sprintf(`"minLength":1,"maxLength":%d,`, most) + Described(text)
}

// Described returns the description member of a schema.
func Described(text string) string { return `"description":` + JSONText(text) }

// JSONText returns JSON for readers, without escapes for HTML. The values are Patterngate's own structs, so encoding
// cannot fail.
func JSONText(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ExampleIntent returns a whole intent of the pattern's kind, and its form in a few words.
func ExampleIntent(spec patterns.Spec, tools []catalog.Tool) (example any, form string) {
	b := spec.Budget
	switch spec.Kind {
	case gateway.Orchestrator:
		return exampleTasks(spec, tools, b.MaxTasks), fmt.Sprintf("up to %d tasks, run side by side", b.MaxTasks)
	case gateway.Routing:
		return exampleRoute(spec, tools), "one target"
	case gateway.Supervisor:
		return exampleActions(spec, tools), "one or several in order, the last of all final"
	}
	return exampleSteps(tools, b.MinPlanSteps), fmt.Sprintf("%d to %d steps, taken in order", b.MinPlanSteps, b.MaxPlanSteps)
}
