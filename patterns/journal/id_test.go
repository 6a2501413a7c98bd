package journal

import (
	"math"
	"testing"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	for n, id := range map[int64]string{
		0: "run_0000000000000000", 1: "run_0000000000000001", math.MaxInt64: "run_7fffffffffffffff", -1: "run_ffffffffffffffff",
	} {
		if got := RunID(n); got != id {
			t.Errorf("RunID(%d) = %s, want %s", n, got, id)
		}
		if got, ok := RunNumber(id); !ok || got != n {
			t.Errorf("RunNumber(%s) = %d, %v, want %d", id, got, ok, n)
		}
		if got, ok := ApprovalNumber(ApprovalID(n)); !ok || got != n {
			t.Errorf("ApprovalNumber(ApprovalID(%d)) = %d, %v", n, got, ok)
		}
	}
	for name, id := range map[string]string{
		"empty": "", "prefix alone": "run_", "15 digits": "run_000000000000001", "17 digits": "run_00000000000000001",
		"capitals": "run_000000000000000A", "no digit": "run_000000000000000g", "a sign": "run_+00000000000001", "another's": "ap_0000000000000001",
	} {
		if n, ok := RunNumber(id); ok {
			t.Errorf("%s: RunNumber(%q) = %d", name, id, n)
		}
	}
}

func FuzzNumbers(f *testing.F) {
	f.Add("run_0000000000000001")
	f.Add("ap_ffffffffffffffff")
	f.Fuzz(func(t *testing.T, id string) {
		if n, ok := RunNumber(id); ok && RunID(n) != id {
			t.Errorf("RunID(RunNumber(%q)) = %s", id, RunID(n))
		}
		if n, ok := ApprovalNumber(id); ok && ApprovalID(n) != id {
			t.Errorf("ApprovalID(ApprovalNumber(%q)) = %s", id, ApprovalID(n))
		}
	})
}
