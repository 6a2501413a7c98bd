package catalog_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
)

func valid(t *testing.T, name string) catalog.Tool {
	return catalog.Tool{
		Name: name, Effect: catalog.Read, Input: schemaOf[order](t),
		Do: func(context.Context, catalog.Call) (any, error) { return nil, nil },
	}
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		change func(*catalog.Tool)
		want   string
	}{
		"no name":             {func(t *catalog.Tool) { t.Name = "" }, "1 to 64"},
		"name with a blank":   {func(t *catalog.Tool) { t.Name = "a b" }, "1 to 64"},
		"name of 65":          {func(t *catalog.Tool) { t.Name = strings.Repeat("a", 65) }, "1 to 64"},
		"name with a line":    {func(t *catalog.Tool) { t.Name = "a\n" }, "1 to 64"},
		"final":               {func(t *catalog.Tool) { t.Name = "final" }, "is reserved"},
		"no effect":           {func(t *catalog.Tool) { t.Effect = "" }, "effect"},
		"other effect":        {func(t *catalog.Tool) { t.Effect = "READ" }, "effect"},
		"no input":            {func(t *catalog.Tool) { t.Input = nil }, "input schema"},
		"no function to call": {func(t *catalog.Tool) { t.Do = nil }, "no function to call"},
		"phrase with a text":  {func(t *catalog.Tool) { t.Phrase = "at {month}" }, "{month}"},
		"deed of two words":   {func(t *catalog.Tool) { t.Deed = "paid out" }, `deed "paid out"`},
		"phrase with a typo":  {func(t *catalog.Tool) { t.Phrase = "order {ID}" }, "{ID}"},
		"declared twice":      {func(t *catalog.Tool) { t.Name = "other" }, "twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tool := valid(t, "tool")
			tt.change(&tool)
			c, err := catalog.New(valid(t, "other"), tool)
			if err == nil || c != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, %v; want an error about %q", c, err, tt.want)
			}
		})
	}
}

func TestNewReportsAllFaults(t *testing.T) {
	_, err := catalog.New(catalog.Tool{Name: "a b"}, catalog.Tool{Name: "c d"})
	if err == nil || !strings.Contains(err.Error(), "a b") || !strings.Contains(err.Error(), "c d") {
		t.Errorf("New = %v, want both faults", err)
	}
}

func TestCatalogKeepsItsOrder(t *testing.T) {
	c, err := catalog.New(valid(t, "b"), valid(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a"}, c.Names()); diff != "" {
		t.Errorf("Names() (-want +got):\n%s", diff)
	}
	if tool, ok := c.Tool("a"); !ok || tool.Name != "a" {
		t.Errorf("Tool(a) = %q, %v", tool.Name, ok)
	}
	if tool, ok := c.Tool("A"); ok {
		t.Errorf("Tool(A) = %q, want none", tool.Name)
	}
}

func TestNilCatalogHoldsNothing(t *testing.T) {
	var c *catalog.Catalog
	if tool, ok := c.Tool("a"); ok || c.Names() != nil {
		t.Errorf("the nil catalog holds %v, %q", c.Names(), tool.Name)
	}
}

func TestRepeatable(t *testing.T) {
	tests := map[string]struct {
		effect     catalog.Effect
		idempotent bool
		want       bool
	}{
		"read":             {catalog.Read, false, true},
		"write":            {catalog.Write, false, false},
		"idempotent write": {catalog.Write, true, true},
		"destructive":      {catalog.Destructive, false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tool := valid(t, "tool")
			tool.Effect, tool.Idempotent = tt.effect, tt.idempotent
			c, err := catalog.New(tool)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := c.Tool("tool")
			if got.Repeatable() != tt.want || got.Idempotent != tt.want {
				t.Errorf("Repeatable() = %v, Idempotent = %v, want %v", got.Repeatable(), got.Idempotent, tt.want)
			}
		})
	}
}
