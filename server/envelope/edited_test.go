package envelope

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// TestEditedArgumentsAreShown holds that the text shows the arguments of the call that ran: those that a person approved in the
// place of the proposed ones.
func TestEditedArgumentsAreShown(t *testing.T) {
	t.Parallel()
	proposed := map[string]any{"hours": 12.0}
	action := gateway.Action{Name: "close", Args: map[string]any{"hours": 3.0}}.Row()
	changed := &patterns.HumanApproval{Approved: true, RevisedAction: action}
	for name, row := range map[string]struct {
		human *patterns.HumanApproval
		want  string
	}{
		"nobody was asked": {nil, `{"hours":12}`},
		"approved":         {&patterns.HumanApproval{Approved: true}, `{"hours":12}`},
		"changed":          {changed, `{"hours":3}`},
		"not approved":     {&patterns.HumanApproval{RevisedAction: action}, `{"hours":12}`},
	} {
		var observed any = "x"
		for kind, e := range map[string]Envelope{
			"call": {Called: &Line{Label: "call", Name: "close", Args: proposed}, Observation: &observed, Human: row.human},
			"step": {
				Trace:   []any{patterns.StepRow{StepNo: 1, Tool: "close"}, patterns.StepRow{StepNo: 2, Tool: "close", HumanApproval: row.human}},
				History: []any{patterns.StepDone{StepNo: 2, PlanStep: gateway.Step{ID: "b", Tool: "close", Args: proposed}}},
			},
			"attempt": {
				Trace:   []any{patterns.RouteRow{Attempt: 1, Target: "close", HumanApproval: row.human}},
				History: []any{patterns.Delegation{Attempt: 1, Route: map[string]any{"target": "close", "args": proposed}}},
			},
			"task": {
				Trace:   []any{patterns.TaskTrace{TaskID: "t", Worker: "close", HumanApproval: row.human}},
				History: []any{patterns.TaskRow{TaskID: "t", Worker: "close"}}, Plan: []gateway.Task{{ID: "t", Args: proposed}},
			},
		} {
			e.Status = StatusOK
			text := string(e.text(nil, []observation{{text: json.RawMessage(`"x"`)}, {}, {text: json.RawMessage(`"x"`)}}))
			if want := " close " + row.want + " -> "; !strings.Contains(text, want) {
				t.Errorf("%s, %s: %q not in %s", kind, name, want, text)
			}
		}
	}
}

// TestChangesOfTheApproverAreTold holds that the text says what an approver changed, in one line, and nothing where nobody changed
// anything.
func TestChangesOfTheApproverAreTold(t *testing.T) {
	t.Parallel()
	proposed := map[string]any{"days": 55.0, "gone": true, "member": "a"}
	revised := gateway.Action{Name: "lend", Args: map[string]any{"days": 20.0, "member": "a", "note": "x\u202ey"}}.Row()
	const want = "\nA person approved lend with changes: days 55 -> 20; gone removed, was true; note added, \"x\\u202ey\".\n"
	left := map[string]any{"days": 20.0, "member": "a", "note": "x\u202ey"}
	changed := &patterns.HumanApproval{Approved: true, RevisedAction: revised, Asked: proposed, Left: left}
	byPolicy := map[string]any{"days": 20.0, "member": "a", "note": "of the policy"} // after its revision of all three
	for name, tt := range map[string]struct {
		human *patterns.HumanApproval
		told  bool
	}{
		"nobody was asked": {nil, false},
		"approved":         {&patterns.HumanApproval{Approved: true}, false},
		"not approved":     {&patterns.HumanApproval{Asked: proposed, Left: left}, false},
		"changed nothing":  {&patterns.HumanApproval{Approved: true, RevisedAction: gateway.Action{Name: "lend", Args: proposed}.Row(), Asked: proposed, Left: proposed}, false},
		"changed by the policy only": {&patterns.HumanApproval{
			Approved: true, RevisedAction: gateway.Action{Name: "lend", Args: byPolicy}.Row(), Asked: byPolicy, Left: byPolicy}, false},
		"read from a record": {&patterns.HumanApproval{Approved: true, RevisedAction: revised}, false},
		"changed":            {changed, true},
	} {
		var observed any = "x"
		for kind, e := range map[string]Envelope{
			"call": {Called: &Line{Label: "call", Name: "lend", Args: proposed}, Observation: &observed, Human: tt.human},
			"action": {History: []any{patterns.ActionDone{Step: 1, Action: gateway.Action{Name: "lend", Args: proposed}.Row(),
				Executed: map[string]any{"name": "lend"}, Human: tt.human}}},
		} {
			e.Status = StatusOK
			text := string(e.text(nil, []observation{{text: json.RawMessage(`"x"`)}, {}, {text: json.RawMessage(`"x"`)}}))
			if strings.Contains(text, want) != tt.told || strings.Contains(text, "with changes") != tt.told {
				t.Errorf("%s, %s: told is not %v in %s", kind, name, tt.told, text)
			}
		}
	}
}

// TestKeptChangesAreTheApprovers holds that a result from a record tells what the approver of a supervised action changed, and not what
// the policy changed or the tool's defaults added.
func TestKeptChangesAreTheApprovers(t *testing.T) {
	t.Parallel()
	action := func(args map[string]any) map[string]any { return gateway.Action{Name: "lend", Args: args}.Row() }
	for name, tt := range map[string]struct {
		policy any
		left   map[string]any
		want   string
	}{
		"by the policy and by them": {action(map[string]any{"days": 55.0, "note": "n"}), map[string]any{"days": 20.0, "note": "n"}, "lend with changes: days 55 -> 20."},
		"by the policy only":        {action(map[string]any{"days": 20.0, "note": "n"}), map[string]any{"days": 20.0, "note": "n"}, ""},
		"by them only":              {nil, map[string]any{"days": 20.0}, "lend with changes: days 55 -> 20."},
		"by a default":              {nil, map[string]any{"days": 55.0, "renewed": false}, ""},
		"removed":                   {nil, map[string]any{}, "lend with changes: days removed, was 55."},
		"nothing given":             {nil, nil, ""},
	} {
		done := patterns.ActionDone{
			Step: 1, Action: action(map[string]any{"days": 55.0}), Supervisor: patterns.Reviewed{RevisedAction: tt.policy},
			Executed: action(tt.left), Human: &patterns.HumanApproval{Approved: true},
		}
		if tt.left != nil {
			done.Human.RevisedAction = action(tt.left)
		}
		e := Envelope{Status: StatusOK, History: []any{keptRow(ijson.Canonical(valueOf(t, done)), false)}}
		if text := string(e.appendChanges(nil)); text != "" != (tt.want != "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
}

func valueOf(t *testing.T, row any) any {
	t.Helper()
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ijson.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCutChangesAreMarked holds that a long value is in closed quotes, with a mark where it is cut, and that two values are shown where
// they differ.
func TestCutChangesAreMarked(t *testing.T) {
	t.Parallel()
	x, s := strings.Repeat("x", 60), strings.Repeat("€", 40) // 120 bytes
	for name, tt := range map[string]struct {
		from, to any
		want     string
	}{
		"short":                {"a", "b", `note "a" -> "b"`},
		"long":                 {"a", x + "yz", `note "a" -> "` + x + `"...`},
		"different at the end": {x + "1", x + "2", `note ..."` + x[:20] + `1" -> ..."` + x[:20] + `2"`},
		"one is the beginning": {x + x, x + x + "y", `note ..."` + x[:20] + `" -> ..."` + x[:20] + `y"`},
		"in the middle":        {s + "1" + s, s + "2" + s, `note ..."` + s[:21] + "1" + s[:36] + `"... -> ..."` + s[:21] + "2" + s[:36] + `"...`},
		"quotes and escapes":   {"a", `"; b added, "` + "\u202e" + x, `note "a" -> "\"; b added, \"\u202e` + x[:44] + `"...`},
		"no text":              {"a", map[string]any{"b": x}, `note "a" -> JSON "{\"b\":\"` + x[:54] + `"...`},
		"a text of its JSON":   {map[string]any{"b": x}, `{"b":"` + x + `"}`, `note JSON ..."` + x[:18] + `\"}" -> ..."` + x[:18] + `\"}"`},
	} {
		if got := changesOf(map[string]any{"note": tt.from}, map[string]any{"note": tt.to}); got != tt.want {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
	}
	const added = `note added, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"...`
	if got := changesOf(nil, map[string]any{"note": x + "y"}); got != added {
		t.Errorf("%s\nwant %s", got, added)
	}
}

// TestCandidatesAreWords holds that the text names the tools that a goal may mean in a sentence, and not as members of a problem.
func TestCandidatesAreWords(t *testing.T) {
	t.Parallel()
	e := Envelope{Status: StatusStopped, StopReason: "goal_unclear", Problems: []document.Problem{
		{Reason: "candidate", Got: document.Got("book")}, {Reason: "candidate", Got: document.Got("a b")},
	}}
	const want = "\nPROBLEMS\nThese came nearest: book; \"a b\". If you mean one of them, write its name or words of its description in the request."
	if text := string(e.text(nil, nil)); !strings.Contains(text, want) || strings.Contains(text, "candidate") {
		t.Errorf("%q is not in %s", want, text)
	}
}
