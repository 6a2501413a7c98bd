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
		"fits":            {func(*catalog.Reconcile) {}, ""},
		"another tool":    {func(r *catalog.Reconcile) { r.Tool = "payed" }, `no tool "payed"`},
		"itself":          {func(r *catalog.Reconcile) { r.Tool = "pay" }, "only a read"},
		"nothing decides": {func(r *catalog.Reconcile) { r.Happened = nil }, "nothing decides"},
		"a time before":   {func(r *catalog.Reconcile) { r.Settle = -time.Second }, "0 or more"},
		"nothing asks":    {func(r *catalog.Reconcile) { r.Args = nil }, "are missing"},
	}
	do := func(context.Context, catalog.Call) (any, error) { return nil, nil }
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &catalog.Reconcile{Tool: "paid", Args: catalog.ArgsFrom(map[string]any{"key": catalog.EffectKey}), Happened: func(catalog.Doubt, any) (bool, bool) { return false, false }}
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

// A table names what the call and the look-up have; another name is a fault at start.
func TestCheckArgs(t *testing.T) {
	call := catalog.Tool{Name: "pay", Input: compiled(t, `{"type":"object","properties":{"to":{"type":"string"}}}`)}
	look := catalog.Tool{Name: "paid", Input: compiled(t, `{"type":"object","properties":{"key":{"type":"string"}}}`)}
	tests := map[string]struct {
		table map[string]any
		want  string // "" for none
	}{
		"the key":                     {map[string]any{"key": catalog.EffectKey}, ""},
		"the call's argument":         {map[string]any{"key": "args.to"}, ""},
		"nothing":                     {nil, ""},
		"a text that is just a text":  {map[string]any{"key": "effect"}, ""},
		"an argument of another type": {map[string]any{"key": 7.0}, ""}, // the gate says so at the call
		"an argument of neither":      {map[string]any{"id": "x"}, `"paid" has no argument "id"`},
		"an argument that pay lacks":  {map[string]any{"key": "args.from"}, `no argument "from"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := catalog.CheckArgs(tt.table, call, look)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("CheckArgs: %v, want %q", err, tt.want)
			}
		})
	}
}

func TestArgsFrom(t *testing.T) {
	make := catalog.ArgsFrom(map[string]any{"key": "effect.key", "user": "args.user_id", "note": "args.note", "kind": "refund", "limit": 1.0, "all": true})
	got, err := make(catalog.Doubt{Key: "run_1/pay#1", Args: map[string]any{"user_id": 42.0, "amount": 10.0}})
	want := map[string]any{"key": "run_1/pay#1", "user": 42.0, "kind": "refund", "limit": 1.0, "all": true}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ArgsFrom: %v, -want +got:\n%s", err, diff)
	}
}
