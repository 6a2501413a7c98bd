package catalogcmd

import (
	"context"
	"testing"

	"patterngate/catalog"
)

// A pattern uses the tools of its workers, which have the pattern's names.
func TestPatternUsesTheToolsOfItsWorkers(t *testing.T) {
	schema, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	do := func(context.Context, catalog.Call) (any, error) { return nil, nil }
	all, err := catalog.New(
		catalog.Tool{Name: "get_book", Effect: catalog.Read, Input: schema, Do: do},
		catalog.Tool{Name: "get_shelf", Effect: catalog.Read, Input: schema, Do: do},
	)
	if err != nil {
		t.Fatal(err)
	}
	view, err := all.With(catalog.Tool{Name: "book", Of: "get_book", Effect: catalog.Read, Input: schema, Do: do})
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]bool{"get_book": true, "get_shelf": false} {
		if got := uses(view, []string{"book"}, tool); got != want {
			t.Errorf("uses %s: %t, want %t", tool, got, want)
		}
	}
}
