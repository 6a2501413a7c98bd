package execution

import (
	"context"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

// A call that the policy escalated is made only with the approval of exactly its step, whatever pattern code gives to the
// engine.
func TestCallsThatNobodyApproved(t *testing.T) {
	j := newStore(t)
	permit := func(approval string) gateway.Permit {
		schema, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
		if err != nil {
			t.Fatal(err)
		}
		tools, err := catalog.New(catalog.Tool{Name: "pay", Effect: catalog.Write, Input: schema, Do: func(context.Context, catalog.Call) (any, error) { return nil, nil }})
		if err != nil {
			t.Fatal(err)
		}
		g := gateway.NewGate(gateway.Config{
			Catalog: tools, Execution: []string{"pay"}, Budget: gateway.DefaultBudget(gateway.Supervisor),
			Reviewer: gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"} }),
		})
		p, stop := g.Approved(gateway.Proposal{Tool: "pay"}, g.ReviewApproved(gateway.Case{Tool: "pay"}, approval))
		if stop != nil {
			t.Fatalf("not admitted: %+v", stop)
		}
		return p
	}
	const id, step = "ap_0123456789abcdef", "pay#1"
	for name, tt := range map[string]struct {
		kind     patterns.ApproverKind
		approval string
		asked    bool
		approved bool // and a person said yes
		key      string
		want     string
	}{
		"nobody was asked":             {patterns.InboxApprover, "", false, false, step, gateway.ApprovalInvalid},
		"somebody stands in":           {patterns.SimulatedApprover, "", false, false, step, ""},
		"by what nobody asked":         {patterns.InboxApprover, id, false, true, step, gateway.ApprovalInvalid},
		"by its own":                   {patterns.InboxApprover, id, true, true, step, ""},
		"by another step's":            {patterns.InboxApprover, id, true, true, "pay#2", gateway.ApprovalInvalid},
		"by what stands in no file":    {patterns.InboxApprover, id, true, false, step, gateway.ApprovalInvalid},
		"and without the inbox's kind": {patterns.SimulatedApprover, id, true, false, step, gateway.ApprovalInvalid},
	} {
		r := &Run{RunID: "run_0123456789abcdef", N: 1, Job: patterns.Job{Spec: patterns.Spec{Approver: patterns.Approver{Kind: tt.kind}}}, Backing: &Stored{Journal: j}}
		b := &branch{Life: &Life{Run: r}}
		p := permit(tt.approval)
		q := p.Question()
		q.Run, q.Step, q.Expires = r.RunID, step, time.Now().Add(time.Hour).UTC().Truncate(time.Second)
		if tt.asked {
			b.people.questions = map[string]*patterns.Waiting{id: {Approval: id, Question: q}}
		}
		ap, _ := journal.ApprovalNumber(id)
		alter(t, j, "DELETE FROM approvals")
		if tt.approved {
			said := gateway.Answered(id, q, gateway.ChooseApprove, nil)
			said.By, said.At = "local:1", time.Now().UTC().Truncate(time.Second)
			asked := store.AddQuestion{Approval: ap, Run: 1, Seq: 1, Rule: "ask", Digest: q.Digest(), Expires: q.Expires.UnixMicro(), Shown: []byte("{}")}
			change(t, j, &store.Change{Steps: []store.Step{asked}})
			alter(t, j, "UPDATE approvals SET state = 'taken', answer = ?", said.Object())
		}
		if got := b.ungranted(tt.key, onceKey(r.RunID, tt.key), p, false); got != tt.want {
			t.Errorf("%s: ungranted = %q, want %q", name, got, tt.want)
		}
	}
}
