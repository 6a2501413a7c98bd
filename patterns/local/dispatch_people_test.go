package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// besidePeople is a run of two tasks with a minute of time. Task a is a call that its tool's retry policy makes again after a
// pause. A person decides about task b.
type besidePeople struct {
	entered, answers chan struct{} // the first call of a waits for an answer, which is that the tool cannot be reached
	service          *service
	job              patterns.Job
}

func newBesidePeople(t testing.TB, parallel int, order []string, change func(*catalog.Tool)) *besidePeople {
	t.Helper()
	p := &besidePeople{entered: make(chan struct{}), answers: make(chan struct{}), service: &service{}}
	p.service.turns = []func(context.Context, catalog.Call) (any, error){func(ctx context.Context, _ catalog.Call) (any, error) {
		close(p.entered)
		select {
		case <-p.answers:
		case <-ctx.Done():
		}
		return nil, &catalog.Fault{Kind: catalog.NotSent, Again: true, Cause: errGone}
	}}
	p.job = p.service.ownJob(t, gateway.Orchestrator, func(own *catalog.Tool) {
		own.Retry = catalog.Retry{Max: 1, Delay: time.Millisecond, MaxDelay: time.Minute}
		if change != nil {
			change(own)
		}
	})
	p.job.Spec.Budget.MaxTime, p.job.Spec.Budget.TaskTimeout, p.job.Spec.Budget.MaxParallel = time.Minute, time.Hour, parallel
	p.job.Spec.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
	p.job.Spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		if c.Args["n"] == 2.0 {
			return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
		}
		return gateway.Verdict{Decision: gateway.Approve, Reason: "ok"}
	})
	p.job.Present = func(ended patterns.Ended, _ error) patterns.Presented {
		return patterns.Presented{Envelope: json.RawMessage(asJSON(t, ended.Result))}
	}
	tasks := map[string]object{
		"a": {"id": "a", "worker": "own", "args": object{"n": 1.0}, "critical": false},
		"b": {"id": "b", "worker": "own", "args": object{"n": 2.0}, "critical": false},
	}
	var plan []any
	for _, id := range order {
		plan = append(plan, tasks[id])
	}
	p.job.Task.Caller = patterns.Proposals("plan", object{"kind": "plan", "tasks": plan})
	return p
}

// asks begins the run, and has the first call of task a answer when the person was asked and took so long.
func (p *besidePeople) asks(t testing.TB, e port, took time.Duration) (id string) {
	t.Helper()
	id = e.beginning(t, p.job)
	<-p.entered
	e.recorded(t, id, 1, isIntent("/approve#1"))
	e.Ahead(took)
	close(p.answers)
	return id
}

// isIntent finds the intents whose keys end so.
func isIntent(key string) func(patterns.Event) bool {
	return func(e patterns.Event) bool {
		return e.Kind == patterns.IntentEvent && strings.HasSuffix(e.Key, key)
	}
}

// ends has the person agree and gives how the run ended. Its record replays to the same.
func (p *besidePeople) ends(t testing.TB, e port, id string) patterns.Result {
	t.Helper()
	e.until(t, id, patterns.Parked)
	if asked := decideAll(t, e.Engine, id, gateway.ChooseApprove); asked != 1 {
		t.Errorf("%d questions, want 1", asked)
	}
	r := e.until(t, id, patterns.Over).Ended.Result
	again, err := local.ReplayStored(e.intact(t, id), p.job)
	if err != nil || asJSON(t, again.Result) != asJSON(t, r) {
		t.Errorf("replayed (%v) %s\nlived %s", err, asJSON(t, again.Result), asJSON(t, r))
	}
	return r
}

// pauses lists the pauses in a record: a key for each intent, and a key, state and reason for each outcome.
func pauses(t testing.TB, events []patterns.Event) []string {
	t.Helper()
	var list []string
	for _, e := range events {
		if !strings.Contains(e.Key, "/sleep#") {
			continue
		}
		body, err := patterns.DecodeBody(e)
		if err != nil {
			t.Fatal(err)
		}
		if out, ok := body.(*patterns.OutcomeBody); ok {
			list = append(list, fmt.Sprintf("%s %s %s", e.Key, out.State, out.Reason))
		} else {
			list = append(list, e.Key)
		}
	}
	return list
}

var parallels = map[string]struct {
	parallel int
	order    []string
}{
	"beside the person":              {2, []string{"a", "b"}},
	"beside the person, asked first": {2, []string{"b", "a"}},
	"in the person's place":          {1, []string{"b", "a"}},
}

// People's time for another task does not count against a task's retry: it is made, even if they take longer than the run may.
// Another process that goes on with the run finds the same.
func TestRetryBesidePeople(t *testing.T) {
	t.Parallel()
	for name, tt := range parallels {
		for _, pause := range []time.Duration{0, time.Millisecond} {
			t.Run(fmt.Sprint(name, " after ", pause), func(t *testing.T) {
				path, source := newState(t), &begun{}
				p := newBesidePeople(t, tt.parallel, tt.order, func(own *catalog.Tool) { own.Retry.Delay = pause })
				e := openPort(t, path, source)
				id := p.asks(t, e, 2*time.Minute)
				e.until(t, id, patterns.Parked)
				e.Close()
				e = openPort(t, path, source)
				r := p.ends(t, e, id)
				if got := slices.Sorted(slices.Values(rows(t, r))); !r.OK() || !slices.Equal(got, []string{"a done 2 ", "b done 1 "}) || p.service.calls() != 3 {
					t.Errorf("ended with %s after %d calls, tasks %q; want both done, after three", r.StopReason, p.service.calls(), got)
				}
				at := "task#" + fmt.Sprint(1+slices.Index(tt.order, "a")) + "/sleep#1"
				if got, want := pauses(t, e.intact(t, id)), []string{at, at + " ok "}; !slices.Equal(got, want) {
					t.Errorf("the pauses %q, want %q", got, want)
				}
				if used := r.Budget["max_seconds"].Used; used > 30 {
					t.Errorf("%v seconds used, want people's time not counted", used)
				}
			})
		}
	}
}

// Where the run's own time does not suffice, there is no retry. What people took changes nothing: the engine says so in the record.
func TestNoTimeForARetryBesidePeople(t *testing.T) {
	t.Parallel()
	for name, tt := range parallels {
		t.Run(name, func(t *testing.T) {
			path, source := newState(t), &begun{}
			p := newBesidePeople(t, tt.parallel, tt.order, func(own *catalog.Tool) { own.Retry.Delay, own.Retry.MaxDelay = 2*time.Minute, 2*time.Minute })
			e := openPort(t, path, source)
			id := p.asks(t, e, 2*time.Minute)
			e.until(t, id, patterns.Parked)
			e.Close()
			e = openPort(t, path, source)
			r := p.ends(t, e, id)
			if got := slices.Sorted(slices.Values(rows(t, r))); !r.OK() || !slices.Equal(got, []string{"a failed 1 worker_unavailable:own", "b done 1 "}) || p.service.calls() != 2 {
				t.Errorf("ended with %s after %d calls, tasks %q; want a failed after one", r.StopReason, p.service.calls(), got)
			}
			at := "task#" + fmt.Sprint(1+slices.Index(tt.order, "a")) + "/sleep#1"
			if got := pauses(t, e.intact(t, id)); !slices.Equal(got, []string{at + " canceled no_time"}) {
				t.Errorf("the pauses %q, want one that was not begun", got)
			}
			if d := r.Budget["max_dispatches"].Used; d != 2 {
				t.Errorf("%v dispatches, want 2", d)
			}
		})
	}
}

// A pause that was begun goes on after a crash: nobody asks again whether there is time for it.
func TestPauseBesidePeopleOutlivesACrash(t *testing.T) {
	t.Parallel()
	path, source := newState(t), &begun{}
	p := newBesidePeople(t, 2, []string{"a", "b"}, func(own *catalog.Tool) { own.Retry.Delay = 30 * time.Second })
	e := openPort(t, path, source)
	id := p.asks(t, e, 2*time.Minute)
	e.recorded(t, id, 1, isIntent("/sleep#1"))
	path = crashed(t, e)
	second := opened(t, path, source)
	second.Ahead(3 * time.Minute)
	second.Go()
	e = port{second, source}
	r := p.ends(t, e, id)
	if got := rows(t, r); !r.OK() || !slices.Equal(got, []string{"a done 2 ", "b done 1 "}) {
		t.Errorf("ended with %s, tasks %q; want both done", r.StopReason, got)
	}
}

// A run that an earlier build began goes on as that build decided: the retry that it did not make is not made later.
func TestEarlierRunGoesOnAsItWas(t *testing.T) {
	t.Parallel()
	path, source := newState(t), &begun{}
	p := newBesidePeople(t, 2, []string{"a", "b"}, func(own *catalog.Tool) { own.Retry.Delay, own.Retry.MaxDelay = time.Hour, time.Hour })
	e := openPort(t, path, source)
	id := p.asks(t, e, 2*time.Minute)
	e.until(t, id, patterns.Parked)
	events := e.intact(t, id)
	last := len(events) - 1
	if !strings.HasSuffix(events[last].Key, "/sleep#1") {
		t.Fatalf("the record ends with %s %s, want the refused pause", events[last].Kind, events[last].Key)
	}
	// As that build would have left it: without the pause, and with a start that does not say how the program decides.
	var before []byte
	for _, event := range events[:last] {
		event.Body = bytes.Replace(event.Body, []byte(`"code":1,`), nil, 1)
		event.Seal(id, before)
		e.Alter(t, "UPDATE events SET body = ?, hash = ? WHERE n = ? AND seq = ?", []byte(event.Body), event.Hash, local.Number(id), event.Seq)
		before = event.Hash
	}
	e.Alter(t, "DELETE FROM events WHERE n = ? AND seq > ?", local.Number(id), int64(last))
	e.Alter(t, "UPDATE runs SET length = ?, head = ? WHERE n = ?", int64(last), before, local.Number(id))
	e.Close()
	earlier := newBesidePeople(t, 2, []string{"a", "b"}, nil) // with a pause for which there is time
	earlier.job.Arguments, earlier.service.turns = object{"job": 0.0}, nil
	source.jobs[0], p.job = earlier.job, earlier.job
	e = openPort(t, path, source)
	r := p.ends(t, e, id)
	if got := rows(t, r); !r.OK() || !slices.Equal(got, []string{"a failed 1 worker_unavailable:own", "b done 1 "}) || earlier.service.calls() != 1 {
		t.Errorf("ended with %s, tasks %q; want a failed, b done", r.StopReason, got)
	}
	if got := pauses(t, e.intact(t, id)); len(got) > 0 {
		t.Errorf("the pauses %q, want none", got)
	}
}

// Records of an earlier build replay as they were, whether that build made the retry or not. They lie in testdata: a build from before
// the engine decided about pauses wrote them of these two tasks. The person took 20 seconds, or two minutes.
func TestEarlierRecordsOfRetriesReplay(t *testing.T) {
	for name, want := range map[string][]string{
		"retry_made":     {"a done 2 ", "b done 1 "},
		"retry_not_made": {"a failed 1 worker_unavailable:own", "b done 1 "},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "records", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			record, err := patterns.ReadExport(text)
			if err != nil {
				t.Fatal(err)
			}
			p := newBesidePeople(t, 2, []string{"a", "b"}, nil)
			ended, err := local.ReplayStored(record.Events, p.job)
			if err != nil {
				t.Fatal(err)
			}
			if got := rows(t, ended.Result); !slices.Equal(got, want) {
				t.Errorf("replayed to %q, want %q", got, want)
			}
			body, err := patterns.DecodeBody(record.Events[len(record.Events)-1])
			if err != nil {
				t.Fatal(err)
			}
			end, _ := body.(*patterns.EndBody)
			got, err := ijson.Canonicalize([]byte(asJSON(t, ended.Result)))
			if err != nil || end == nil || string(got) != string(ijson.Canonical(must(ijson.Decode(end.Envelope)))) {
				t.Errorf("replayed (%v) to %s\nrecorded %s", err, got, end.Envelope)
			}
		})
	}
}
