package operations

import (
	"context"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns"
)

// A name that only a pattern gives to its worker or route is not the name of a tool. A switch of that name would stop nothing.
func TestSwitchNamedAfterAWorker(t *testing.T) {
	schema, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	do := func(context.Context, catalog.Call) (any, error) { return nil, nil }
	tools, err := catalog.New(catalog.Tool{Name: "find_refund", Effect: catalog.Read, Input: schema, Do: do})
	if err != nil {
		t.Fatal(err)
	}
	view, err := tools.With(
		catalog.Tool{Name: "lookup", Of: "find_refund", Effect: catalog.Read, Input: schema, Do: do},
		catalog.Tool{Name: "desk", Of: "order_desk", Pattern: "order_desk", Goal: "goal", Server: catalog.PatternServer, Effect: catalog.Write, Input: schema},
		catalog.Tool{Name: "refund_order", Of: "refund_order", Pattern: "refund_order", Server: catalog.PatternServer, Effect: catalog.Write, Input: schema})
	if err != nil {
		t.Fatal(err)
	}
	specs := []patterns.Spec{{Name: "plain", Catalog: tools}, {Name: "report", Catalog: view}}
	for name, want := range map[string]string{
		"find_refund": "", "lookup": "--tool find_refund", "desk": "--pattern order_desk", "refund_order": "", "nobody": "",
	} {
		if got := aliasedIn(tools, specs, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
