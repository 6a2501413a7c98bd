package local_test

import (
	"testing"

	"patterngate/patterns/local"
)

// In memory nobody could answer: the answer is no, at once.
func TestNobodyIsAskedInMemory(t *testing.T) {
	e := &local.Engine{}
	defer e.Close()
	ended, err := e.Start(t.Context(), inbox(t, ""))
	if err != nil || ended.Waiting != nil || ended.Result.StopReason != "human_rejected" || refunded(ended.Result) != 0 {
		t.Errorf("the run ended %s (%v), waiting for %+v", ended.Result.StopReason, err, ended.Waiting)
	}
	if n, err := e.Approvals().WaitingApprovals(); n != 0 || err != nil {
		t.Errorf("WaitingApprovals() = %d, %v", n, err)
	}
}
