package cli

import (
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
)

// makeBelieve holds the demo's tools.
func makeBelieve(t testing.TB) *catalog.Catalog {
	t.Helper()
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
