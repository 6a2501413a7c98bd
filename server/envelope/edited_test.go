package envelope

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/document"
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
	changed := &patterns.HumanApproval{Approved: true, RevisedAction: revised}
	for name, tt := range map[string]struct {
		human *patterns.HumanApproval
		told  bool
	}{
		"nobody was asked": {nil, false},
		"approved":         {&patterns.HumanApproval{Approved: true}, false},
		"not approved":     {&patterns.HumanApproval{RevisedAction: revised}, false},
		"changed nothing":  {&patterns.HumanApproval{Approved: true, RevisedAction: gateway.Action{Name: "lend", Args: proposed}.Row()}, false},
		"changed":          {changed, true},
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
