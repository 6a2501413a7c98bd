package demo

import (
	"testing"

	"patterngate/catalog"
)

// Schemas of Go types are not tried out at the start; here they are.
func TestSchemasAreInOrder(t *testing.T) {
	tools, err := Tools(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		for what, schema := range map[string]*catalog.Schema{"input": tool.Input, "output": tool.Output} {
			if _, err := catalog.CompileSchema(schema.JSON()); err != nil {
				t.Errorf("%s: %s: %v\n%s", tool.Name, what, err, schema.JSON())
			}
		}
	}
}
