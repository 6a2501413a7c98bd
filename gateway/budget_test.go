package gateway_test

import (
	"context"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
)

// How often the same call is admitted: of reads more where the budget says so, and what one tool's own limits leave open is as for
// every tool.
func TestSameCalls(t *testing.T) {
	no := gateway.NoBudget()
	budget := func(change func(b *gateway.Budget)) gateway.Budget {
		b := no
		change(&b)
		return b
	}
	tests := map[string]struct {
		budget gateway.Budget
		effect catalog.Effect
		want   int // of 5 that are the same
	}{
		"one of a write":               {gateway.OwnBudget(gateway.Supervisor), catalog.Write, 1},
		"one of what destroys":         {gateway.OwnBudget(gateway.Supervisor), catalog.Destructive, 1},
		"two of a read":                {gateway.OwnBudget(gateway.Supervisor), catalog.Read, 2},
		"a read of the built-in":       {gateway.DefaultBudget(gateway.Supervisor), catalog.Read, 1},
		"no limit":                     {no, catalog.Read, 5},
		"zero is none":                 {budget(func(b *gateway.Budget) { b.MaxSameCall = 0 }), catalog.Read, 0},
		"a figure for reads loosens":   {budget(func(b *gateway.Budget) { b.MaxSameCall, b.MaxSameRead = 1, 3 }), catalog.Read, 3},
		"it never narrows":             {budget(func(b *gateway.Budget) { b.MaxSameCall, b.MaxSameRead = 3, 1 }), catalog.Read, 3},
		"nor limits what has no limit": {budget(func(b *gateway.Budget) { b.MaxSameRead = 1 }), catalog.Read, 5},
		"the tool's own": {budget(func(b *gateway.Budget) {
			b.MaxSameCall, b.MaxSameRead = 1, 2
			b.PerTool = map[string]gateway.CallLimit{"act": {MaxCalls: gateway.AsOthers, MaxSameCall: 4}}
		}), catalog.Read, 4},
		"the tool's own calls": {budget(func(b *gateway.Budget) {
			b.MaxCallsPerTool, b.PerTool = 1, map[string]gateway.CallLimit{"act": {MaxCalls: 3, MaxSameCall: gateway.AsOthers}}
		}), catalog.Write, 3},
		"what it leaves open": {budget(func(b *gateway.Budget) {
			b.MaxSameCall, b.MaxSameRead = 1, 2
			b.PerTool = map[string]gateway.CallLimit{"act": {MaxCalls: 3, MaxSameCall: gateway.AsOthers}}
		}), catalog.Read, 2},
		"another tool's own": {budget(func(b *gateway.Budget) {
			b.MaxSameCall, b.PerTool = 1, map[string]gateway.CallLimit{"other": {MaxCalls: 3, MaxSameCall: 3}}
		}), catalog.Write, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tools := actingOn(t, tt.effect)
			g := gateway.NewGate(gateway.Config{Catalog: tools, Execution: []string{"act"}, Budget: tt.budget})
			admitted := 0
			for range 5 {
				if _, stop := g.Admit(gateway.Proposal{Tool: "act", Args: map[string]any{}}); stop == nil {
					admitted++
				} else if word, _, _ := strings.Cut(stop.Reason, ":"); word != "loop_detected" {
					t.Fatalf("Admit: %v, want loop_detected", stop)
				}
			}
			if admitted != tt.want {
				t.Errorf("admitted %d of 5, want %d", admitted, tt.want)
			}
		})
	}
}

// actingOn is a catalog of one tool that takes nothing.
func actingOn(t *testing.T, effect catalog.Effect) *catalog.Catalog {
	t.Helper()
	input, err := catalog.CompileSchema([]byte(`{"type":"object","additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(catalog.Tool{Name: "act", Effect: effect, Input: input, Do: func(context.Context, catalog.Call) (any, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
