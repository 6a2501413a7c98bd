package execution

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// Calls of plans that are approved whole spend exactly one share of that approval, whatever pattern code hands to the engine.
func TestSharesThatNobodyApproved(t *testing.T) {
	j := newStore(t)
	schema, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	do := func(context.Context, catalog.Call) (any, error) { return nil, nil }
	tools, err := catalog.New(
		catalog.Tool{Name: "pay", Effect: catalog.Write, Input: schema, Do: do}, catalog.Tool{Name: "look", Effect: catalog.Read, Input: schema, Do: do},
	)
	if err != nil {
		t.Fatal(err)
	}
	const id = "ap_0123456789abcdef"
	n := map[string]any{"n": 1.0}
	plan := planning.Envelope{Plan: "plan_0123456789abcdef", Revision: 1, Steps: []planning.EnvelopeStep{
		planning.NewEnvelopeStep(planning.Subtask{ID: "a", Tool: "pay", Args: n}, tools),
		planning.NewEnvelopeStep(planning.Subtask{ID: "b", Tool: "pay", Args: map[string]any{"n": 2.0}}, tools),
	}}
	asks := func(k patterns.ApproverKind, r patterns.RequireApproval) patterns.Spec {
		return patterns.Spec{Kind: gateway.Planning, Approver: patterns.Approver{Kind: k}, Envelope: r}
	}
	inbox := asks(patterns.InboxApprover, patterns.RequireWrite)
	for name, tt := range map[string]struct {
		spec            patterns.Spec
		tool            string
		args            map[string]any
		approval, share string
		call            bool   // the question is about a call, not a plan
		spent           string // what has spent share a
		expired         bool
		want            string
	}{
		"as approved":                {inbox, "pay", n, id, "a", false, "", false, ""},
		"made once more":             {inbox, "pay", n, id, "a", false, "pg_own", false, ""},
		"spent by another":           {inbox, "pay", n, id, "a", false, "pg_other", false, gateway.ApprovalConsumed},
		"another's is spent":         {inbox, "pay", map[string]any{"n": 2.0}, id, "b", false, "pg_other", false, ""},
		"another step's arguments":   {inbox, "pay", n, id, "b", false, "", false, gateway.ApprovalInvalid},
		"no step":                    {inbox, "pay", n, id, "c", false, "", false, gateway.ApprovalInvalid},
		"no share":                   {inbox, "pay", n, id, "", false, "", false, gateway.ApprovalInvalid},
		"a share of a call":          {inbox, "pay", n, id, "a", true, "", false, gateway.ApprovalInvalid},
		"too late":                   {inbox, "pay", n, id, "a", false, "", true, gateway.ApprovalExpired},
		"nobody's":                   {inbox, "pay", n, "", "", false, "", false, gateway.ApprovalInvalid},
		"nobody's, of every plan":    {asks(patterns.InboxApprover, ""), "pay", n, "", "", false, "", false, gateway.ApprovalInvalid},
		"nobody's, and it reads":     {inbox, "look", n, "", "", false, "", false, ""},
		"nobody's, and none is due":  {asks(patterns.InboxApprover, patterns.RequireNone), "pay", n, "", "", false, "", false, ""},
		"nobody's, who stands in is": {asks(patterns.SimulatedApprover, patterns.RequireWrite), "pay", n, "", "", false, "", false, ""},
	} {
		g := gateway.NewGate(gateway.Config{Catalog: tools, Execution: tools.Names(), Budget: gateway.NoBudget()})
		p, stop := g.Admit(gateway.Proposal{Tool: tt.tool, Args: tt.args})
		if stop != nil {
			t.Fatal(stop)
		}
		p = g.Share(p, tt.approval, tt.share)
		r := &Run{RunID: "run_0123456789abcdef", N: 1, Job: patterns.Job{Spec: tt.spec}, Backing: &Stored{Journal: j}}
		b := &branch{Life: &Life{Run: r}}
		until := time.Now().Add(time.Hour)
		if tt.expired {
			until = time.Now()
		}
		q := gateway.Question{Run: r.RunID, Step: "approve_plan#1", Tool: "plan_execute", Args: plan.Value(), Expires: until.UTC().Truncate(time.Second)}
		b.people.questions = map[string]*patterns.Waiting{id: {Approval: id, Question: q, WholePlan: !tt.call}}
		said := gateway.Answered(id, q, gateway.ChooseApprove, nil)
		said.By, said.At = "local:1", time.Now().Add(-time.Minute).UTC().Truncate(time.Second)
		ap, _ := journal.ApprovalNumber(id)
		alter(t, j, "DELETE FROM approvals")
		alter(t, j, "DELETE FROM plan_shares")
		asked := store.AddQuestion{Approval: ap, Run: 1, Seq: 1, Rule: "ask", Digest: q.Digest(), Expires: q.Expires.UnixMicro(), Shown: []byte("{}")}
		change(t, j, &store.Change{Steps: []store.Step{asked}})
		alter(t, j, "UPDATE approvals SET state = 'taken', answer = ?", said.Object())
		if tt.spent != "" {
			alter(t, j, "INSERT INTO plan_shares (ap, share, once) VALUES (?,?,?)", ap, "a", tt.spent)
		}
		if got := b.ungranted("a#1/"+tt.tool+"#1", "pg_own", p, false); got != tt.want {
			t.Errorf("%s: ungranted = %q, want %q", name, got, tt.want)
		}
	}
}
