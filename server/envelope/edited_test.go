package envelope

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/gateway"
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
