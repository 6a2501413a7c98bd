package trial

import (
	"io"
	"testing"
	"time"

	"patterngate/server/cli/console"
)

// BenchmarkTakeover measures the time from the SIGKILL of a process to the end of its run in another process. That one shares the
// state file and waits for the run. The takeover itself has a limit of 50 ms; the rest of the run is included here.
func BenchmarkTakeover(b *testing.B) {
	a := &Commands{Console: &console.Console{In: io.NopCloser(nil), Out: io.Discard, Err: io.Discard, Color: "never"}}
	p, err := a.newProver()
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := p.close(); err != nil {
			b.Error(err)
		}
	}()
	runs := crowdOf(1)
	var took time.Duration
	taken := 0
	for b.Loop() {
		t, err := p.newTrial(runs)
		if err != nil {
			b.Fatal(err)
		}
		dies, err := t.process(6) // in the middle
		if err != nil {
			b.Fatal(err)
		}
		lives, err := t.process(0)
		if err != nil {
			b.Fatal(err)
		}
		if err := dies.cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if err := lives.cmd.Start(); err != nil {
			b.Fatal(err)
		}
		first, err := dies.ended()
		if err != nil {
			b.Fatal(err)
		}
		died := time.Now()
		end, err := lives.ended()
		if err != nil || len(end.results) != len(runs) {
			b.Fatalf("the run came to %v, %v", end.results, err)
		}
		if first.killed { // else the other one was quicker to begin the run
			took, taken = took+time.Since(died), taken+1
		}
	}
	b.ReportMetric(float64(took.Microseconds())/float64(max(1, taken))/1000, "ms/takeover")
}
