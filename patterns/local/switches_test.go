package local_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// switchCases are switches, and whether they are about a call of the tool own in the pattern mine.
var switchCases = map[string]struct {
	on   patterns.Switch
	stop bool
}{
	"everything":      {patterns.Switch{Reason: "fire"}, true},
	"the tool":        {patterns.Switch{Tool: "own"}, true},
	"the pattern":     {patterns.Switch{Pattern: "mine"}, true},
	"another tool":    {patterns.Switch{Tool: "found"}, false},
	"another pattern": {patterns.Switch{Pattern: "own"}, false},
}

// A switch ends every run that it is about before its next call, in the phase where it stands; others go on.
func TestPortKillSwitch(t *testing.T) {
	t.Parallel()
	phases := map[gateway.Kind]string{gateway.TaskDecomposition: "execute", gateway.Orchestrator: "dispatch", gateway.Routing: "delegate",
		gateway.Supervisor: "execution", gateway.Planning: "execute", gateway.Call: "call"}
	onBoth(t, func(t *testing.T, open opener) {
		for name, tt := range switchCases {
			for _, kind := range ownKinds {
				t.Run(name+"/"+string(kind), func(t *testing.T) {
					e, s := open(t), &service{}
					if err := e.KillSwitch(true, tt.on, gateway.SignedAct{}); err != nil {
						t.Fatal(err)
					}
					ended, err := e.Start(t.Context(), s.ownJob(t, kind, nil))
					if err != nil {
						t.Fatal(err)
					}
					r := e.until(t, ended.RunID, patterns.Over).Ended.Result
					if tt.stop && (r.StopReason != "kill_switch" || r.Phase != phases[kind] || s.calls() > 0) {
						t.Errorf("%s in %s after %d calls, want kill_switch in %s after none", r.StopReason, r.Phase, s.calls(), phases[kind])
					}
					if !tt.stop && (!r.OK() || s.calls() != 1) {
						t.Errorf("%s after %d calls, want success", r.StopReason, s.calls())
					}
					e.intact(t, ended.RunID)
				})
			}
		}
	})
}

// Switches are listed as they were set; one about the same takes the place of the one before.
func TestPortSwitchesAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e := open(t)
		at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
		for _, s := range []patterns.Switch{{Tool: "own", Reason: "a", At: at}, {Pattern: "p", At: at.Add(time.Second)}, {Tool: "own", Reason: "b", By: "local:1", Channel: "cli", Assurance: "user", At: at.Add(2 * time.Second)}} {
			if err := e.KillSwitch(true, s, gateway.SignedAct{}); err != nil {
				t.Fatal(err)
			}
		}
		want := []patterns.Switch{{Pattern: "p", At: at.Add(time.Second)}, {Tool: "own", Reason: "b", By: "local:1", Channel: "cli", Assurance: "user", At: at.Add(2 * time.Second)}}
		if got, err := e.KillSwitches(); err != nil || asJSON(t, got) != asJSON(t, want) {
			t.Errorf("%v, switches %s, want %s", err, asJSON(t, got), asJSON(t, want))
		}
		if err := e.KillSwitch(true, patterns.Switch{Tool: "a", Pattern: "b"}, gateway.SignedAct{}); !errors.Is(err, patterns.ErrSwitch) {
			t.Errorf("a switch about both: %v", err)
		}
		if err := e.KillSwitch(false, patterns.Switch{}, gateway.SignedAct{}); !errors.Is(err, patterns.ErrNoSwitch) {
			t.Errorf("taken off without being on: %v", err)
		}
		for _, s := range want {
			if err := e.KillSwitch(false, s, gateway.SignedAct{}); err != nil {
				t.Error(err)
			}
		}
		if got, _ := e.KillSwitches(); len(got) != 0 {
			t.Errorf("still on: %+v", got)
		}
		if ended, err := e.Start(t.Context(), (&service{}).ownJob(t, gateway.Call, nil)); err != nil || !ended.Result.OK() {
			t.Errorf("afterwards: %v, %s", err, ended.Result.StopReason)
		}
	})
}

// A switch that another engine over the file sets counts before the next call of a run that goes on here.
func TestSwitchOfAnotherProcess(t *testing.T) {
	path, s := newState(t), &service{}
	job := s.ownJob(t, gateway.Supervisor, nil)
	job.Spec.Budget.MaxSameCall, job.Spec.Budget.MaxCallsPerTool = 9, 9
	job.Task.Caller = patterns.Proposals("actions", []any{
		object{"kind": "tool", "name": "own", "args": object{"n": 1.0}}, object{"kind": "tool", "name": "own", "args": object{"n": 2.0}}, final})
	other := opened(t, path, jobs{job.Spec.Name: job})
	job.Spec.Catalog = s.tools(t, func(own *catalog.Tool) {
		do := own.Do
		own.Do = func(ctx context.Context, c catalog.Call) (any, error) {
			if err := other.KillSwitch(true, patterns.Switch{}, gateway.SignedAct{}); err != nil {
				t.Error(err)
			}
			return do(ctx, c)
		}
	})
	e := opened(t, path, jobs{job.Spec.Name: job})
	e.Go()
	ended, err := e.Start(t.Context(), job)
	if err != nil || ended.Running != nil {
		t.Fatalf("it runs on (%t), %v; want that who began it waits", ended.Running != nil, err)
	}
	r := ended.Result
	if r.StopReason != "kill_switch" || r.Phase != "execution" || s.calls() != 1 {
		t.Errorf("%s in %s after %d calls, want kill_switch in execution after one", r.StopReason, r.Phase, s.calls())
	}
}

// A run that begins while this engine does not yet know of the switch ends by the switch, not by a fault of the journal: its
// first intent is recorded with its beginning.
func TestSwitchOfAnotherProcessAtTheBeginning(t *testing.T) {
	for _, kind := range ownKinds {
		t.Run(string(kind), func(t *testing.T) {
			path, s := newState(t), &service{}
			job := s.ownJob(t, kind, nil)
			job.Arguments = nil // no equal call joins
			other, e := opened(t, path, jobs{job.Spec.Name: job}), opened(t, path, jobs{job.Spec.Name: job})
			e.Go()
			start := func() patterns.Result {
				t.Helper()
				ended, err := e.Start(t.Context(), job)
				if err != nil || ended.Running != nil {
					t.Fatalf("it runs on (%t), %v; want that who began it waits", ended.Running != nil, err)
				}
				return ended.Result
			}
			if r := start(); !r.OK() {
				t.Fatalf("without a switch: %s", r.StopReason)
			}
			calls := len(s.keys)
			if err := other.KillSwitch(true, patterns.Switch{Tool: "own"}, gateway.SignedAct{}); err != nil {
				t.Fatal(err)
			}
			if r := start(); endOf(r) != patterns.ReasonKillSwitch || len(s.keys) != calls {
				t.Errorf("%s after %d calls more, want %s after none", endOf(r), len(s.keys)-calls, patterns.ReasonKillSwitch)
			}
		})
	}
}

// One business key acts once over all runs: the same arguments get the first outcome, others are refused, and what certainly
// failed leaves it free.
func TestPortOnce(t *testing.T) {
	once := func(own *catalog.Tool) {
		own.Effect, own.Once = catalog.Write, func(map[string]any) (string, error) { return "order-7", nil }
	}
	onBoth(t, func(t *testing.T, open opener) {
		for _, kind := range ownKinds {
			t.Run(string(kind), func(t *testing.T) {
				e, s := open(t), &service{turns: []func(context.Context, catalog.Call) (any, error){faults(catalog.Declined, false, errGone)}}
				job := s.ownJob(t, kind, once)
				run := func(job patterns.Job) (patterns.Result, string) {
					t.Helper()
					job.Arguments = nil
					ended, err := e.Start(t.Context(), job)
					if err != nil {
						t.Fatal(err)
					}
					return e.until(t, ended.RunID, patterns.Over).Ended.Result, ended.RunID
				}
				if r, _ := run(job); endOf(r) != familyOf(kind)+"_error:own" {
					t.Fatalf("the first: %s", endOf(r))
				}
				first, _ := run(job)
				second, id := run(job)
				if !first.OK() || !second.OK() || s.calls() != 2 || s.keys[1] != "order-7" {
					t.Fatalf("%s, then %s after calls %q; want success twice, and one call after the failed one", endOf(first), endOf(second), s.keys)
				}
				if a, b := first.Ledger[0], second.Ledger[0]; asJSON(t, a.Observation) != asJSON(t, b.Observation) || b.Status != gateway.Finished || a.Duplicate || !b.Duplicate {
					t.Errorf("first %+v, then %+v", a, b)
				}
				duplicates := 0
				for _, event := range e.intact(t, id) {
					if body, _ := patterns.DecodeBody(event); body != nil {
						if out, ok := body.(*patterns.OutcomeBody); ok && out.State == "duplicate" {
							duplicates++
						}
					}
				}
				if duplicates != 1 {
					t.Errorf("%d duplicates in the record, want 1", duplicates)
				}
				other := s.ownJob(t, kind, once)
				if kind == gateway.Call {
					other.Task.Args = object{"n": 2.0}
					if r, _ := run(other); r.StopReason != "policy_block:once_reused" || r.Phase != "call" || s.calls() != 2 {
						t.Errorf("other arguments: %s in %s after %d calls", r.StopReason, r.Phase, s.calls())
					}
				}
			})
		}
	})
}

// A switch that another engine over the file sets counts for the very first call of a run, too.
func TestSwitchBeforeTheFirstCall(t *testing.T) {
	path, s := newState(t), &service{}
	job := s.ownJob(t, gateway.Call, nil)
	other, e := opened(t, path, jobs{job.Spec.Name: job}), opened(t, path, jobs{job.Spec.Name: job})
	e.Go()
	if r := start(t, e, job).Result; !r.OK() {
		t.Fatalf("before: %s", r.StopReason)
	}
	if err := other.KillSwitch(true, patterns.Switch{Tool: "own"}, gateway.SignedAct{}); err != nil {
		t.Fatal(err)
	}
	if r := start(t, e, job).Result; r.StopReason != "kill_switch" || r.Phase != "call" || s.calls() != 1 {
		t.Errorf("%s in %s after %d calls, want kill_switch in call after one", r.StopReason, r.Phase, s.calls())
	}
}

// A business key is the act's, whichever of its attempts was sent: what is found out of a later one is known to all.
func TestOnceOfALaterAttempt(t *testing.T) {
	t.Parallel()
	once := func(own *catalog.Tool) {
		looksUp(0)(own)
		own.Once = func(map[string]any) (string, error) { return "order-7", nil }
		own.Retry = catalog.Retry{Max: 2, Delay: time.Millisecond, MaxDelay: 2 * time.Millisecond}
	}
	onBoth(t, func(t *testing.T, open opener) {
		for _, kind := range ownKinds {
			t.Run(string(kind), func(t *testing.T) {
				e, s := open(t), &service{turns: []func(context.Context, catalog.Call) (any, error){
					faults(catalog.NotSent, true, errGone), faults(catalog.NoAnswer, false, errActed)}}
				job := s.ownJob(t, kind, once)
				for range 2 {
					job.Arguments = nil
					ended, err := e.Start(t.Context(), job)
					if err != nil {
						t.Fatal(err)
					}
					if r := e.until(t, ended.RunID, patterns.Over).Ended.Result; !r.OK() || s.calls() != 2 {
						t.Errorf("%s after %d calls, want success after two", endOf(r), s.calls())
					}
				}
			})
		}
	})
}

// A supervisor's refusal of a used key is its own block.
func TestOnceReusedUnderASupervisor(t *testing.T) {
	s, e := &service{}, &local.Engine{}
	defer e.Close()
	job := s.ownJob(t, gateway.Supervisor, func(own *catalog.Tool) {
		own.Effect, own.Once = catalog.Write, func(map[string]any) (string, error) { return "order-7", nil }
	})
	job.Task.Caller = patterns.Proposals("actions", []any{
		object{"kind": "tool", "name": "own", "args": object{"n": 1.0}}, object{"kind": "tool", "name": "own", "args": object{"n": 2.0}}, final})
	if r := start(t, e, job).Result; r.StopReason != "supervisor_block:once_reused" || r.Phase != "supervisor" || s.calls() != 1 {
		t.Errorf("%s in %s after %d calls, want supervisor_block:once_reused after one", r.StopReason, r.Phase, s.calls())
	}
}

// With an approver key a switch is set by anybody, and taken off by its signature alone.
func TestSwitchIsTakenOffBySignature(t *testing.T) {
	path, anna := newState(t), newSigner("a")
	e := opened(t, path, nil)
	if err := e.Approvals().Enroll(anna.enrolled(anna)); err != nil {
		t.Fatal(err)
	}
	on, other := patterns.Switch{Tool: "own"}, patterns.Switch{Pattern: "own"}
	for _, s := range []patterns.Switch{on, other} {
		if err := e.KillSwitch(true, s, gateway.SignedAct{}); err != nil {
			t.Fatalf("setting one: %v", err)
		}
	}
	signed := anna.does(gateway.ActSwitchOff, on.Subject())
	for _, tt := range []struct {
		name string
		act  gateway.SignedAct
		want error
	}{
		{"nobody", gateway.SignedAct{}, patterns.ErrUnsigned},
		{"another's switch", anna.does(gateway.ActSwitchOff, other.Subject()), patterns.ErrForged},
		{"everything", anna.does(gateway.ActSwitchOff, patterns.Switch{}.Subject()), patterns.ErrForged},
		{"another act", anna.does(gateway.ActReload, on.Subject()), patterns.ErrForged},
		{"another key", newSigner("m").does(gateway.ActSwitchOff, on.Subject()), patterns.ErrForged},
		{"changed", gateway.SignedAct{Act: signed.Act, Signature: anna.Sign([]byte("x"))}, patterns.ErrForged},
	} {
		if err := e.KillSwitch(false, on, tt.act); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	job := (&service{}).ownJob(t, gateway.Call, nil)
	if ended, err := e.Start(t.Context(), job); err != nil || ended.Result.StopReason != "kill_switch" {
		t.Errorf("meanwhile: %v, %s", err, ended.Result.StopReason)
	}
	if err := e.Operator().KillSwitch(false, on, signed); err != nil {
		t.Fatalf("by the key: %v", err)
	}
	if list, err := e.KillSwitches(); err != nil || len(list) != 1 || list[0].Pattern != "own" {
		t.Errorf("%v, still on: %+v; want the other", err, list)
	}
	if ended, err := e.Start(t.Context(), job); err != nil || !ended.Result.OK() {
		t.Errorf("afterwards: %v, %s", err, ended.Result.StopReason)
	}
	if err := e.KillSwitch(true, on, gateway.SignedAct{}); err != nil {
		t.Fatal(err)
	}
	if err := e.KillSwitch(false, on, signed); !errors.Is(err, patterns.ErrUsed) {
		t.Errorf("the same act again: %v, want it used", err)
	}
	gone := anna.does(gateway.ActSwitchOff, patterns.Switch{Tool: "none"}.Subject())
	if err := e.KillSwitch(false, patterns.Switch{Tool: "none"}, gone); !errors.Is(err, patterns.ErrNoSwitch) {
		t.Errorf("one that is not on: %v", err)
	}
}

// A call that is cut while one life of its run has ended and the next goes on takes the run back, unless that has begun to write: then
// it goes on, as it would within one life.
func TestCallCutBetweenTwoLives(t *testing.T) {
	for name, tt := range map[string]struct {
		wrote bool
		next  catalog.Effect
		want  string
	}{
		"nothing was written":  {false, catalog.Read, "cancelled"},
		"the first life wrote": {true, catalog.Read, "success"},
		"the next life writes": {false, catalog.Write, "success"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open opener) {
				h, entered, done := held(t, tt.next)
				e := open(t)
				job := h.job("pay")
				job.Wait = -1
				began, err := e.Start(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				<-entered
				cut, cancel := context.WithCancel(t.Context())
				cancel()
				ended, err := e.Followed(cut, mine, began.RunID, tt.wrote)
				if took := tt.want == "cancelled"; err != nil || (ended.Running == nil) != took {
					t.Errorf("the call is told that it runs on: %t, %v", ended.Running != nil, err)
				}
				close(done)
				r := e.until(t, began.RunID, patterns.Over).Ended.Result
				if r.StopReason != tt.want {
					t.Errorf("it ended with %s, want %s", r.StopReason, tt.want)
				}
				for _, ev := range e.intact(t, began.RunID) {
					if body, err := patterns.DecodeBody(ev); err == nil && ev.Kind == patterns.NoteEvent {
						if n := body.(*patterns.NoteBody); n.By != mine || n.Channel != "" {
							t.Errorf("cancelled it was by %s over %s", n.By, n.Channel)
						}
					}
				}
			})
		})
	}
}
