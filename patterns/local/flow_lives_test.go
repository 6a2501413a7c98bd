package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/execution"
	"patterngate/patterns/local"
)

// TestFlowGoesOnFromEveryEvent: wherever the record of a run ends, its code fits and comes to an end over it.
func TestFlowGoesOnFromEveryEvent(t *testing.T) {
	w := weave{seed: 7, bodies: 8, most: 4, ops: "ms0crrwtqhi"}
	synctest.Test(t, func(t *testing.T) {
		job := weaving(t)
		var record *execution.Record
		e := &local.Engine{Reports: local.Reports{Recorded: func(_ string, r *execution.Record) { record = r }}}
		defer e.Close()
		e.Runs(w.code)
		if _, err := e.Start(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		events := record.Events()
		for n := 1; n < len(events); n++ {
			ended, err := e.Resume(events[:n:n], job)
			if err != nil {
				t.Fatalf("after event %d, %s %s: %v", n, events[n-1].Kind, events[n-1].Key, err)
			}
			again, err := local.ReplayCode(record, w.code, job)
			if err != nil {
				t.Fatalf("after event %d, %s %s: %v", n, events[n-1].Kind, events[n-1].Key, err)
			}
			equalTraces(t, fmt.Sprintf("the replay of the life from event %d on", n), again, ended.Result)
		}
		time.Sleep(longest) // what came late
	})
}

// TestFlowWaits: bodies that wait for the caller hold up neither each other nor the rest, and what the run then does is
// replayed.
func TestFlowWaits(t *testing.T) {
	for seed := range 12 {
		synctest.Test(t, func(t *testing.T) {
			w := weave{seed: seed, bodies: 12, most: 5, ops: "msra0qa"}
			job := weaving(t)
			var record *execution.Record
			e := &local.Engine{Reports: local.Reports{Recorded: func(_ string, r *execution.Record) { record = r }}}
			defer e.Close()
			e.Runs(w.code)
			ended, err := e.Start(t.Context(), job)
			waits := 0
			for ; err == nil && ended.Waiting != nil; waits++ {
				if _, ok := e.Shown(mine, ended.RunID); !ok {
					t.Fatalf("seed %d: the run that waits shows nothing", seed)
				}
				ended, err = e.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: ended.RunID, Given: object{"actions": rand.N(9)}})
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			again, err := local.ReplayCode(record, w.code, job)
			if err != nil {
				t.Fatalf("seed %d, %d waits: %v", seed, waits, err)
			}
			equalTraces(t, fmt.Sprintf("seed %d: the replay", seed), again, ended.Result)
			if waits == 0 && strings.Contains(traceOf(again), "turn#1") {
				t.Errorf("seed %d: the run waited for nobody", seed)
			}
			time.Sleep(longest) // what came late
		})
	}
}

// keptTrace has the record keep the trace that the run that lived came to.
func keptTrace(ended patterns.Ended, _ error) patterns.Presented {
	text, err := json.Marshal(map[string]any{"trace": ended.Result.Trace})
	if err != nil {
		panic(err)
	}
	return patterns.Presented{Envelope: text}
}

// liveTrace is what keptTrace kept.
func liveTrace(t testing.TB, events []patterns.Event) patterns.Result {
	t.Helper()
	for _, e := range events {
		if e.Kind != patterns.EndEvent {
			continue
		}
		body, err := patterns.DecodeBody(e)
		if err != nil {
			t.Fatal(err)
		}
		var kept struct{ Trace []any }
		if err := json.Unmarshal(body.(*patterns.EndBody).Envelope, &kept); err != nil {
			t.Fatal(err)
		}
		return patterns.Result{Trace: kept.Trace}
	}
	t.Fatal("the record has no end")
	return patterns.Result{}
}

// TestFlowChangesHands: a run whose process leaves or is stopped at any moment is carried on by the next, again and again,
// and its record replays to what the last one came to.
func TestFlowChangesHands(t *testing.T) {
	t.Parallel()
	for seed := range 3 {
		w := weave{seed: seed, bodies: 20, most: 6, ops: "mrrwwsq0"}
		job := weaving(t)
		job.Present = keptTrace
		path, source := newState(t), &begun{}
		id := ""
		for hands := 0; ; hands++ {
			e := openPort(t, path, source, func(e *local.Engine) { e.Runs(w.code) })
			if id == "" {
				id = e.beginning(t, job)
			}
			if hands == 6 {
				e.until(t, id, patterns.Over)
				again, err := local.ReplayCodeStored(e.intact(t, id), w.code, job)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				equalTraces(t, fmt.Sprintf("seed %d: the replay", seed), again, liveTrace(t, e.intact(t, id)))
				e.Close()
				break
			}
			for range rand.N(40) { // as many looks at it as may be, then it is in other hands
				if r, ok := e.Shown(mine, id); !ok || len(r.Trace) == 0 {
					t.Fatalf("seed %d: the run shows %v, %t", seed, r, ok)
				}
			}
			if hands%2 == 0 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				e.Leave(ctx)
				cancel()
			}
			e.Close()
		}
	}
}

// TestFlowWithoutItsFile: a run whose record cannot be written for a while goes on afterwards, and what it did meanwhile is
// in its record or was not done.
func TestFlowWithoutItsFile(t *testing.T) {
	for seed := range 2 {
		w := weave{seed: seed, bodies: 20, most: 6, ops: "mrrwwq0"}
		job := weaving(t)
		job.Present = keptTrace
		e := openPort(t, newState(t), &begun{}, func(e *local.Engine) { e.Runs(w.code) })
		id := e.beginning(t, job)
		for range rand.N(20) {
			e.Shown(mine, id)
		}
		e.Full(t, true)
		e.Shown(mine, id)
		e.Full(t, false)
		e.until(t, id, patterns.Over)
		again, err := local.ReplayCodeStored(e.intact(t, id), w.code, job)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		equalTraces(t, fmt.Sprintf("seed %d: the replay", seed), again, liveTrace(t, e.intact(t, id)))
	}
}

// TestFlowIsCutShort: a run that is taken back, or whose time is over, comes to its end; each body hears of it once.
func TestFlowIsCutShort(t *testing.T) {
	tests := map[string]func(e port, id string) error{
		"cancelled": func(e port, id string) error {
			_, err := e.Cancel(context.Background(), mine, id, patterns.Note{By: mine})
			return err
		},
		"deadline": func(port, string) error { return nil },
	}
	for name, cut := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open opener) {
				g := newGate(t, catalog.Read)
				job := g.job(t, 1)
				e := open(t, func(e *local.Engine) {
					e.Runs(many(40, func(branch patterns.Run, i int) {
						effect := patterns.Effect{Phase: patterns.PhaseExecute}
						if name == "deadline" {
							effect.Deadline = branch.Now().Add(250 * time.Millisecond)
						}
						callingWith(job, g.tool.Name, effect)(branch, i)
					}))
				})
				id := e.beginning(t, job)
				for range 3 {
					<-g.entered
				}
				if err := cut(e, id); err != nil {
					t.Fatal(err)
				}
				s := e.until(t, id, patterns.Over)
				if n := len(s.Ended.Result.Trace); n != 40 {
					t.Errorf("%d bodies came to their end, want 40", n)
				}
				e.intact(t, id)
				close(g.open)
			})
		})
	}
}

// TestFlowPanics: a panic of next or of a body ends the run and not the process, when all other bodies have unwound.
func TestFlowPanics(t *testing.T) {
	tests := map[string]patterns.Pattern{
		"body": many(10, func(branch patterns.Run, i int) {
			patterns.Sleep(branch, time.Microsecond)
			if i == 5 {
				panic("broken")
			}
		}),
		"body at once": many(10, func(_ patterns.Run, i int) {
			if i == 5 {
				panic("broken")
			}
		}),
		"next": func(run patterns.Run, _ patterns.Spec, _ patterns.Task) patterns.Result {
			n := 0
			run.Flow(func() (string, func(patterns.Run), bool) {
				if n++; n == 3 {
					panic("broken")
				}
				return "work", func(branch patterns.Run) { patterns.Sleep(branch, time.Hour) }, true
			})
			return patterns.Result{}
		},
		"Flow in a body": many(2, func(branch patterns.Run, _ int) {
			defer func() { panic(fmt.Sprint(recover(), ": broken")) }()
			branch.Flow(func() (string, func(patterns.Run), bool) { return "", nil, false })
		}),
		"an effect of the run in a body": func(run patterns.Run, s patterns.Spec, task patterns.Task) patterns.Result {
			return many(2, func(patterns.Run, int) {
				defer func() { panic(fmt.Sprint(recover(), ": broken")) }()
				patterns.Sleep(run, time.Microsecond)
			})(run, s, task)
		},
		"Go in a body": many(2, func(branch patterns.Run, _ int) {
			defer func() { panic(fmt.Sprint(recover(), ": broken")) }()
			branch.Go("more", 1, 1, func(patterns.Run, int) {})
		}),
	}
	for name, code := range tests {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open opener) {
				e := open(t, func(e *local.Engine) { e.Runs(code) })
				ended, err := e.Start(t.Context(), weaving(t))
				if fault, ok := errors.AsType[*patterns.Fault](err); !ok || !strings.Contains(fault.Error(), "broken") {
					t.Errorf("Start gave %+v, %v; want a fault that names the panic", ended, err)
				}
			})
		})
	}
}

// TestFlowKnowsWhatIsWritten: a body learns of what it has changed when that is in the file.
func TestFlowKnowsWhatIsWritten(t *testing.T) {
	job := stepsOf(t, counting(t, catalog.Write, nil), 1)
	job.Principal = mine
	e := openPort(t, newState(t), &begun{}, func(engine *local.Engine) {
		engine.Runs(many(30, func(branch patterns.Run, i int) {
			out := callingWith(job, "count", patterns.Effect{})(branch, i)
			events, err := engine.Events(mine, branch.ID())
			if err != nil || !slices.ContainsFunc(events, func(e patterns.Event) bool { return e.Kind == patterns.OutcomeEvent && e.Key == out.Key }) {
				t.Errorf("%s is not in the file yet; error %v", out.Key, err)
			}
		}))
	})
	if ended, err := e.Start(t.Context(), job); err != nil || len(ended.Result.Trace) != 30 {
		t.Errorf("Start gave %+v, %v; want 30 bodies", ended, err)
	}
}
