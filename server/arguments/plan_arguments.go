package arguments

import (
	"maps"
	"math"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
)

// The bounds and defaults of planning's arguments (spec/planning-reference.md section 15, Arguments).
const (
	maxOwnResult   = 64 << 10 // bytes of the canonical JSON of one result
	maxPause       = 30       // seconds: no pause before another attempt is longer
	defaultPause   = 1.0      // seconds
	defaultDepth   = 3
	defaultCount   = 15
	defaultAtOnce  = 3
	defaultRetries = 2
)

// bounds holds the least and the most value that a number may have. If most is [unbounded], there is no upper bound.
type bounds struct {
	least int
	most  int
}

// unbounded, as bounds.most, means that there is no upper bound.
const unbounded = math.MaxInt

func (b bounds) want() string {
	if b.most == unbounded {
		return wholeFrom(b.least)
	}
	return wholeBetween(b.least, b.most)
}

// planArguments returns the arguments of one planning tool, without those that all pattern tools take.
func planArguments(spec patterns.Spec) []Row {
	b := spec.Budget
	id := Row{Name: "plan_id", Most: MaxInput}
	plan := Row{Name: "plan", Shape: Plan}
	revision := Row{Name: "expected_revision", Shape: Whole, bounds: &bounds{0, unbounded}}
	whole := func(name string, least, most int) Row {
		return Row{Name: name, Shape: Whole, bounds: &bounds{least, most}}
	}
	switch VerbOf(spec) {
	case patterns.DecomposeVerb:
		return append(append([]Row{goalRow(spec)}, InputRows(spec)...), []Row{
			{Name: "strategy", Shape: Word, Words: strategies},
			whole("max_depth", 1, b.MaxDepth), whole("max_subtasks", 1, b.MaxSubtasks), {Name: "context", Most: MaxGoal},
			plan, {Name: "parent_plan_id", Most: MaxInput}, {Name: "dry_run", Shape: Flag},
		}...)
	case patterns.ExecuteVerb:
		inputs := InputRows(spec)
		for i := range inputs {
			inputs[i].Required = false // the plan that comes with the call decides, see readPlanning
		}
		return append([]Row{
			id, plan, revision, {Name: "parallel", Shape: Flag}, whole("max_concurrent", 1, b.MaxConcurrent),
			{Name: "on_subtask_failure", Shape: Word, Words: failureStrategies}, whole("max_retries", 0, b.MaxRetries),
			{Name: "retry_delay_seconds", Shape: Delay}, whole("max_steps", 1, unbounded),
			{Name: "finalize", Shape: Flag}, {Name: "results", Shape: Results},
		}, inputs...)
	case patterns.ReplanVerb:
		id.Required = true
		return []Row{
			id, revision, {Name: "reason", Most: MaxGoal}, {Name: "failed_subtask", Most: MaxInput},
			{Name: "hints", Most: MaxGoal}, plan,
		}
	}
	return nil
}

var (
	strategies        = []string{string(planning.Flat), string(planning.Hierarchical), string(planning.Iterative)}
	failureStrategies = []string{
		string(patterns.AbortOnFailure), string(patterns.SkipOnFailure), string(patterns.RetryOnFailure), string(patterns.ReplanOnFailure),
	}
)

// readWhole reads a whole number within bounds.
func (r *Request) readWhole(a Row, v any) {
	n, isNumber := v.(float64)
	switch {
	case !isNumber || n != math.Trunc(n):
		r.wrong(a, v, "integer")
	case n < float64(a.bounds.least) || n > float64(min(a.bounds.most, ijson.MaxInteger)):
		r.Add(OutOfLimit, a.Name, v, a.bounds.want())
	}
}

// readDelay reads a number of seconds, 0 or more. It has no upper bound here; see [Call.pause].
func (r *Request) readDelay(a Row, v any) {
	n, isNumber := v.(float64)
	switch {
	case !isNumber:
		r.wrong(a, v, "number")
	case n < 0:
		r.Add(OutOfLimit, a.Name, v, zeroOrMore)
	}
}

// readPlan reads a plan of subtasks. The gate judges its content, also whether a text is JSON at all. That is a fault
// of the plan, not of the call.
func (r *Request) readPlan(a Row, v any) {
	at := ijson.Pointer("").Member(a.Name)
	var own document.Intent
	switch v := v.(type) {
	case string:
		own = document.FromText(v, at)
		if own.Value() != nil {
			r.Size += ijson.Weight(own.Value())
			r.Intents[a.Name], r.IntentWas[a.Name] = own.Value(), true
		}
	case map[string]any, []any:
		own = document.FromCaller(v, at)
		r.Intents[a.Name], r.IntentWas[a.Name] = v, false
	default:
		r.Add(WrongType, a.Name, v, a.Shape.want())
		return
	}
	r.Proposes, r.Own = true, &own
}

// readResults reads the results that the caller sends for subtasks. The plan decides later whether it waits for them.
func (r *Request) readResults(a Row, v any) {
	at := ijson.Pointer("").Member(a.Name)
	if text, isText := v.(string); isText {
		var err error
		if v, err = ijson.Decode([]byte(text)); err != nil {
			p, c := decodingProblem(err, at, a.Name)
			p.Got = document.Got(text)
			r.faults[c] = append(r.faults[c], p)
			return
		}
		r.Size += ijson.Weight(v)
		r.Intents[a.Name], r.IntentWas[a.Name] = v, true
	}
	entries, isObject := v.(map[string]any)
	if !isObject {
		r.Add(WrongType, a.Name, r.Arguments[a.Name], a.Shape.want())
		return
	}
	taken := make(map[string]any, len(entries))
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if entry := r.readResult(a.Name, at.Member(id), entries[id]); entry != nil {
			taken[id] = entry
		}
	}
	if len(taken) > 0 {
		r.Results = taken
	}
}

// readResult reads the result that the caller sends for one subtask. It returns nil, and notes a fault, if the entry
// has the wrong shape or is too large.
func (r *Request) readResult(name string, at ijson.Pointer, v any) map[string]any {
	wrong := func(at ijson.Pointer, got any, want string) map[string]any {
		r.place(WrongType, name, at, got, want)
		return nil
	}
	entry, isObject := v.(map[string]any)
	if !isObject {
		return wrong(at, v, resultObject)
	}
	for _, member := range slices.Sorted(maps.Keys(entry)) {
		if member != "status" && member != "result" {
			wrong(at.Member(member), entry[member], resultMembers)
			p := r.lastOf(WrongType)
			p.DidYouMean, p.Choose = gateway.Near(member, []string{"status", "result"}), document.RemoveOrRename
			return nil
		}
	}
	status, there := entry["status"]
	if !there {
		status = document.Missing
	}
	if word, _ := status.(string); !slices.Contains(resultWords, word) {
		wrong(at.Member("status"), status, resultStatus)
		p := r.lastOf(WrongType)
		p.Means(p.Pointer, word, gateway.Near(word, resultWords))
		return nil
	}
	if n := len(ijson.Canonical(entry["result"])); n > maxOwnResult {
		r.place(TooLarge, name, at.Member("result"), entry["result"], resultBytes(maxOwnResult, n))
		return nil
	}
	return map[string]any{"status": status, "result": entry["result"]}
}

var resultWords = []string{string(patterns.SubtaskCompleted), string(patterns.SubtaskFailed)}

// place notes a fault at a place inside an argument.
func (r *Request) place(c Class, name string, at ijson.Pointer, got any, want string) {
	r.faults[c] = append(r.faults[c], document.Problem{Pointer: at, Reason: c.Reason(name), Got: document.Got(got), Want: want})
}

// lastOf returns the newest problem of a class. The class must have one.
func (r *Request) lastOf(c Class) *document.Problem { return &r.faults[c][len(r.faults[c])-1] }

// Said returns a text argument. A blank text counts as absent, because many clients fill in everything that a schema
// names.
func (c Call) Said(name string) string {
	text, _ := c.Arguments[name].(string)
	if ijson.Blank(text) {
		return ""
	}
	return text
}

// readPlanning checks the arguments against each other.
func (r *Request) readPlanning() {
	plan, id := r.Arguments["plan"], r.Arguments["plan_id"]
	switch VerbOf(r.Spec) {
	case patterns.ExecuteVerb:
		_, isText := id.(string)
		named := r.Said("plan_id") != "" || id != nil && !isText // a fault that is already noted
		switch {
		case named && plan != nil:
			r.Add(Mismatch, "plan", plan, notBoth).Choose = chooseOne
		case !named && plan == nil:
			if id == nil {
				id = document.Missing
			}
			r.Add(Missing, "plan_id", id, planMissing)
		default:
			r.ofPlan(named)
		}
	case patterns.ReplanVerb:
		if plan == nil && !r.Spec.LLM {
			r.Add(Missing, "plan", document.Missing, replanMissing)
		}
	}
}

// planForm is the form of calls of planning's tools.
func planForm() form {
	return form{goal: "goal", intent: "plan", rows: planArguments, shape: planShape, skeleton: planSkeleton}
}

// planSkeleton returns the form of a plan of subtasks. The gate refuses a form with blanks.
func planSkeleton() any {
	subtask := map[string]any{"id": "", "description": "", "dependencies": []any{}, "tool": planning.CallerExecutor, "args": map[string]any{}}
	return map[string]any{"kind": "plan", "subtasks": []any{subtask}}
}
