package catalog_test

import (
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
)

// BenchmarkCatalogHash is paid at every start.
func BenchmarkCatalogHash(b *testing.B) {
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		b.Fatal(err)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c.Hash()
	}
}
