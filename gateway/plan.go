package gateway

import (
	"fmt"
	"strings"

	"patterngate/ijson"
)

// Plan is an accepted list of steps, to be taken in order.
type Plan struct {
	Steps  []Step
	Filled []Filled
}

// Step is one call of a plan. ID, Title and Tool are stripped; Args are as proposed.
type Step struct {
	ID    string         `json:"id"`
	Title string         `json:"title"`
	Tool  string         `json:"tool"`
	Args  map[string]any `json:"args"`
}

// PlanRules bound a plan.
type PlanRules struct {
	Min, Max int      // steps
	Allowed  []string // the policy allowlist
}

// ParsePlan judges a task decomposition's plan (spec/patterns.md section 2, in its order).
func ParsePlan(in Intent, rules PlanRules) (Plan, *Refusal) {
	f := &faults{family: "invalid_plan"}
	doc, filled := openDocument(f, in, documentReasons, "plan")
	if doc == nil {
		return Plan{}, f.refusal()
	}
	extraKeys(f, "extra_keys", doc, in.At, "kind", "steps")
	list, ok := doc["steps"].([]any)
	at := in.At.Member("steps")
	if !ok || len(list) == 0 {
		f.add("missing_steps", at, member(doc, "steps"), fmt.Sprintf("a list of %d to %d steps", rules.Min, rules.Max))
		return Plan{}, f.refusal()
	}
	if reason := stepCount(len(list), rules); reason != "" {
		f.add(reason, at, list, fmt.Sprintf("%d to %d steps, not %d", rules.Min, rules.Max, len(list)))
		return Plan{}, f.refusal()
	}
	plan := Plan{Steps: make([]Step, len(list)), Filled: filled}
	ids := newIDs(list)
	for i, v := range list {
		plan.Steps[i] = parseStep(f, i+1, v, at.Index(i), ids, rules.Allowed)
	}
	if r := f.refusal(); r != nil {
		return Plan{}, r
	}
	return plan, nil
}

func stepCount(n int, rules PlanRules) string {
	switch {
	case n < rules.Min:
		return "min_steps"
	case n > rules.Max:
		return "max_steps"
	}
	return ""
}

func parseStep(f *faults, n int, v any, at ijson.Pointer, ids *idSet, allowed []string) Step {
	obj, ok := v.(map[string]any)
	if !ok {
		f.add(ordinal(n)+"not_object", at, v, "an object {id, title, tool, args}")
		return Step{}
	}
	extraKeys(f, ordinal(n)+"extra_keys", obj, at, "id", "title", "tool", "args")
	var s Step
	s.ID = ids.take(f, obj["id"], at.Member("id"), idReasons{ordinal(n) + "missing_id", "duplicate_step_id"}, member(obj, "id"))
	if s.Title, ok = text(obj["title"]); !ok {
		f.add(ordinal(n)+"missing_title", at.Member("title"), member(obj, "title"), "a text").Fix = asText(at.Member("title"), obj["title"])
	}
	s.Tool = allowedName(f, obj, "tool", at, nameRules{ordinal(n) + "missing_tool", "tool_not_allowed", allowed})
	s.Args, ok = optionalObject(obj["args"])
	if !ok {
		f.add(ordinal(n)+"bad_args", at.Member("args"), obj["args"], "an object of arguments")
	}
	return s
}

// openReasons are the names of what openDocument finds.
type openReasons struct{ notObject, badKind string }

var documentReasons = openReasons{"not_object", "bad_kind"}

// openDocument checks what every intent has in common: an object of one of the kinds. A nil result ends the list.
// Where the caller left the kind out and only one is possible, it is filled.
func openDocument(f *faults, in Intent, reasons openReasons, kinds ...string) (map[string]any, []Filled) {
	if in.fault != nil {
		f.add("non_json", in.fault.Pointer, Missing, fmt.Sprintf("one JSON object; byte %d: %s", in.fault.Offset, in.fault.Reason))
		return nil, nil
	}
	doc, ok := in.value.(map[string]any)
	if !ok {
		f.add(reasons.notObject, in.At, in.value, "an object")
		return nil, nil
	}
	at := in.At.Member("kind")
	got, given := doc["kind"]
	if !given && in.Caller && len(kinds) == 1 {
		return doc, []Filled{{at, kinds[0]}}
	}
	kind, _ := got.(string)
	if contains(kinds, kind) {
		return doc, nil
	}
	p := f.add(reasons.badKind, at, member(doc, "kind"), strings.Join(kinds, " or "))
	if near := Near(ijson.Trim(kind), kinds); near != "" {
		p.DidYouMean = near
		p.Fix = &Fix{At: at, Value: near}
	} else if got == nil && len(kinds) == 1 {
		p.Fix = &Fix{At: at, Value: kinds[0]}
	}
	return doc, nil
}

// extraKeys notes each member beyond the known ones, by name. It is renamed if that is what was meant, else removing
// it is a sure repair.
func extraKeys(f *faults, reason string, obj map[string]any, at ijson.Pointer, known ...string) {
	unknown, means := misspelt(obj, known)
	for _, name := range unknown {
		p := f.add(reason, at.Member(name), obj[name], listing("no member beyond ", known))
		p.Fix = &Fix{At: at.Member(name), Remove: true}
		p.rename(obj, at, name, means[name])
	}
}

// optionalObject reads arguments: absent and null are no arguments.
func optionalObject(v any) (map[string]any, bool) {
	if v == nil {
		return map[string]any{}, true
	}
	obj, ok := v.(map[string]any)
	return obj, ok
}

// nameRules say which name is wanted and how its absence and its refusal are called.
type nameRules struct {
	missing, notAllowed string
	allowed             []string
}

// allowedName reads a stripped name that must stand on an allowlist.
func allowedName(f *faults, obj map[string]any, key string, at ijson.Pointer, rules nameRules) string {
	at = at.Member(key)
	n, ok := text(obj[key])
	if !ok {
		f.add(rules.missing, at, member(obj, key), oneOf(rules.allowed))
		return ""
	}
	if contains(rules.allowed, n) {
		return n
	}
	p := f.add(rules.notAllowed+":"+ijson.Cut(n, maxNamed), at, obj[key], oneOf(rules.allowed))
	if near := Near(n, rules.allowed); near != "" {
		p.DidYouMean = near
		p.Fix = &Fix{At: at, Value: near}
	}
	return n
}
