package inbox

import (
	"context"
	"testing"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// A tool of a run counts as simulated only if the run has this program's configuration and catalog. A catalog with a real tool of the same
// name and schema has the same hash.
func TestSimulatedIsOfTheRun(t *testing.T) {
	input, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
	if err != nil {
		t.Fatal(err)
	}
	do := func(context.Context, catalog.Call) (any, error) { return nil, nil }
	all, err := catalog.New(catalog.Tool{Name: "pay", Effect: catalog.Write, Simulated: true, Input: input, Do: do}, catalog.Tool{Name: "look", Effect: catalog.Read, Input: input, Do: do})
	if err != nil {
		t.Fatal(err)
	}
	here := local.Settings{Catalog: all, Config: "sha256:aa"}
	hash := here.Catalog.Hash()
	known := simulated(here, patterns.Hashes{Config: "sha256:aa", Catalog: hash})
	if known == nil || !known("pay") || known("look") || known("other") {
		t.Error("the run's own tools are not known")
	}
	for name, of := range map[string]patterns.Hashes{
		"nothing": {}, "another catalog": {Config: "sha256:aa", Catalog: "sha256:bb"}, "another configuration": {Config: "sha256:cc", Catalog: hash},
		"no configuration": {Catalog: hash}, "no catalog": {Config: "sha256:aa"},
	} {
		if simulated(here, of) != nil {
			t.Errorf("%s: its tools are looked up here", name)
		}
	}
	if simulated(local.Settings{Config: "sha256:aa"}, patterns.Hashes{Config: "sha256:aa", Catalog: hash}) != nil {
		t.Error("a program without a catalog knows tools")
	}
}
