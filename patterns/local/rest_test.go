package local_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// Ended runs whose callers sent much are forgotten before there are too many; the newest is kept.
func TestLargestEndedAreForgotten(t *testing.T) {
	e := &local.Engine{}
	defer e.Close()
	var ids []string
	for _, megabytes := range []int{30, 30, 30, 100} {
		job := refundJob(t, lookUp, final)
		job.Size = megabytes << 20
		ended, err := e.Start(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ended.RunID)
		got := e.RunIDs("local:1")
		slices.Reverse(got)
		if want := ids[len(ids)-[]int{1, 2, 2, 1}[len(ids)-1]:]; !slices.Equal(got, want) {
			t.Errorf("after %d runs %v are known, want %v", len(ids), got, want)
		}
	}
}

// Who looks at a run in the moment in which it goes on sees what it did before.
func TestRunGoesOnWhereItWas(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		var seen []patterns.Snapshot
		e.Watch(func(s patterns.Snapshot, _ bool) {
			if s.State == patterns.Running {
				seen = append(seen, s)
			}
		})
		id := begin(t, e, refundJob(t, lookUp)).RunID
		send(t, e, id, object{"actions": []any{refund}})
		send(t, e, id, object{"actions": []any{final}})
		if len(seen) != 2 {
			t.Fatalf("told of %d times that the run goes on, want 2", len(seen))
		}
		for i, s := range seen {
			if now := s.Current; now.Done != i+1 || now.Phase != patterns.PhaseWorker || !now.Since.Equal(s.Ended.Began) || now.Since.IsZero() {
				t.Errorf("turn %d: shown as %+v, want %d calls answered, in phase worker, since %v", i+2, now, i+1, s.Ended.Began)
			}
		}
	})
}

// A fault of ours in a run that the clock ends, which no call waits for, is not lost.
func TestFaultOfExpiredRunIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 1)
		e := &local.Engine{Reports: local.Reports{Fault: func(_, _ string, cause error) { told <- cause }}, Waits: local.Waits{CallerWait: time.Hour}}
		defer e.Close()
		job, again := refundJob(t, lookUp), false
		job.Spec.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict {
			if again {
				panic("broken")
			}
			again = true
			return gateway.Verdict{Decision: gateway.Approve, Reason: "test"}
		})
		begin(t, e, job)
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case cause := <-told:
			if _, ours := errors.AsType[*patterns.Fault](cause); !ours {
				t.Errorf("told %v, want a *patterns.Fault", cause)
			}
		default:
			t.Error("nothing was told")
		}
	})
}
