package arguments

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// The input structs define the shape of the published schemas. A description that is a word beginning with $ is a
// placeholder. [remarksOf] replaces it with members: bounds, an allowlist, counts or an example.

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

// continueInput holds the arguments of the kinds whose caller may propose step by step.
type continueInput struct {
	RunID        string `json:"run_id,omitempty" jsonschema_description:"$run_id"`
	Turn         int    `json:"turn,omitempty" jsonschema:"minimum=1" jsonschema_description:"The waiting run's turn, as in next."`
	ContinueWith string `json:"continue_with,omitempty" jsonschema:"enum=caller,enum=model" jsonschema_description:"Who proposes when yours run out. Default caller: the run waits."`
}

// Schema returns the published schema of a pattern's arguments. It is for readers: the rows of a [Reader] and the
// gate judge the arguments of a call, in the order of the contract. Tests compile the schema and compare.
func Schema(spec patterns.Spec, w Waits, configured bool) (json.RawMessage, error) {
	if spec.Kind == gateway.Call {
		return singleSchema(spec, w)
	}
	shape, err := formOf(spec.Kind).shape(spec)
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
	if text, err = laidOver(spec, closingObject(spec, text)); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// Remark returns the members of a schema with the bounds of how long a call may wait for its run.
func (w Waits) Remark() string {
	return fmt.Sprintf(`"minimum":0,"maximum":%d,"default":%s,`, int(w.Max.Seconds()), JSONText(max(0, w.Default.Seconds()))) +
		Described("Past it: running; 0 returns at once.")
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
		"goal":     bounded("What is wanted, in plain words, with every id, date and amount that matters.", MaxGoal),
		"ticket":   bounded(TicketWords(spec), MaxGoal),
		"finalize": Described(finalize),
		"run_id":   bounded(cmp.Or(spec.Words.Continue, "A waiting run to go on with, as in next, without what it began with."), MaxInput),
		"args":     Described(cmp.Or(spec.Words.Args, argsWords(spec))),
		"closing":  Described(cmp.Or(spec.Words.Closing, "Of kind final: what came of it.")),
		"kind":     `"enum":["tool","final"]`,
		"names":    Described("No name is allowed."),
	}
	if len(spec.Policy) > 0 { // an empty enum is not a valid schema
		r["names"] = `"enum":` + JSONText(spec.Policy)
	}
	p := formOf(spec.Kind).proposal(spec, tools)
	r["count"] = fmt.Sprintf(`"minItems":%d,"maxItems":%d`, p.least, p.most)
	r["intent"] = Described(p.words + " Tools: " + Signatures(spec, tools) + ". Example: " + JSONText(p.example))
	return r
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
		if spec.Kind == gateway.Orchestrator && spec.Supplies(t, RequestID) || spec.Kind == gateway.Planning && slices.Contains(spec.Supplied, RequestID) {
			list = append(list, t.Signature(RequestID))
		} else {
			list = append(list, t.Signature())
		}
	}
	return strings.Join(list, "; ")
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
