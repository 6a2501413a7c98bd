package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"patterngate/catalog"
)

// Each tool's size is told, and which are beyond what clients bear.
func TestListSizes(t *testing.T) {
	input, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("x", 4000) + `"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(catalog.Tool{Name: "large", Description: strings.Repeat("y", 2000), Effect: catalog.Read, Input: input,
		Do: func(context.Context, catalog.Call) (any, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	s := serving(t, func(config *Config) { config.Patterns = []Pattern{single(c, "large", "large")} })
	for _, l := range s.ListSizes() {
		if warned := len(l.Warnings()); (l.Name == "large") != (warned == 2) || l.Bytes < l.Schema+l.Description || l.Tokens*4 < l.Bytes {
			t.Errorf("%+v has %d warnings: %v", l, warned, l.Warnings())
		}
	}
}

// The instructions name a few of many calls.
func TestInstructionsOfCalls(t *testing.T) {
	c := orders(t)
	var many []Pattern
	for i := range 20 {
		many = append(many, single(c, fmt.Sprintf("call_%02d", i), "read_order"))
	}
	s := serving(t, func(config *Config) { config.Patterns = many })
	said := s.instructions()
	if !strings.Contains(said, "call_00, call_01, call_02, call_03, call_04, call_05, call_06, call_07 and 12 more for one checked call each. describe_catalog") {
		t.Errorf("the instructions are %q", said)
	}
	if bytes, tokens := s.ListSize(); bytes < 20*200 || tokens < bytes/5 || tokens > bytes {
		t.Errorf("tools/list takes %d bytes and %d tokens", bytes, tokens)
	}
}
