package local_test

import (
	"encoding/json"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/local"
	verify "patterngate/patterns/record"
)

// presented is a job whose results say something of themselves.
func presented(job patterns.Job) patterns.Job {
	job.Present = func(patterns.Ended, error) patterns.Presented {
		return patterns.Presented{Envelope: json.RawMessage(`{"summary":"800 USD were refunded."}`), Summary: "800 USD were refunded."}
	}
	return job
}

// checked is what a check of a run's record finds.
func checked(t *testing.T, e port, id string) verify.Report {
	t.Helper()
	events, kept, err := e.Operator().Kept(id)
	if err != nil {
		t.Fatal(err)
	}
	return verify.Check(verify.Evidence{RunID: id, Events: events, Length: kept.Head.Events, Row: kept})
}

// What a run's row says is compared with what its events say, whether it ended or waits. As it was written it holds.
func TestRowIsVerified(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set   string // of the row
		waits bool   // of a run that waits, too
	}{
		"a random head":          {"head = randomblob(32)", true},
		"no head":                {"head = NULL", true},
		"a lowered length":       {"length = length - 1", true},
		"a raised length":        {"length = length + 1", true},
		"no length":              {"length = 0", true},
		"no length and no head":  {"length = 0, head = NULL", true},
		"lowered, with its head": {"length = length - 1, head = (SELECT hash FROM events WHERE events.n = runs.n AND seq = length - 1)", true},
		"the pattern":            {"pattern = 'run_orchestrator'", true},
		"the principal":          {"principal = 'local:0'", true},
		"the configuration":      {"config = 'other'", true},
		"the parent":             {"parent = 7", true},
		"the begin":              {"began = began + 1", true},
		"the end":                {"ended = coalesce(ended, 0) + 1", true},
		"the status":             {"status = 'stopped'", true},
		"the stop reason":        {"stop_reason = 'deadline'", true},
		"the phase":              {"phase = 'plan'", false},
		"the summary":            {"summary = 'Nothing was done.'", false},
		"no summary":             {"summary = ''", false},
		"it goes on":             {"state = 'ready'", false},
		"it waits":               {"state = 'parked'", false},
		"it ended":               {"state = 'ended'", true},
		"found broken":           {"state = 'broken'", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := openPort(t, newState(t), &begun{})
			ended, waits := begin(t, e, presented(refundJob(t, lookUp))).RunID, begin(t, e, presented(refundJob(t, lookUp))).RunID
			send(t, e, ended, object{"actions": []any{final}})
			for id, altered := range map[string]bool{ended: name != "it ended", waits: tt.waits} {
				if r := checked(t, e, id); !r.OK {
					t.Errorf("as it was written: %v", r.Broken)
				}
				if !altered {
					continue
				}
				e.Alter(t, "UPDATE runs SET "+tt.set+" WHERE n = ?", local.Number(id))
				if r := checked(t, e, id); r.OK {
					t.Error("the altered row verifies as ok")
				} else if reason := r.Broken.Error(); !strings.Contains(reason, "row") && !strings.Contains(reason, "missing") {
					t.Errorf("the reason is %q, want it to name the row", reason)
				}
			}
		})
	}
}

// A chain that was written again from its beginning does not fit the head that its row keeps.
func TestRewrittenChainDoesNotFitItsRow(t *testing.T) {
	t.Parallel()
	e := openPort(t, newState(t), &begun{})
	id := begin(t, e, presented(refundJob(t, lookUp))).RunID
	send(t, e, id, object{"actions": []any{final}})
	events, _, err := e.Operator().Kept(id)
	if err != nil {
		t.Fatal(err)
	}
	var before []byte
	for i, event := range events {
		if i > 0 && i < len(events)-1 {
			event.At++
		}
		event.Seal(id, before)
		e.Alter(t, "UPDATE events SET at = ?, hash = ? WHERE n = ? AND seq = ?", event.At, event.Hash, local.Number(id), event.Seq)
		before = event.Hash
	}
	events, kept, err := e.Operator().Kept(id)
	if chain := patterns.VerifyChain(id, events, kept.Head.Events); err != nil || chain != nil {
		t.Fatalf("the new chain is none: %v, %v", err, chain)
	}
	r := checked(t, e, id)
	if r.OK || !strings.Contains(r.Broken.Reason, "head") {
		t.Errorf("%+v, want that the head is another", r)
	}
}
