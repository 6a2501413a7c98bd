package redaction

import (
	"slices"
	"strconv"
	"strings"

	"patterngate/ijson"
	"patterngate/patterns"
)

// purpose is the reason to go through a body.
type purpose int

const (
	finding purpose = iota // learn the values at the places
	hiding                 // replace known values
)

// The least lengths of values that are searched for, and the bounds of a search.
const (
	minText   = 4 // bytes of a text within other texts
	minNumber = 3 // characters of a number that is equal
	minDigits = 6 // characters of a number within names, such as tx_123456
	// maxNested is how deep JSON within texts is read, and how often escapes are undone.
	maxNested = 4
	// maxDocuments is how many documents of one text are read. maxBroken is how many beginnings of a document may be invalid.
	maxDocuments = 1024
	maxBroken    = 64
)

// ours are the members of bodies that Patterngate itself writes or that identify something. They are never hidden.
var ours = map[patterns.EventKind][]string{
	patterns.StartEvent:   {"run_id", "pattern", "pattern_kind", "version", "principal", "client", "config", "policy", "catalog", "budget", "parent"},
	patterns.IntentEvent:  {"digest", "effect", "effect_kind", "grant", "name", "rule", "share"},
	patterns.OutcomeEvent: {"assurance", "by", "calls", "channel", "child_run_id", "signature", "state", "usage"},
	patterns.LateEvent:    {"assurance", "by", "channel", "decision", "state", "usage"},
	patterns.JudgedEvent:  {"phase", "decision", "rule"},
	patterns.NoteEvent:    {"what", "by", "channel", "signature"},
	patterns.EndEvent:     {"phase", "status", "stop_reason", "usage"},
}

// oursOf are the same members of a call's verdict, of a question to a person, of the decision, and of the result in the end event.
var oursOf = map[string][]string{
	"object":   {"type", "run", "step", "tool", "schema", "policy", "expires", "assurance"},
	"decision": {"type", "approval", "digest", "decision", "executes", "by", "at", "key"},
	"verdict":  {"decision", "rule", "passes", "policy"},
	"envelope": {"status", "stop_reason", "phase", "run_id", "budget", "usage", "record", "created_at", "ended_at"},
}

// look goes through a body and returns it. With hiding, known values are replaced in the result; with finding, nothing is replaced.
func (h *Values) look(kind patterns.EventKind, key string, body any, p purpose) any {
	members, ok := body.(map[string]any)
	if !ok {
		return body
	}
	w := walk{Values: h, purpose: p, tools: h.Rules.tools}
	w.only(h.called(kind, key, members))
	if proposal, ok := members["proposal"].(map[string]any); ok && kind == patterns.JudgedEvent {
		tool, _ := proposal["tool"].(string)
		w.only(tool)
	}
	return w.members(members, ours[kind], func(name string, v any) any {
		of, _ := v.(map[string]any)
		switch {
		case kind == patterns.OutcomeEvent && name == "decision" && of == nil: // a fixed word
			return v
		case kind == patterns.IntentEvent && name == "object" && of != nil:
			tool, _ := of["tool"].(string)
			w.only(tool)
			return w.members(of, oursOf[name], func(name string, v any) any { return w.value(name, v, w.argsPlaces()) })
		case oursOf[name] != nil && of != nil && (kind == patterns.IntentEvent || kind == patterns.EndEvent || kind == patterns.OutcomeEvent):
			return w.members(of, oursOf[name], func(name string, v any) any { return w.value(name, v, w.below(nil, name)) })
		case kind == patterns.IntentEvent && name == "input" && members["effect_kind"] == string(patterns.ToolEffect):
			return w.value(name, v, w.argsPlaces())
		case kind == patterns.IntentEvent && name == "input" && members["effect_kind"] == string(patterns.PlanEffect) && of != nil:
			return w.members(of, []string{"plan_id", "pattern"}, w.planned)
		case kind == patterns.OutcomeEvent && name == "output" || kind == patterns.LateEvent && name == "output":
			return w.output(key, v)
		}
		return w.value(name, v, w.below(nil, name))
	})
}

// planned goes through a member of a step on a stored plan. The hash of the plan's content has no salt. If the run hides values, a
// reader that knows the rest of the content could guess them from the hash, so it is hidden too.
func (w *walk) planned(name string, v any) any {
	if name == "sha256" && w.purpose == hiding && len(w.hashes) > 0 {
		return w.replace(v)
	}
	return w.value(name, v, w.below(nil, name))
}

// walk is one pass through a body.
type walk struct {
	*Values
	purpose
	tools  map[string]toolPlaces // the tools whose places count here
	nested int
	hit    bool // a value must be hidden
}

// members goes through an object that is never replaced as a whole. The members in skip stay unchanged.
func (w *walk) members(of map[string]any, skip []string, each func(name string, v any) any) map[string]any {
	out := make(map[string]any, len(of))
	for name, v := range of {
		if !slices.Contains(skip, name) {
			v = each(name, v)
		}
		out[name] = v
	}
	return out
}

// output goes through the output of an effect. The key of the effect shows whether it is the answer of a person.
func (w *walk) output(key string, v any) any {
	places := w.outputPlaces(v)
	last := key[strings.LastIndexByte(key, '/')+1:]
	if w.answer && strings.HasPrefix(last, string(patterns.AskAnswer)+"#") {
		places = append(places, nil)
	}
	return w.value("output", v, places)
}

// outputPlaces returns the places below the output of an effect. A result that was cut to a text has no places any more. If results have
// places, the member head with that text is one.
func (w *walk) outputPlaces(v any) [][]string {
	places := append(w.below(nil, "output"), w.below(nil, "args")...)
	if cut, ok := v.(map[string]any); ok && cut["truncated"] == true && len(w.resultPlaces()) > 0 {
		places = append(places, []string{"head"})
	}
	return places
}

// below returns the places below a member, given the places below the value that has the member. A member with a name such as args
// also begins places of its own.
func (w *walk) below(places [][]string, name string) (list [][]string) {
	for _, p := range places {
		if len(p) > 0 && (p[0] == name || p[0] == "*") {
			list = append(list, p[1:])
		}
	}
	switch name {
	case "args", "changed":
		list = append(list, w.argsPlaces()...)
	case "arguments", "input":
		list = append(append(list, w.input...), w.argsPlaces()...)
	case "observation", "result", "output", "last_observation":
		list = append(list, w.resultPlaces()...)
	case "answer":
		if w.answer {
			list = append(list, nil)
		}
	}
	return list
}

// value goes through the value of a member and returns it, replaced if it must be hidden.
func (w *walk) value(name string, v any, places [][]string) any {
	if v != nil && slices.ContainsFunc(places, func(p []string) bool { return len(p) == 0 }) {
		return w.place(name, v)
	}
	switch v := v.(type) {
	case map[string]any:
		if name == "values" {
			return w.ruled(v, places)
		}
		return w.object(v, places)
	case []any:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = w.value(name, m, w.below(places, strconv.Itoa(i)))
		}
		return out
	case string:
		if w.isHidden(name, v) || w.nests(name, v, places) {
			return w.replace(v)
		}
	case float64, bool:
		if w.isHidden(name, v) {
			return w.replace(v)
		}
	}
	return v
}

// place learns or replaces a value at a place.
func (w *walk) place(name string, v any) any {
	if w.purpose == finding {
		w.know(name, v)
		return v
	}
	return w.replace(v)
}

func (w *walk) replace(v any) any {
	w.hit = true
	if w.purpose == finding || w.nested > 0 {
		return v
	}
	return w.mark(v)
}

func (w *walk) object(v map[string]any, places [][]string) any {
	if w.purpose == hiding {
		_, like := v[patterns.Redacted]
		if like && len(v) == 1 { // otherwise it could pass for a marker of ours
			return w.replace(v)
		}
		for name := range v {
			if w.within(name) { // the name of a member cannot be replaced
				return w.replace(v)
			}
		}
	}
	if name := w.named(v); name != "" {
		before := w.tools
		defer func() { w.tools = before }()
		w.only(name)
	}
	out := make(map[string]any, len(v))
	for name, m := range v {
		out[name] = w.value(name, m, append(w.below(places, name), w.pointed(v, name)...))
	}
	return out
}

// pointed returns the places below the member got of a problem. Its value was at the pointer of the problem, so the pointer gives the
// places.
func (w *walk) pointed(v map[string]any, name string) [][]string {
	pointer, ok := v["pointer"].(string)
	if !ok || name != "got" {
		return nil
	}
	places := slices.Clone(w.input)
	for _, token := range ijson.Pointer(pointer).Tokens() {
		places = w.below(places, token)
	}
	return places
}

// nests reports whether JSON within a text holds a value that must be hidden. The caller then hides the whole text.
func (w *walk) nests(name, text string, places [][]string) bool {
	if w.nested == maxNested || !strings.ContainsAny(text, "{[") {
		return false
	}
	inner := walk{Values: w.Values, purpose: w.purpose, tools: w.tools, nested: w.nested + 1}
	values, broken := documents(text)
	for _, v := range values {
		inner.value(name, v, places)
	}
	return inner.hit || broken && w.names(text)
}

// names reports whether a text contains the quoted name of a member at a place. It is for texts with invalid JSON.
func (w *walk) names(text string) bool {
	for _, form := range forms(text) {
		for _, p := range slices.Concat(w.argsPlaces(), w.resultPlaces(), w.input) {
			if last := p[len(p)-1]; last == "*" || strings.Contains(form, strconv.Quote(last)) {
				return true
			}
		}
	}
	return false
}

// know remembers a value at a place, and the values in it.
func (h *Values) know(name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, m := range v {
			h.know(name, m)
		}
	case []any:
		for _, m := range v {
			h.know(name, m)
		}
	case string:
		if len(v) >= minText {
			h.texts = add(h.texts, v)
			return
		}
		h.weak[name+"\x00"+string(ijson.Canonical(v))] = true
	case float64:
		text := string(ijson.Canonical(v))
		if len(text) >= minDigits {
			h.digits = add(h.digits, text)
		}
		if len(text) >= minNumber {
			h.numbers[text] = true
			return
		}
		h.weak[name+"\x00"+text] = true
	case bool:
		h.weak[name+"\x00"+strconv.FormatBool(v)] = true
	}
}

func add(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// isHidden reports whether a scalar equals a known value or holds one. With finding it is always false.
func (w *walk) isHidden(name string, v any) bool {
	if w.purpose == finding {
		return false
	}
	text := string(ijson.Canonical(v))
	if w.weak[name+"\x00"+text] {
		return true
	}
	switch v := v.(type) {
	case float64:
		return w.numbers[text]
	case string: // the hash of arguments has no salt, so hidden arguments could be guessed from it
		return w.within(v) || name == "args_hash" && v != "" && len(w.argsPlaces()) > 0
	}
	return false
}

// Tells reports whether a text holds a hidden value.
func (h *Values) Tells(text string) bool {
	w := walk{Values: h, purpose: hiding, tools: h.Rules.tools}
	return w.isHidden("", text) || w.nests("", text, nil)
}

// counts reports whether a text contains a number that equals a known one, for example "800.00" or "1,200 USD".
func (h *Values) counts(text string) bool {
	if len(h.numbers) == 0 {
		return false
	}
	return slices.ContainsFunc(figures(text), func(f float64) bool { return h.numbers[string(ijson.Canonical(f))] })
}

// within reports whether a text contains a known value, escaped or not.
func (h *Values) within(text string) bool {
	for _, form := range forms(text) {
		if slices.ContainsFunc(h.texts, func(known string) bool { return strings.Contains(form, known) }) {
			return true
		}
		if slices.ContainsFunc(h.digits, func(known string) bool { return containsNumber(form, known) }) || h.counts(form) {
			return true
		}
	}
	return false
}
