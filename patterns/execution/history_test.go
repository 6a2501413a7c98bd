package execution

import (
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// Of a run that cannot be replayed an act that was tried again is one call, and what was done before is not told as done here.
func TestLedgerOfARecord(t *testing.T) {
	h := &History{past: map[string]*memory{}}
	enter := func(order int, key, effect, once string, out patterns.Outcome) {
		out.Order = order
		h.past[key] = &memory{intent: &journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay", Effect: effect, Once: once, Input: []byte(`{}`)}, outcome: out}
	}
	enter(1, "pay#1", "write", "a", patterns.Outcome{State: patterns.Unknown})
	enter(2, "pay#2", "write", "a", patterns.Outcome{State: patterns.OK})
	enter(3, "pay#3", "write", "a", patterns.Outcome{State: patterns.OK, Duplicate: true})
	enter(4, "pay#4", "read", "a", patterns.Outcome{State: patterns.OK})
	enter(5, "pay#5", "write", "b", patterns.Outcome{State: patterns.Unknown})
	counted := 0
	list := h.Ledger()
	for _, e := range list {
		if e.Counts() && e.Effect == "write" {
			counted++
		}
	}
	if len(list) != 4 || list[0].Key != "pay#1" || list[0].Status != gateway.Finished || !list[1].Duplicate || list[3].Status != gateway.InDoubt || counted != 2 {
		t.Errorf("%d count of %+v", counted, list)
	}
}
