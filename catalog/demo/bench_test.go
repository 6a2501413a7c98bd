package demo_test

import (
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
)

// BenchmarkTools measures a call of each tool without delays: binding its arguments, its work, its result decoded.
func BenchmarkTools(b *testing.B) {
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		b.Fatal(err)
	}
	for _, tool := range tools {
		call := catalog.Call{Args: tool.Input.Example(), Key: "run_1/step_1", Attempt: 1}
		b.Run(tool.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tool.Do(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStart measures making all tools, which every start of the program pays.
func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := demo.Tools(demo.Config{}); err != nil {
			b.Fatal(err)
		}
	}
}
