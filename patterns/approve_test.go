package patterns

import (
	"testing"

	"patterngate/gateway"
	"patterngate/ijson"
)

// The spellings of doubles in comments are the seeds' (spec/patterns.md section 1).
func TestFloatText(t *testing.T) {
	tests := map[string]float64{
		"800.0": 800, "0.0": 0, "0.01": 0.01, "0.0001": 0.0001, "2e-05": 2e-5, "1.5e-05": 1.5e-5,
		"1234567890123456.0": 1234567890123456, "1e+16": 1e16, "1e+22": 1e22, "999.995": 999.995,
	}
	for want, f := range tests {
		if got := floatText(f); got != want {
			t.Errorf("floatText(%v) = %q, want %q", f, got, want)
		}
	}
}

func TestApproverDecides(t *testing.T) {
	simulated := Approver{Kind: SimulatedApprover, CapUSD: 800}
	refund := func(amount float64) gateway.Action {
		return gateway.Action{Name: "issue_refund", Args: map[string]any{"user_id": 42.0, "amount_usd": amount}}
	}
	tests := map[string]struct {
		approver Approver
		action   gateway.Action
		want     Decision
	}{
		"the zero approver rejects": {Approver{}, refund(10), Decision{Comment: "rejected_by_human", By: "configuration", Channel: "none", Assurance: "none"}},
		"reject rejects what is no money": {Approver{Kind: RejectApprover}, gateway.Action{Name: "mail"},
			Decision{Comment: "rejected_by_human", By: "configuration", Channel: "none", Assurance: "none"}},
		"an unknown kind rejects": {Approver{Kind: "yes"}, refund(10), Decision{Comment: "rejected_by_human", By: "configuration", Channel: "none", Assurance: "none"}},
		"below the cap": {simulated, refund(799.999), Decision{Approved: true, Args: refund(800).Args, Comment: "approved_with_cap:799.999",
			By: "simulated", Channel: "simulated", Assurance: "simulated"}},
		"above the cap": {simulated, refund(1200), Decision{Approved: true, Args: refund(800).Args, Comment: "approved_with_cap:800.0",
			By: "simulated", Channel: "simulated", Assurance: "simulated"}},
		"a cap of nothing": {Approver{Kind: SimulatedApprover}, refund(1200), Decision{Comment: "invalid_requested_amount",
			By: "simulated", Channel: "simulated", Assurance: "simulated"}},
		"no money": {simulated, gateway.Action{Name: "mail", Args: map[string]any{"to": "x"}}, Decision{Approved: true, Args: map[string]any{"to": "x"},
			Comment: "approved_by_human", By: "simulated", Channel: "simulated", Assurance: "simulated"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tt.approver.Decide(tt.action)
			if !ijson.Equal(got.Value(), tt.want.Value()) {
				t.Errorf("Decide(%v) = %+v, want %+v", tt.action.Row(), got, tt.want)
			}
			if again := readDecision(got.Value()); !ijson.Equal(again.Value(), got.Value()) {
				t.Errorf("recorded and read again: %+v, want %+v", again, got)
			}
		})
	}
}

// What cannot be read is no decision, and no decision is no.
func TestUnreadableDecisionIsNo(t *testing.T) {
	for name, v := range map[string]any{
		"nothing": nil, "a text": "approved", "a number": 1.0, "approved as text": map[string]any{"approved": "true"},
		"approved in a list": []any{map[string]any{"approved": true}},
	} {
		if readDecision(v).Approved {
			t.Errorf("%s: %v was read as an approval", name, v)
		}
	}
}
