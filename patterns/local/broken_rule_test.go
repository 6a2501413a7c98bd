package local_test

import (
	"errors"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// A rule that breaks down ends its run as a fault of ours with no call made, also where nothing of the run was written before: the
// record has it with its end.
func TestBrokenRules(t *testing.T) {
	for _, kind := range ownKinds {
		t.Run(string(kind), func(t *testing.T) {
			e, s := openers["file"](t), &service{}
			job := s.ownJob(t, kind, nil)
			job.Spec.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict { panic("broken rule") })
			ended, err := e.Start(t.Context(), job)
			if err == nil || errors.Is(err, patterns.ErrJournal) || s.calls() > 0 {
				t.Errorf("%v after %d calls; want the fault itself and no call", err, s.calls())
			}
			if seen := e.until(t, ended.RunID, patterns.Over); seen.Ended.Result.StopReason != "internal_error" {
				t.Errorf("recorded as %q", seen.Ended.Result.StopReason)
			}
			e.intact(t, ended.RunID)
			succeed(t, e, quick(t, 1))
		})
	}
}
