package catalog_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
)

func compiled(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	s, err := catalog.CompileSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A doubt is settled by a read that exists and is asked for what it and the call have; anything else is a fault at start.
func TestReconcileIsChecked(t *testing.T) {
	tests := map[string]struct {
		change func(*catalog.Reconcile)
		want   string // "" for none
	}{
		"fits":                        {func(*catalog.Reconcile) {}, ""},
		"another tool":                {func(r *catalog.Reconcile) { r.Tool = "payed" }, `no tool "payed"`},
		"itself":                      {func(r *catalog.Reconcile) { r.Tool = "pay" }, "only a read"},
		"nothing tells":               {func(r *catalog.Reconcile) { r.Happened = nil }, "nothing tells"},
		"a time before":               {func(r *catalog.Reconcile) { r.Settle = -time.Second }, "0 or more"},
		"an argument of neither":      {func(r *catalog.Reconcile) { r.Args["id"] = "x" }, `"paid" has no argument "id"`},
		"an argument that pay lacks":  {func(r *catalog.Reconcile) { r.Args["key"] = "args.from" }, `no argument "from"`},
		"a text that is just a text":  {func(r *catalog.Reconcile) { r.Args["key"] = "effect" }, ""},
		"no arguments":                {func(r *catalog.Reconcile) { r.Args = nil }, ""},
		"an argument of another type": {func(r *catalog.Reconcile) { r.Args["key"] = 7.0 }, ""}, // the gate says so at the call
	}
	do := func(context.Context, catalog.Call) (any, error) { return nil, nil }
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &catalog.Reconcile{Tool: "paid", Args: map[string]any{"key": catalog.EffectKey}, Happened: func(any) (bool, bool) { return false, false }}
			tt.change(r)
			_, err := catalog.New(
				catalog.Tool{Name: "pay", Effect: catalog.Write, Reconcile: r, Do: do, Input: compiled(t, `{"type":"object","properties":{"to":{"type":"string"}}}`)},
				catalog.Tool{Name: "paid", Effect: catalog.Read, Do: do, Input: compiled(t, `{"type":"object","properties":{"key":{"type":"string"}}}`)},
			)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("New: %v, want no fault", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `tool "pay"`)):
				t.Errorf("New: %v, want %q about pay", err, tt.want)
			}
		})
	}
}

func TestArgsFor(t *testing.T) {
	r := catalog.Reconcile{Args: map[string]any{"key": "effect.key", "user": "args.user_id", "note": "args.note", "kind": "refund", "limit": 1.0, "all": true}}
	got := r.ArgsFor(map[string]any{"user_id": 42.0, "amount": 10.0}, "run_1/pay#1")
	want := map[string]any{"key": "run_1/pay#1", "user": 42.0, "kind": "refund", "limit": 1.0, "all": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ArgsFor, -want +got:\n%s", diff)
	}
}
