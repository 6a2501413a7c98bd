package record

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// The places of the events of a plan that is approved whole.
const (
	planStart = iota
	planAsked
	planDecided
	planLook
	planPay
	planAgain
	planEnd
)

// planScene is a plan of two steps that was approved whole and carried out; the second was made once more as the same act.
func planScene(t testing.TB) *scene {
	s := newScene(t, anna, anna.PublicKey)
	e := planning.Envelope{Plan: "plan_00000000000000a1", Revision: 1, Steps: []planning.EnvelopeStep{
		{ID: "look", Tool: "get_refund_context", Effect: catalog.Read, Schema: "sha256:5a", Args: map[string]any{"user_id": 42.0}},
		{
			ID: "pay", Tool: "issue_refund", Effect: catalog.Write, Schema: "sha256:5c", Args: map[string]any{"user_id": 42.0, "amount_usd": "$results.look./due"},
			Bounds: map[string]any{"/amount_usd": map[string]any{"type": "number", "minimum": 0.0, "maximum": 1000.0}},
		},
	}}
	s.question.Step, s.question.Tool, s.question.Schema, s.question.Args = "approve_plan#1", "plan_execute", "", e.Value()
	s.answer = gateway.Answered(s.answer.Approval, s.question, gateway.ChooseApprove, nil)
	s.answer.By, s.answer.Key, s.answer.At = "key:"+anna.ID, anna.ID, signedStart.Add(time.Hour)
	s.write()
	asked, decided := s.entries[atAsked], s.entries[atDecided]
	asked.key, decided.key = "approve_plan#1", "approve_plan#1"
	asked.body["name"] = patterns.ApprovePlan
	call := func(tool, effect, share, once string, input map[string]any) map[string]any {
		return map[string]any{
			"effect_kind": "tool", "name": tool, "effect": effect, "idempotency_key": once, "input": input, "grant": s.answer.Approval, "share": share,
			"verdict": map[string]any{"decision": "approve", "reason": "ok", "policy": "sha256:11"},
		}
	}
	pay := func() map[string]any {
		return call("issue_refund", "write", "pay", "pg_2", map[string]any{"user_id": 42.0, "amount_usd": 800.0})
	}
	s.entries = []entry{
		planStart: s.entries[atStart], planAsked: asked, planDecided: decided,
		planLook:  {3602, patterns.IntentEvent, "look#1/get_refund_context#1", call("get_refund_context", "read", "look", "pg_1", map[string]any{"user_id": 42.0})},
		planPay:   {3603, patterns.IntentEvent, "pay#1/issue_refund#1", pay()},
		planAgain: {90002, patterns.IntentEvent, "pay#2/issue_refund#1", pay()},
		planEnd:   {90004, patterns.EndEvent, "", map[string]any{"status": "ok", "stop_reason": "success", "usage": map[string]any{}}},
	}
	return s
}

// What spends the shares of an approved plan is exactly what was shown of its steps, each once.
func TestCheckPlan(t *testing.T) {
	body := func(at int, name string, v any) func(*scene) { return func(s *scene) { s.body(at)[name] = v } }
	in := func(at int, object, name string, v any) func(*scene) {
		return func(s *scene) { s.within(at, object)[name] = v }
	}
	const ok = "ok: 7 events"
	tests := map[string]struct {
		edit func(*scene)
		want string
	}{
		"as approved": {func(*scene) {}, ok},
		"another value within the bounds": {func(s *scene) {
			s.within(planPay, "input")["amount_usd"] = 999.0
			s.entries = slices.Delete(s.entries, planAgain, planEnd)
		}, "ok: 6 events"},
		"a value beyond the bounds":     {in(planPay, "input", "amount_usd", 1001.0), `broken: event 5: is not the step "pay" that ap_00000000000000a1 approved`},
		"of another type":               {in(planPay, "input", "amount_usd", "800"), `broken: event 5: is not the step "pay"`},
		"another value where one stood": {in(planPay, "input", "user_id", 7.0), `broken: event 5: is not the step "pay"`},
		"an argument more":              {in(planLook, "input", "note", "x"), `broken: event 4: is not the step "look"`},
		"an argument less":              {func(s *scene) { delete(s.within(planLook, "input"), "user_id") }, `broken: event 4: is not the step "look"`},
		"another tool":                  {body(planPay, "name", "wire_money"), `broken: event 5: is not the step "pay"`},
		"another policy":                {in(planPay, "verdict", "policy", "sha256:12"), `broken: event 5: is not the step "pay"`},
		"another step's share":          {body(planPay, "share", "look"), `broken: event 5: spends the share "look" of ap_00000000000000a1, which event 4 already spent`},
		"a share of no step":            {body(planPay, "share", "tip"), `broken: event 5: is not the step "tip"`},
		"no share":                      {func(s *scene) { delete(s.body(planPay), "share") }, "broken: event 5: spends ap_00000000000000a1, which is for the steps of a plan, but names no step"},
		"no grant": {func(s *scene) { delete(s.body(planPay), "grant"); delete(s.body(planPay), "share") },
			"broken: event 5: is a call of a plan that needed a person's approval, and spends no approval"},
		"a share without a grant": {func(s *scene) { delete(s.body(planPay), "grant") }, `broken: event 5: spends a share of "", which no person gave`},
		"a grant of another run":  {body(planPay, "grant", "ap_ffffffffffffffff"), `broken: event 5: spends a share of "ap_ffffffffffffffff", which no person gave in this run`},
		"spent twice":             {body(planAgain, "idempotency_key", "pg_3"), `broken: event 6: spends the share "pay" of ap_00000000000000a1, which event 5 already spent`},
		"spent after it had expired": {func(s *scene) {
			s.entries[planPay].seconds, s.entries[planAgain].seconds = 90000, 90001
		}, "broken: event 5: spends ap_00000000000000a1 after it expired"},
		"the question's steps": {func(s *scene) {
			s.within(planAsked, "object")["args"].(map[string]any)["steps"] = []any{}
		}, "broken: event 2: asks a person with the digest of another question"},
		"a question that says another count": {func(s *scene) {
			s.question.Args = maps.Clone(s.question.Args)
			s.question.Args["reserved"] = []any{}
			s.body(planAsked)["object"], s.body(planAsked)["digest"] = decoded(s.question.Object()), s.question.Digest()
		}, "broken: event 2: asks a person about a plan that is not this run's"},
		"a question about a call": {func(s *scene) {
			s.question.Step = "plan_execute#1"
			s.body(planAsked)["object"], s.body(planAsked)["digest"] = decoded(s.question.Object()), s.question.Digest()
		}, "broken: event 2: asks a person about a plan that is not this run's"},
		"as a call's question": {body(planAsked, "name", "approve"), "broken: event 4: spends a share of ap_00000000000000a1, which is for one call and not for a plan"},
		"redacted": {func(s *scene) {
			hidden := map[string]any{"$redacted": "sha256:" + strings.Repeat("ab", 32)}
			steps := s.within(planAsked, "object")["args"].(map[string]any)["steps"].([]any)
			steps[1].(map[string]any)["args"].(map[string]any)["user_id"] = hidden
			s.within(planPay, "input")["user_id"], s.within(planAgain, "input")["user_id"] = hidden, hidden
		}, ok},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := planScene(t)
			tt.edit(s)
			r := Check(s.evidence())
			if got := r.Lines()[0]; !strings.HasPrefix(got, tt.want) {
				t.Errorf("Check finds %q, want %s...", r.Lines(), tt.want)
			}
			if r.OK && r.Spent != 1 {
				t.Errorf("%d are spent, want 1", r.Spent)
			}
		})
	}
}
