package rules

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/policy"
	"patterngate/gateway/policy/refunds"
)

var update = flag.Bool("update", false, "write the generated documents anew")

// What is embedded of the refund policy for every start is what its file says; it compiles, and its tests pass.
func TestDemoPolicy(t *testing.T) {
	whole, err := readDemo()
	if err != nil {
		t.Fatal(err)
	}
	judged := whole
	judged.Description, judged.Tests = "", nil
	if *update {
		text, err := json.MarshalIndent(judged, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("..", "..", "..", "gateway", "policy", "refunds", "refunds.json"), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &judged); err != nil { // as it is read once it is embedded
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(judged, refunds.Source()); diff != "" {
		t.Errorf("package refunds has not what demo_refunds.yaml says; run go test ./server/settings/rules -run TestDemoPolicy -update (-want +got):\n%s", diff)
	}
	for name, params := range map[string]map[string]any{"its own params": nil, "the embedded pattern's": {"auto_refund_limit_usd": 1000.0, "max_refund_per_run_usd": 2000.0, "refund_window_days": 14.0}} {
		made, err := refunds.Compile(whole, params)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, row := range whole.Tests {
			if result := made.Test(row); !result.Passed {
				t.Errorf("%s: %s: %s %v", name, row.Name, result.Differ, result.Err)
			}
		}
	}
	if len(whole.Tests) < 15 {
		t.Errorf("%d tests", len(whole.Tests))
	}
	if made, err := refunds.Compile(policy.Source{Rules: []policy.RuleSource{{ID: "a"}}}, nil); err == nil {
		t.Errorf("a rule without an outcome compiled: %v", made)
	}
}
