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
	IdempotencyKey string  `json:"idempotency_key,omitempty"`
}

// dryInput belongs to the kinds that have dry runs. Planning has its own.
type dryInput struct {
	DryRun bool `json:"dry_run,omitempty"`
}

// continueInput holds the arguments of the kinds whose caller may propose step by step.
type continueInput struct {
	RunID        string `json:"run_id,omitempty" jsonschema_description:"$run_id"`
	Turn         int    `json:"turn,omitempty" jsonschema:"minimum=1"`
	ContinueWith string `json:"continue_with,omitempty" jsonschema:"enum=caller,enum=model,default=caller"`
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
	text = openWithin(text)
	r := remarksOf(spec, configured)
	r[WaitName] = w.Remark()
	for name, members := range r {
		text = strings.ReplaceAll(text, `"description":"$`+name+`"`, members)
	}
	if strings.Contains(text, `:"$`) {
		return nil, fmt.Errorf("a remark is missing in %s", text)
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("a remark is not JSON in %s", text)
	}
	if text, err = laidOver(spec, closingObject(spec, text)); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// openWithin leaves out of a schema that its inner objects have no other members. The gate refuses those anyway, and
// only the root says so to clients that check a call.
func openWithin(schema string) string {
	const closed = `"additionalProperties":false,`
	root := max(0, strings.LastIndex(schema, closed))
	return strings.ReplaceAll(schema[:root], closed, "") + schema[root:]
}

// Remark returns the members of a schema with the bounds of how long a call may wait for its run.
func (w Waits) Remark() string {
	return fmt.Sprintf(`"maximum":%d,"default":%s`, int(w.Max.Seconds()), JSONText(max(0, w.Default.Seconds())))
}

// remarks holds members of a schema as JSON text, by their placeholder.
type remarks map[string]string

func remarksOf(spec patterns.Spec, configured bool) remarks {
	if spec.Kind == gateway.Planning {
		return planRemarks(spec)
	}
	tools := NamedTools(spec)
	finalize := finalizeYes
	switch {
	case spec.Finalize == patterns.FinalizeNo:
		finalize = finalizeNo
	case spec.Finalize != patterns.FinalizeYes && !configured:
		finalize = finalizeAuto
	}
	r := remarks{
		"goal":     bounded(goalWords, MaxGoal),
		"ticket":   bounded(TicketWords(spec), MaxGoal),
		"finalize": Described(finalize),
		"run_id":   bounded(cmp.Or(spec.Words.Continue, continueWords), MaxInput),
		"args":     Described(cmp.Or(spec.Words.Args, argsWords(spec))),
		"closing":  Described(cmp.Or(spec.Words.Closing, closingWords)),
		"kind":     `"enum":["tool","final"]`,
		"names":    Described(noNames),
	}
	if len(spec.Policy) > 0 { // an empty enum is not a valid schema
		r["names"] = `"enum":` + JSONText(spec.Policy)
	}
	p := formOf(spec.Kind).proposal(spec, tools)
	r["count"] = fmt.Sprintf(`"minItems":%d,"maxItems":%d`, p.least, p.most)
	r["intent"] = Described(intentWords(p.words, grouped(spec, tools), JSONText(p.example)))
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
		return noTools
	}
	var list []string
	for _, t := range tools {
		list = append(list, signature(spec, t))
	}
	return strings.Join(list, "; ")
}

// signature returns a tool with its arguments, without those that the pattern sets itself.
func signature(spec patterns.Spec, t catalog.Tool) string {
	if spec.Kind == gateway.Orchestrator && spec.Supplies(t, RequestID) || spec.Kind == gateway.Planning && slices.Contains(spec.Supplied, RequestID) {
		return t.Signature(RequestID)
	}
	return t.Signature()
}

// grouped is [Signatures] in fewer words: tools with equal arguments share them. The reader knows the names of all tools,
// so the largest group has none.
func grouped(spec patterns.Spec, tools []catalog.Tool) string {
	if len(tools) < 2 {
		return Signatures(spec, tools)
	}
	groups := map[string][]string{} // names by arguments
	var order []string              // the arguments
	most := ""
	for _, t := range tools {
		arguments := strings.TrimPrefix(signature(spec, t), t.Name)
		if groups[arguments] == nil {
			order = append(order, arguments)
		}
		if groups[arguments] = append(groups[arguments], t.Name); len(groups[arguments]) > len(groups[most]) {
			most = arguments
		}
	}
	var list []string
	for _, arguments := range order {
		if names := groups[arguments]; arguments != most || len(names) == 1 {
			list = append(list, strings.Join(names, ", ")+arguments)
		}
	}
	switch {
	case len(order) == 1:
		list = append(list, eachTool+most)
	case len(groups[most]) > 1:
		list = append(list, otherTools+most)
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

// bounded returns the members for a text of at most this length.
func bounded(text string, most int) string {
	return fmt.Sprintf(`"maxLength":%d,`, most) + Described(text)
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
