package llm_test

import (
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
)

func demoTools(t testing.TB, list []string) []catalog.Tool {
	t.Helper()
	all, err := demo.Tools(demo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.New(all...)
	if err != nil {
		t.Fatal(err)
	}
	tools := make([]catalog.Tool, len(list))
	for i, name := range list {
		tools[i], _ = cat.Tool(name)
	}
	return tools
}
