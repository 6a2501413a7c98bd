package cli_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"patterngate/ijson"
)

// judge compares an answer with a worked case's expectation. An object is either open, where further members may
// stand and an expected null may be missing, or exact. Everything inside an exact object is exact.
type judge struct {
	faults []string
	// ids are the made ids that were found ("rf_42_<hex>"), by where they stood.
	ids map[ijson.Pointer]string
}

// openRows are lists of open objects, openObjects members that are open objects, both only inside an open object.
var (
	openRows    = []string{"trace", "history", "plan", "failed_critical", "failed_tasks"}
	openObjects = []string{"aggregate", "supervisor", "human_approval"}
)

// notCompared are members whose value is nobody's business here.
var notCompared = regexp.MustCompile(`^(run_id|request_id|(elapsed|duration|started|finished|latency).*|.*_ms)$`)

// madeID is an expected id of which only the beginning is known.
var madeID = regexp.MustCompile(`^([a-z]{2}_[0-9]+_)<hex>$`)

// seedDate is the constant that the reference put where an id belongs.
const seedDate = "20260226"

func (j *judge) fault(at ijson.Pointer, format string, args ...any) {
	j.faults = append(j.faults, fmt.Sprintf("%q: ", at)+fmt.Sprintf(format, args...))
}

// result judges a structured result: open at its root.
func (j *judge) result(want, got map[string]any) {
	j.object("", want, got, true)
	stopped := got["status"] == "stopped"
	if _, phase := got["phase"]; phase != stopped {
		j.fault("/phase", "stands: %v, although status is %v; it stands on every stop and on nothing else", phase, got["status"])
	}
	if (got["status"] == "ok") != (got["stop_reason"] == "success") {
		j.fault("/status", "got %v with stop_reason %v", got["status"], got["stop_reason"])
	}
}

// message judges a user message: exact everywhere.
func (j *judge) message(at ijson.Pointer, want, got any) { j.value(at, want, got) }

func (j *judge) object(at ijson.Pointer, want, got map[string]any, open bool) {
	for _, name := range sortedNames(want) {
		expected, where := want[name], at.Member(name)
		if notCompared.MatchString(name) {
			continue
		}
		found, there := got[name]
		switch {
		case !there && open && expected == nil:
		case !there:
			j.fault(where, "is missing; want %s", show(expected))
		case open && (name == "observation_error" || name == "need"):
			if !saysSomething(found) {
				j.fault(where, "got %s; want words", show(found))
			}
		case open && name == "comment" && want["approved"] == false:
			if _, text := found.(string); !text {
				j.fault(where, "got %s; want some text", show(found))
			}
		default:
			j.member(where, name, expected, found, open)
		}
	}
	for _, name := range sortedNames(got) {
		if _, expected := want[name]; !expected && !open && !notCompared.MatchString(name) {
			j.fault(at.Member(name), "got %s; want no such member", show(got[name]))
		}
	}
}

func (j *judge) member(at ijson.Pointer, name string, want, got any, open bool) {
	if object, is := want.(map[string]any); is && open && slices.Contains(openObjects, name) {
		if found, is := got.(map[string]any); is {
			j.object(at, object, found, true)
			return
		}
	}
	if rows, is := want.([]any); is && open && slices.Contains(openRows, name) {
		j.list(at, rows, got, true)
		return
	}
	j.value(at, want, got)
}

func (j *judge) list(at ijson.Pointer, want []any, got any, open bool) {
	found, is := got.([]any)
	if !is || len(found) != len(want) {
		j.fault(at, "got %s; want a list of %d: %s", show(got), len(want), show(want))
		return
	}
	for i := range want {
		row, isRow := want[i].(map[string]any)
		object, isObject := found[i].(map[string]any)
		if open && isRow && isObject {
			j.object(at.Index(i), row, object, true)
			continue
		}
		j.value(at.Index(i), want[i], found[i])
	}
}

// value judges what must be exactly as expected.
func (j *judge) value(at ijson.Pointer, want, got any) {
	switch want := want.(type) {
	case map[string]any:
		if found, is := got.(map[string]any); is {
			j.object(at, want, found, false)
			return
		}
	case []any:
		j.list(at, want, got, false)
		return
	case string:
		if want == "<catalog>" {
			if list, is := got.([]any); !is || len(list) == 0 {
				j.fault(at, "got %s; want a list that is not empty", show(got))
			}
			return
		}
		if parts := madeID.FindStringSubmatch(want); parts != nil {
			j.made(at, parts[1], got)
			return
		}
		if want == got {
			return
		}
	default: // nil, bool, float64
		if want == got {
			return
		}
	}
	j.fault(at, "got %s; want %s", show(got), show(want))
}

var madeHex = regexp.MustCompile(`^[0-9a-f]{6,}$`)

func (j *judge) made(at ijson.Pointer, prefix string, got any) {
	text, _ := got.(string)
	hex, ok := strings.CutPrefix(text, prefix)
	if !ok || !madeHex.MatchString(hex) || hex == seedDate {
		j.fault(at, "got %s; want %s and six or more hex digits that are no date", show(got), prefix)
		return
	}
	if j.ids == nil {
		j.ids = map[ijson.Pointer]string{}
	}
	j.ids[at] = text
}

// saysSomething reports whether v holds words: a text, or a list or object that has some.
func saysSomething(v any) bool {
	switch v := v.(type) {
	case string:
		return !ijson.Blank(v)
	case []any:
		return slices.ContainsFunc(v, saysSomething)
	case map[string]any:
		for _, name := range sortedNames(v) {
			if saysSomething(v[name]) {
				return true
			}
		}
	}
	return false
}

// show is a value as a fault shows it.
func show(v any) string {
	const most = 300
	text := string(ijson.Canonical(v))
	if cut := ijson.Cut(text, most); cut != text {
		return cut + "..."
	}
	return text
}

func sortedNames(object map[string]any) []string {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
