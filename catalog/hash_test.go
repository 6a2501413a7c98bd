package catalog_test

import (
	"context"
	"regexp"
	"testing"

	"patterngate/catalog"
)

func TestCatalogHash(t *testing.T) {
	schema := func(text string) *catalog.Schema {
		t.Helper()
		s, err := catalog.CompileSchema([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	do := func(context.Context, catalog.Call) (any, error) { return nil, nil }
	look := catalog.Tool{Name: "look", Effect: catalog.Read, Input: schema(`{"type":"object","properties":{"a":{"type":"integer"}}}`), Do: do}
	pay := catalog.Tool{Name: "pay", Effect: catalog.Write, Input: schema(`{"type":"object"}`), Do: do}
	hash := func(tools ...catalog.Tool) string {
		t.Helper()
		c, err := catalog.New(tools...)
		if err != nil {
			t.Fatal(err)
		}
		return c.Hash()
	}
	changed := func(tool catalog.Tool, change func(*catalog.Tool)) catalog.Tool {
		change(&tool)
		return tool
	}
	base := hash(look, pay)
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(base) {
		t.Errorf("Hash() = %q, want sha256: and 64 hex digits", base)
	}
	same := map[string]string{
		"another order":              hash(pay, look),
		"another title":              hash(changed(look, func(c *catalog.Tool) { c.Title = "Look" }), pay),
		"a schema spelled otherwise": hash(changed(look, func(c *catalog.Tool) { c.Input = schema(`{"properties":{"a":{"type": "integer"}}, "type":"object"}`) }), pay),
	}
	for name, got := range same {
		if got != base {
			t.Errorf("%s: Hash() = %s, want %s", name, got, base)
		}
	}
	seen := map[string]string{base: "the catalog"}
	for name, got := range map[string]string{
		"one less":          hash(look),
		"another name":      hash(changed(look, func(c *catalog.Tool) { c.Name = "see" }), pay),
		"another effect":    hash(look, changed(pay, func(c *catalog.Tool) { c.Effect = catalog.Destructive })),
		"idempotent":        hash(look, changed(pay, func(c *catalog.Tool) { c.Idempotent = true })),
		"another input":     hash(changed(look, func(c *catalog.Tool) { c.Input = schema(`{"type":"object"}`) }), pay),
		"an output":         hash(look, changed(pay, func(c *catalog.Tool) { c.Output = schema(`{"type":"object"}`) })),
		"nothing but a nil": (*catalog.Catalog)(nil).Hash(),
	} {
		if before, twice := seen[got]; twice {
			t.Errorf("%s and %s have one hash: %s", name, before, got)
		}
		seen[got] = name
	}
}
