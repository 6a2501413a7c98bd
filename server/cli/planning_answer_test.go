package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patterngate/ijson"
)

// planAnswer is what came to a call, in both channels.
type planAnswer struct {
	t       *testing.T
	call    string
	fields  map[string]any
	text    string
	isError bool
}

// members is an object of names and values.
func members(pairs ...any) map[string]any {
	o := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		o[pairs[i].(string)] = pairs[i+1]
	}
	return o
}

// plain is a value as JSON decodes it.
func plain(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	v, err = ijson.Decode(text)
	if err != nil {
		return string(text) // beyond what is decoded here; for messages only
	}
	return v
}

// at is the JSON of what stands there; null where nothing does.
func (a planAnswer) at(pointer string) string {
	v, _ := ijson.Pointer(pointer).In(a.fields)
	return string(ijson.Canonical(v))
}

func (a planAnswer) string(pointer string) string {
	v, _ := ijson.Pointer(pointer).In(a.fields)
	text, _ := v.(string)
	return text
}

func (a planAnswer) plan() string   { return a.string("/plan_id") }
func (a planAnswer) reason() string { return a.string("/stop_reason") }
func (a planAnswer) list(p string) []any {
	v, _ := ijson.Pointer(p).In(a.fields)
	list, _ := v.([]any)
	return list
}

// wants compares places with the JSON that they should hold.
func (a planAnswer) wants(pairs ...string) planAnswer {
	a.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := a.at(pairs[i]); got != pairs[i+1] {
			a.t.Errorf("%.300s\n%s is %.600s, want %s (%s %s: %v)", a.call, pairs[i], got, pairs[i+1], a.at("/status"), a.at("/stop_reason"), a.fields["summary"])
		}
	}
	return a
}

// rows are the subtasks as id:status, those removed behind a bar.
func (a planAnswer) rows() string {
	var words []string
	subtasks := a.list("/plan/subtasks")
	if subtasks == nil {
		subtasks = a.list("/subtasks")
	}
	for _, v := range subtasks {
		row, _ := v.(map[string]any)
		words = append(words, fmt.Sprint(row["id"], ":", row["status"]))
	}
	if removed := a.list("/plan/removed"); len(removed) > 0 {
		words = append(words, "|")
		for _, v := range removed {
			row, _ := v.(map[string]any)
			words = append(words, fmt.Sprint(row["id"], ":", row["status"]))
		}
	}
	return strings.Join(words, " ")
}

// traced are the trace's rows as revision:id:attempt, with ! where it failed.
func (a planAnswer) traced() string {
	var words []string
	for _, v := range a.list("/trace") {
		row, _ := v.(map[string]any)
		word := fmt.Sprintf("%v:%v:%v", row["revision"], row["subtask_id"], row["attempt"])
		if row["ok"] != true {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// is compares the subtasks and the stop reason.
func (a planAnswer) is(reason, rows string) planAnswer {
	a.t.Helper()
	if a.reason() != reason || a.rows() != rows {
		a.t.Errorf("%.300s\ngot %s, %q; want %s, %q: %v", a.call, a.reason(), a.rows(), reason, rows, a.fields["summary"])
	}
	return a
}

// ran compares the trace.
func (a planAnswer) ran(want string) planAnswer {
	a.t.Helper()
	if got := a.traced(); got != want {
		a.t.Errorf("%.300s\nthe trace is %q, want %q", a.call, got, want)
	}
	return a
}

// subtask is one of a plan: its id, what it depends on (words), and more members.
func subtask(id, dependencies string, more ...any) map[string]any {
	o := members(more...)
	o["id"], o["description"], o["dependencies"] = id, "Do "+id+".", strings.Fields(dependencies)
	return o
}

// planOf is a plan document.
func planOf(subtasks ...map[string]any) map[string]any {
	return map[string]any{"kind": "plan", "subtasks": subtasks}
}

// decomposed stores a plan of the caller's and returns its id.
func (c *planClient) decomposed(subtasks ...map[string]any) string {
	c.t.Helper()
	a := c.call("decompose", "goal", "Review April", "plan", planOf(subtasks...))
	a.wants("/status", `"ok"`)
	return a.plan()
}
