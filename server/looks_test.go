package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/patterns"
)

// A look at a run that ended shows what the call that ended it saw, its advice included, whichever turn brought
// the fault.
func TestEndedRunsLookTheSame(t *testing.T) {
	lookUp := `{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}`
	near := `{"kind":"tool","name":"issue_refnd","args":{}}`
	ticket := `"ticket":"My invoice is wrong, refund me","finalize":false`
	tests := map[string]struct {
		tool  string
		turns []string // the first has the run's own arguments
	}{
		"refused at the start":           {sv, []string{`"goal":"x","actions":[` + lookUp + `,` + near + `]`}},
		"refused at the start in a text": {sv, []string{`"goal":"x","actions":` + mustJSON(`[`+near+`]`)}},
		"refused at a turn": {sv, []string{`"goal":"x","actions":[` + lookUp + `]`,
			`"actions":[` + near + `]`, `"actions":[` + near + `]`, `"actions":[` + lookUp + `,` + near + `]`}},
		"blocked at a turn": {sv, []string{`"goal":"x","actions":[]`, `"actions":[{"kind":"final","answer":"Done."}]`}},
		"a bad argument of a later route": {"route_ticket", []string{ticket + `,"route":{"target":"technical_specialist"}`,
			`"route":{"target":"billing_specialist","args":{"tiket":1}}`}},
		"a later route refused": {"route_ticket", []string{ticket + `,"route":{"target":"technical_specialist"}`,
			`"route":{"target":"pay"}`, `"route":{"target":"pay"}`, `"route":{"target":"billing_specialst"}`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := connect(t, serving(t))
			var ended map[string]any
			for i, turn := range tt.turns {
				if i > 0 {
					turn += fmt.Sprintf(`,"run_id":%q`, ended["run_id"])
				}
				ended = c.call(tt.tool, "{"+turn+"}").result(t).Structured
			}
			if ended["status"] != "stopped" {
				t.Fatalf("the run is %v, want it stopped: %v", ended["status"], ended)
			}
			var seen map[string]any
			text := contents(t, c.ask("legacy", "resources/read", fmt.Sprintf(`{"uri":%q}`, runsURI+ended["run_id"].(string))))
			if err := json.Unmarshal([]byte(text), &seen); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(ended, seen); diff != "" {
				t.Errorf("the resource differs from the call's result (-call +resource):\n%s", diff)
			}
		})
	}
}

// overtaken is an engine in which another call is always quicker.
type overtaken struct{ patterns.Engine }

func (overtaken) Continue(context.Context, patterns.Continuation) (patterns.Ended, error) {
	return patterns.Ended{}, patterns.ErrNotTaken
}

// A continuation that came second, of a run that waits for the same turn again, is told so and not of faults that it does
// not have.
func TestOvertakenContinuation(t *testing.T) {
	c := connect(t, serving(t, func(c *Config) { c.Engine = overtaken{c.Engine} }))
	id := c.call(sv, startRefund).result(t).Structured["run_id"]
	for _, more := range []string{"", `,"turn":2`} {
		r := c.call(sv, fmt.Sprintf(`{"run_id":%q,"actions":[{"kind":"final","answer":"Done."}]%s}`, id, more)).result(t).Structured
		problem := r["problems"].([]any)[0].(map[string]any)
		if r["status"] != "waiting" || problem["pointer"] != "/run_id" || !strings.Contains(problem["want"].(string), "another call continued this one first") {
			t.Errorf("%s: status %v, problem %v", more, r["status"], problem)
		}
	}
}

// What a caller proposed before it handed over is not told as the model's.
func TestSummaryNamesAllProposers(t *testing.T) {
	goal := `"goal":"Refund user_id=42 the 500 USD and confirm it by email.","continue_with":"model","actions":`
	for actions, want := range map[string]string{
		`[]`: "3 actions by the offline rules were carried out",
		`[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}]`:                                        "3 actions by the caller and the offline rules were carried out",
		`[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}},{"kind":"final","answer":"Looked up."}]`: "1 action by the caller was carried out",
	} {
		r := connect(t, serving(t)).call(sv, "{"+goal+actions+"}").result(t).Structured
		if summary := r["summary"].(string); !strings.HasPrefix(summary, want) {
			t.Errorf("after %s: %q, want %q", actions, summary, want)
		}
	}
}

// A continuation that came second resumes nothing, and no line says so.
func TestResumedOnce(t *testing.T) {
	var lines logBuffer
	c := connect(t, serving(t, logging(&lines), func(c *Config) { c.Engine = overtaken{c.Engine} }))
	id := c.call(sv, startRefund).result(t).Structured["run_id"]
	c.call(sv, fmt.Sprintf(`{"run_id":%q,"actions":[{"kind":"final","answer":"Done."}]}`, id))
	if resumed := lines.lines(t, "run resumed"); len(resumed) > 0 {
		t.Errorf("logged %v, want nothing", resumed)
	}
}
