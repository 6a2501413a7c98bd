package cli

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is embedded of the refund policy for every start is what its file says; it compiles without a warning and its tests pass.
func TestDemoPolicy(t *testing.T) {
	faults := &configFaults{}
	p := PolicyConfig{}
	p.Name = demoPolicy
	r := &configReader{faults: faults, places: map[string]place{}}
	r.group(readYAML("demo_refunds.yaml", demoPolicyFile, faults), nil, p.keys(false), unknownKey)
	if err := faults.err(); err != nil {
		t.Fatal(err)
	}
	kept := append(p.kept(), '\n')
	if *update {
		if err := os.WriteFile("demo_refunds.json", kept, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(kept), string(demoPolicyKept)); diff != "" {
		t.Errorf("demo_refunds.json is not what demo_refunds.yaml says; run go test ./server/cli -run TestDemoPolicy -update (-want +got):\n%s", diff)
	}
	made, err := compileDemo(p.Source, refundLimits(1000, 2000, 14))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Tests) < 10 {
		t.Errorf("%d tests", len(p.Tests))
	}
	for _, row := range p.Tests {
		if result := made.Test(row); !result.Passed {
			t.Errorf("%s: %s %v", row.Name, result.Differ, result.Err)
		}
	}
}
