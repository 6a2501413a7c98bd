package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/sentence"
)

// TestNextAfterStops is the table of spec/surface.md sections 1 and 4 for what it says beyond one word.
func TestNextAfterStops(t *testing.T) {
	all := shapes(t)
	type want struct {
		action  string
		fill    string // pointers
		changed string // pointers
		say     []string
		args    string // canonical JSON; "": not compared
	}
	for name, want := range map[string]want{
		"ok_plan_by_caller":      {action: envelope.ActionAnswer},
		"ok_supervised":          {action: envelope.ActionAnswer},
		"refused_plan_of_caller": {action: envelope.ActionFix, changed: "/plan/steps/1/tool"},
		"refused_plan_as_text": {
			action: envelope.ActionFix, say: []string{"/plan/steps/1/note: remove it or use a known name", "/plan/steps/2/title: must be a text"},
		},
		"refused_plan_of_model": {
			action: envelope.ActionCall, fill: "/plan", say: []string{"your own plan"},
			args: `{"goal":"April report","plan":{"steps":[{"args":{},"id":"step_1","title":"","tool":""}]}}`,
		},
		"refused_route_of_rules": {action: envelope.ActionCall, fill: "/route", args: `{"route":{"target":""},"ticket":"x"}`},
		"refused_no_json":        {action: envelope.ActionCall, fill: "/actions"},
		"route_reroute_to_same":  {action: envelope.ActionCall, fill: "/route", say: []string{"sales_specialist"}},
		"route_bad_observation":  {action: envelope.ActionTell, say: []string{`other than "done" and "needs_reroute"`}},
		"route_denied":           {action: envelope.ActionFix, fill: "/route/target"},
		"blocked_needs_context": {
			action: envelope.ActionCall, fill: "/actions", say: []string{"get_refund_context"},
			args: `{"actions":[{"args":{"user_id":42},"kind":"tool","name":"get_refund_context"},` +
				`{"args":{"amount_usd":1200,"user_id":42},"kind":"tool","name":"issue_refund"},{"answer":"","kind":"final"}],"goal":"x"}`,
		},
		"blocked_caller_needs_before": {
			action: envelope.ActionCall, fill: "/actions",
			args: `{"actions":[{"args":{"user_id":42},"kind":"tool","name":"get_refund_context"},` +
				`{"args":{"amount_usd":1200,"user_id":42},"kind":"tool","name":"issue_refund"},{"answer":"y","kind":"final"}],"goal":"x"}`,
		},
		"blocked_after_payment":       {action: envelope.ActionTell, say: []string{"Done: refunding 800.00 USD to user 42.", "Not done: emailing user 42"}},
		"human_rejected":              {action: envelope.ActionTell, say: []string{"without asking", "Nothing was written"}},
		"caller_expired":              {action: envelope.ActionCall, fill: "/actions"},
		"caller_expired_after_refund": {action: envelope.ActionTell, say: []string{"Done: refunding 800.00 USD to user 42."}},
		"loop_with_actions_left":      {action: envelope.ActionTell, say: []string{"Done: refunding 1200.00 USD", "(step 3)", "(step 4)"}},
		"model_down_after_refund":     {action: envelope.ActionTell, say: []string{"Done: refunding 800.00 USD to user 42."}},
		"model_down_in_plan":          {action: envelope.ActionCall, fill: "/plan"},
		"model_down_in_finalize":      {action: envelope.ActionAnswer},
		"tool_error":                  {action: envelope.ActionTell, say: []string{"tool_error:breaks", "Not done: mean (step s3)"}},
		"write_fails_no_more":         {action: envelope.ActionTell, say: []string{"Done: pay.", "Not done: pay (step s3)."}},
		"tool_bad_args_of_caller":     {action: envelope.ActionFix, say: []string{"/plan/steps/0/args/extra: remove it or use a known name"}},
		"max_execute_steps":           {action: envelope.ActionFix, fill: "/plan/steps"},
		"max_tool_calls":              {action: envelope.ActionTell, say: []string{"Not done: fetch_refund_data (step step_3)"}},
		"critical_task_failed":        {action: envelope.ActionTell, say: []string{"inventory_worker for task t3"}},
		"goal_incomplete":             {action: envelope.ActionTell, say: []string{"Which month (YYYY-MM) is the report about?"}},
		"route_unclear":               {action: envelope.ActionTell, say: []string{"billing_specialist; sales_specialist?"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, ended := all[name].carriedOut(t)
			n := outcome.Ended(c, ended).Next
			var changed, fill []string
			for _, row := range n.Changed {
				changed = append(changed, string(row.Pointer))
			}
			for _, at := range n.Fill {
				fill = append(fill, string(at))
			}
			if n.Action != want.action || strings.Join(fill, " ") != want.fill || strings.Join(changed, " ") != want.changed {
				t.Errorf("got %s, fill %v, changed %v; want %s, fill %v, changed %v", n.Action, fill, changed, want.action, want.fill, want.changed)
			}
			for _, words := range want.say {
				if !strings.Contains(n.Say, words) {
					t.Errorf("say is %q, want it to hold %q", n.Say, words)
				}
			}
			if got := string(ijson.Canonical(any(n.Arguments))); want.args != "" && got != want.args {
				t.Errorf("arguments\n%s\nwant\n%s", got, want.args)
			}
			holds(t, n)
		})
	}
}

// failer is a test, or a try of a property.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// holds checks what is true of every advice: a place to fill is there, and only calls have a tool.
func holds(t failer, n envelope.Next) {
	t.Helper()
	calls := n.Action == envelope.ActionCall || n.Action == envelope.ActionFix
	switch {
	case calls != (n.Tool != ""):
		t.Errorf("%s with tool %q", n.Action, n.Tool)
	case n.Action == envelope.ActionFix && n.Fill == nil && (n.Say == "" || n.Arguments != nil || n.Changed != nil):
		t.Errorf("%s without fill says what to decide and has no arguments; got %+v", n.Action, n)
	case n.Action == envelope.ActionFix && n.Fill != nil && n.Changed == nil:
		t.Errorf("%s without changed: %+v", n.Action, n)
	case n.Action == envelope.ActionTell && n.Say == "":
		t.Errorf("%s says nothing", n.Action)
	case !calls && (n.Arguments != nil || n.Changed != nil || n.Fill != nil):
		t.Errorf("%s has what only calls have: %+v", n.Action, n)
	}
	for _, at := range n.Fill {
		if _, there := at.In(n.Arguments); !there && n.Arguments != nil {
			t.Errorf("fill %q points to nothing in %s", at, ijson.Canonical(n.Arguments))
		}
	}
}

// advised are the actions that a row of the registry may come to.
var advised = map[stopreason.Next][]string{
	stopreason.NextAnswer:    {envelope.ActionAnswer},
	stopreason.NextFix:       {envelope.ActionFix},
	stopreason.NextTell:      {envelope.ActionTell},
	stopreason.NextFixOrCall: {envelope.ActionFix, envelope.ActionCall},
	stopreason.NextFixOrTell: {envelope.ActionFix, envelope.ActionTell},
	stopreason.NextCallOrAns: {envelope.ActionCall, envelope.ActionAnswer},
	stopreason.NextCallOrTel: {envelope.ActionCall, envelope.ActionTell},
	stopreason.NextOfBlock:   {envelope.ActionCall, envelope.ActionFix, envelope.ActionTell},
}

// TestNextKeepsToTheRegistry puts together every stop of the registry, by caller and by model, before and after
// something was written.
func TestNextKeepsToTheRegistry(t *testing.T) {
	t.Parallel()
	names := strings.NewReplacer("step_I", "step_2", "T.A", "fetch_sales_data.month", "N:A", "issue_refund:reason", ":T", ":pay", ":N", ":pay", "_block:R", "_block:run_cap", "error:R", "error:run_cap")
	for _, row := range stopreason.All() {
		for _, place := range row.Places {
			if place.Kind == gateway.Planning { // what it advises goes by its own table: TestPlanNext
				continue
			}
			for _, phase := range place.Phases {
				for i := range 4 {
					if row.Task || phase == patterns.PhaseRequest {
						continue
					}
					byCaller, wrote := i&1 == 1, i&2 == 2
					reason := names.Replace(row.Name)
					t.Run(fmt.Sprintf("%s %s %s %t %t", place.Kind, phase, reason, byCaller, wrote), func(t *testing.T) {
						keepsTo(t, row, madeUp(t, place.Kind, reason, phase, byCaller, wrote), wrote)
					})
				}
			}
		}
	}
}

func keepsTo(t *testing.T, row stopreason.Reason, e envelope.Envelope, wrote bool) {
	t.Helper()
	holds(t, e.Next)
	may := advised[row.Next]
	if wrote {
		may = []string{envelope.ActionTell, envelope.ActionAnswer} // the latter only where just the final text is missing
	}
	if !slices.Contains(may, e.Next.Action) {
		t.Errorf("got %s, want one of %v", e.Next.Action, may)
	}
	if wrote && e.Next.Action == envelope.ActionTell && !strings.Contains(e.Next.Say, "Done: refunding 5.00 USD to user 42") {
		t.Errorf("say is %q, want it to name what was done", e.Next.Say)
	}
	for _, s := range []string{e.Summary, e.Next.Say} {
		if n := utf8.RuneCountInString(s); n > sentence.MaxLength || strings.ContainsAny(s, "\n") {
			t.Errorf("%d characters in %q, want one paragraph of at most %d", n, s, sentence.MaxLength)
		}
	}
	if !strings.Contains(e.Summary, "phase "+e.Phase) {
		t.Errorf("summary %q does not name phase %s", e.Summary, e.Phase)
	}
}

// madeUp is a result put together by hand.
func madeUp(t testing.TB, kind gateway.Kind, reason, phase string, byCaller, wrote bool) envelope.Envelope {
	t.Helper()
	arguments := `{"goal":"x"}`
	if byCaller {
		arguments = map[gateway.Kind]string{
			gateway.TaskDecomposition: fiveSteps, gateway.Orchestrator: `{"goal":"x","plan":{"tasks":[]}}`,
			gateway.Routing: `{"ticket":"x","route":{"target":"y"}}`, gateway.Supervisor: `{"goal":"x","actions":[{"name":"issue_refund"}]}`,
			gateway.Call: `{"user_id":42,"amount_usd":5,"reason":"x"}`,
		}[kind]
	}
	c, _ := sent{kind: kind, arguments: arguments}.taken(t)
	r := patterns.Result{StopReason: reason, Phase: phase, ByCall: byCaller, Trace: []any{}, History: []any{}}
	if strings.HasPrefix(reason, "invalid_") {
		r.RawName = map[gateway.Kind]string{gateway.Routing: "raw_route", gateway.Supervisor: "raw_action"}[kind]
		if r.RawName == "" {
			r.RawName = "raw_plan"
		}
		r.Problems = []document.Problem{{Pointer: "/plan", Reason: "x"}}
	}
	if wrote {
		r.Ledger = append(r.Ledger, gateway.Entry{
			Key: "issue_refund#1", Tool: "issue_refund", Effect: catalog.Write, Status: gateway.Finished,
			Args: map[string]any{"user_id": 42.0, "amount_usd": 5.0},
		})
	}
	began := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	return outcome.Ended(c, patterns.Ended{RunID: "run_1", Result: r, Began: began, Ended: began})
}

// TestWritesThatAreNotKnown: what may have happened is told as such, whatever its state.
func TestWritesThatAreNotKnown(t *testing.T) {
	for status, want := range map[gateway.EffectStatus]struct{ words, action string }{
		gateway.Finished: {"Done: refunding 5.00 USD to user 42.", envelope.ActionTell},
		gateway.InDoubt:  {"Outcome unknown: refunding 5.00 USD to user 42.", envelope.ActionTell},
		gateway.Reserved: {"Started, outcome unknown: refunding 5.00 USD to user 42.", envelope.ActionTell},
		gateway.Failed:   {"Failed: refunding 5.00 USD to user 42.", envelope.ActionCall},
	} {
		c, _ := sent{kind: gateway.Supervisor, arguments: `{"goal":"x"}`}.taken(t)
		e := outcome.Ended(c, patterns.Ended{Result: patterns.Result{
			StopReason: "llm_timeout", Phase: "worker", Ledger: []gateway.Entry{{
				Tool: "issue_refund", Effect: catalog.Write, Status: status, Args: map[string]any{"user_id": 42.0, "amount_usd": 5.0},
			}},
		}})
		if !strings.Contains(e.Summary, want.words) || e.Next.Action != want.action {
			t.Errorf("%s: got %s, %q; want %s, %q", status, e.Next.Action, e.Summary, want.action, want.words)
		}
	}
}
