package server_test

import (
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns/llm/offline"
)

// A run that waits takes what fits it and nothing else; whatever is sent, the answer says how it stands.
func TestContinuations(t *testing.T) {
	pay := object{"kind": "tool", "name": "pay", "args": object{}}
	tests := map[string]struct {
		sent    object // besides run_id
		status  string
		reason  string
		problem string // pointer and reason of the first
		next    string
		isError bool

		problems int // in all; 0: not looked at
	}{
		"nothing":             {sent: object{}, status: "stopped", reason: "invalid_request:missing:actions", problem: "/actions missing:actions", next: "fix_and_retry", isError: true},
		"no actions":          {sent: object{"actions": []any{}}, status: "waiting", problem: "/actions not_taken", next: "call"},
		"a turn answered":     {sent: object{"turn": 1, "actions": []any{closing}}, status: "waiting", problem: "/turn not_taken", next: "call"},
		"a turn to come":      {sent: object{"turn": 3, "actions": []any{closing}}, status: "waiting", problem: "/turn not_taken", next: "call"},
		"a huge turn":         {sent: object{"turn": 9007199254740991, "actions": []any{closing}}, status: "waiting", problem: "/turn not_taken", next: "call"},
		"no turn":             {sent: object{"turn": 0, "actions": []any{closing}}, status: "stopped", reason: "invalid_request:limit:turn", problem: "/turn limit:turn", next: "fix_and_retry", isError: true},
		"a turn in words":     {sent: object{"turn": "two", "actions": []any{closing}}, status: "stopped", reason: "invalid_request:type:turn", problem: "/turn type:turn", next: "fix_and_retry", isError: true},
		"the same goal":       {sent: object{"goal": goalOf(gateway.Supervisor)["goal"], "turn": 2, "actions": []any{closing}}, status: "ok", reason: "success", next: "answer_user"},
		"another goal":        {sent: object{"goal": "x", "actions": []any{closing}}, status: "stopped", reason: "invalid_request:mismatch:goal", problem: "/goal mismatch:goal", next: "fix_and_retry", isError: true},
		"a goal of a type":    {sent: object{"goal": object{}, "actions": []any{closing}}, status: "stopped", reason: "invalid_request:type:goal", problem: "/goal type:goal", next: "fix_and_retry", isError: true, problems: 1},
		"another tool's goal": {sent: object{"ticket": "x", "actions": []any{closing}}, status: "stopped", reason: "invalid_request:unknown_field:ticket", problem: "/ticket unknown_field:ticket", next: "fix_and_retry", isError: true, problems: 1},
		"actions in a text":   {sent: object{"actions": `[{"kind":"final","answer":"Done."}]`}, status: "ok", reason: "success", next: "answer_user"},
		"a tool there is not": {sent: object{"actions": []any{pay}}, status: "waiting", problem: "/actions/0/name unknown_tool:pay", next: "fix_and_retry"},
		"one bad of two":      {sent: object{"actions": []any{closing, pay}}, status: "waiting", problem: "/actions/1/name unknown_tool:pay", next: "fix_and_retry"},
		"handed over":         {sent: object{"continue_with": "model"}, status: "ok", reason: "success", next: "answer_user"},
		"another word":        {sent: object{"continue_with": "you", "actions": []any{closing}}, status: "stopped", reason: "invalid_request:limit:continue_with", problem: "/continue_with limit:continue_with", next: "fix_and_retry", isError: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := open(t, specOf(t, gateway.Supervisor), offline.New(), time.Hour)
			defer c.close()
			first := c.call(toolOf(gateway.Supervisor), with(gateway.Supervisor, object{"actions": []any{lookUp}}), false)
			tt.sent["run_id"] = first.object["run_id"]
			r := c.call(toolOf(gateway.Supervisor), tt.sent, false)
			reason, _ := r.object["stop_reason"].(string)
			if r.object["status"] != tt.status || reason != tt.reason || r.IsError != tt.isError {
				t.Errorf("%v %q, error %t; want %s %q, %t", r.object["status"], reason, r.IsError, tt.status, tt.reason, tt.isError)
			}
			if got := firstProblem(r.object); got != tt.problem {
				t.Errorf("first problem %q, want %q", got, tt.problem)
			}
			if problems, _ := r.object["problems"].([]any); tt.problems > 0 && len(problems) != tt.problems {
				t.Errorf("problems %v, want %d", problems, tt.problems)
			}
			if next := r.object["next"].(object); next["action"] != tt.next {
				t.Errorf("next %v, want %s", next, tt.next)
			}
			if r.object["run_id"] != tt.sent["run_id"] {
				t.Errorf("run %v, want %v", r.object["run_id"], tt.sent["run_id"])
			}
		})
	}
}

func firstProblem(result object) string {
	problems, _ := result["problems"].([]any)
	if len(problems) == 0 {
		return ""
	}
	first := problems[0].(object)
	return first["pointer"].(string) + " " + first["reason"].(string)
}

// After the end of a continued run, the advice is a call that begins again with all that was sent, unless something
// was written.
func TestAdviceAfterContinuedRuns(t *testing.T) {
	tooMuch := act("issue_refund", object{"user_id": 42, "amount_usd": "ten", "reason": "r"})
	tests := map[string]struct {
		turns  []any // the actions of each turn
		reason string
		action string
		fill   string
		own    int // actions in next.arguments
	}{
		"refused three times":  {[]any{[]any{lookUp}, []any{tooMuch}, []any{tooMuch}, []any{tooMuch}}, "invalid_action:bad_arg_type:issue_refund:amount_usd", "fix_and_retry", "", 2},
		"blocked for a lookup": {[]any{[]any{}, []any{refund(10)}}, "supervisor_block:refund_requires_context", "call", "/actions", 2},
		"blocked after paying": {[]any{[]any{lookUp}, []any{refund(10)}, []any{refund(1900)}}, "supervisor_block:refund_exceeds_last_charge", "tell_user", "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := open(t, specOf(t, gateway.Supervisor), offline.New(), time.Hour)
			defer c.close()
			r := c.call(toolOf(gateway.Supervisor), with(gateway.Supervisor, object{"actions": tt.turns[0]}), false)
			id := r.object["run_id"]
			for _, actions := range tt.turns[1:] {
				r = c.call(toolOf(gateway.Supervisor), object{"run_id": id, "actions": actions}, false)
			}
			next := r.object["next"].(object)
			if r.object["stop_reason"] != tt.reason || next["action"] != tt.action {
				t.Fatalf("%v, next %v; want %s and %s", r.object["stop_reason"], next, tt.reason, tt.action)
			}
			arguments, _ := next["arguments"].(object)
			own, _ := arguments["actions"].([]any)
			if len(own) != tt.own || arguments["run_id"] != nil || tt.own > 0 && arguments["goal"] == nil {
				t.Errorf("arguments %v, want a new run with %d actions", arguments, tt.own)
			}
			if fill, _ := next["fill"].([]any); tt.fill != "" && (len(fill) != 1 || fill[0] != tt.fill) {
				t.Errorf("fill %v, want %s", fill, tt.fill)
			}
		})
	}
}

// The text of a run that waits has its parts in the contract's order.
func TestWaitingText(t *testing.T) {
	c := open(t, specOf(t, gateway.Supervisor), offline.New(), time.Hour)
	defer c.close()
	r := c.call(toolOf(gateway.Supervisor), with(gateway.Supervisor, object{"actions": []any{lookUp}}), false)
	at := 0
	for _, part := range []string{"WAITING caller | supervised_refund | run_", "\nget_refund_context was approved (read_only_context) and done. Send the next action. 7 of 8 steps are left. The run waits until ",
		"\nNEXT {\"action\":\"call\"", "\nWAITING_FOR {\"kind\":\"caller\"", "\nOBSERVATIONS\nstep_1 get_refund_context"} {
		i := strings.Index(r.Content[0].Text[at:], part)
		if i < 0 {
			t.Fatalf("no %q after byte %d of\n%s", part, at, r.Content[0].Text)
		}
		at += i
	}
}

// The filled places are those of the newest call: each is a place in that call's arguments.
func TestFilledOfTheNewestCall(t *testing.T) {
	c := open(t, specOf(t, gateway.Supervisor), offline.New(), time.Hour)
	defer c.close()
	short := object{"name": "get_refund_context", "args": object{"user_id": 42}} // without kind
	r := c.call(toolOf(gateway.Supervisor), with(gateway.Supervisor, object{"actions": []any{short, short}}), false)
	id := r.object["run_id"]
	for _, turn := range []struct {
		actions []any
		filled  int
	}{{[]any{object{"name": "issue_refund", "args": object{"user_id": 42, "amount_usd": 10, "reason": "x"}}}, 1}, {[]any{"nonsense"}, 0}, {[]any{closing}, 0}} {
		r = c.call(toolOf(gateway.Supervisor), object{"run_id": id, "actions": turn.actions}, false)
		if filled, _ := r.object["filled"].([]any); len(filled) != turn.filled {
			t.Errorf("after %v filled is %v, want %d rows", turn.actions, filled, turn.filled)
		}
	}
}

// A caller that continues an unknown run is not told to begin it again: it may have done something.
func TestUnknownRunIsNotBegunAnew(t *testing.T) {
	c := open(t, specOf(t, gateway.Supervisor), offline.New(), time.Hour)
	defer c.close()
	r := c.call(toolOf(gateway.Supervisor), object{"goal": "x", "run_id": "run_0123456789abcdef", "actions": []any{lookUp}}, false)
	next := r.object["next"].(object)
	if r.object["stop_reason"] != "invalid_request:not_found:run_id" || !r.IsError || next["action"] != "call" || next["tool"] != "list_runs" {
		t.Errorf("%v, error %t, next %v", r.object["stop_reason"], r.IsError, next)
	}
}
