package assembly

import (
	"testing"

	"patterngate/ijson"
)

// builtinRefundsHash is that of the policy of refunds with its defaults in records of versions that had it built in, and in what
// people were asked under them.
const builtinRefundsHash = "sha256:a0d0837398b1402ad66632b00d457892a7c32e83dbf357553769439b52beab32"

// A run that was begun when the policy of refunds was built in keeps its hash, so that what a person approved of it stays what they
// were asked about; one of this version has the file's.
func TestBuiltinPolicyOfRunsOfBefore(t *testing.T) {
	c := embedded(t)
	value, err := ijson.DecodeCanonical(c.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	old := value.(map[string]any)
	delete(old, "policies")
	pattern := old["patterns"].(map[string]any)["supervised_refund"].(map[string]any)
	delete(pattern, "policy")
	pattern["params"] = map[string]any{"auto_refund_limit_usd": 1000.0, "max_refund_per_run_usd": 2000.0, "refund_window_days": 14.0}
	text := ijson.Canonical(old)
	before, err := configOfSnapshot(hashOf(text), text, snapshotKeys{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := configOfSnapshot(c.Hash(), c.Snapshot(), snapshotKeys{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	judge := reviewerIn(t, before, "supervised_refund")
	if got := policyHash(judge); got != builtinRefundsHash {
		t.Errorf("a run of before is judged by %s, want %s", got, builtinRefundsHash)
	}
	if got, want := policyHash(reviewerIn(t, again, "supervised_refund")), policyHash(reviewerIn(t, c, "supervised_refund")); got != want || got == builtinRefundsHash {
		t.Errorf("a run of this version is judged by %s, want %s", got, want)
	}
}
