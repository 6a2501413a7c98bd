package local_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// What follows holds for stored plans in memory and in a state file.

// shelf is an engine whose runs are pieces of code about one plan: a run does what is under its goal.
type shelf struct {
	port
	t     testing.TB
	codes map[string]func(*planner)
}

// planner is the code of one run.
type planner struct {
	patterns.Run
	pattern string
	said    []any
}

// shelved is an engine of pieces of code.
func shelved(t testing.TB, open opener, codes map[string]func(*planner)) shelf {
	t.Helper()
	return shelf{open(t, func(e *local.Engine) { e.Runs(performing(codes)) }), t, codes}
}

func performing(codes map[string]func(*planner)) patterns.Pattern {
	return func(run patterns.Run, s patterns.Spec, task patterns.Task) patterns.Result {
		p := &planner{Run: run, pattern: s.Plans, said: []any{}}
		if code := codes[task.Goal]; code != nil {
			code(p)
		} else {
			p.say("no such code")
		}
		return patterns.Result{StopReason: patterns.Success, Trace: p.said}
	}
}

func (p *planner) say(v ...any) { p.said = append(p.said, fmt.Sprint(v...)) }

// aPlan is the plan that these tests are about.
const aPlan = "plan_00000000000000aa"

// storedPlan is a plan without subtasks whose goal tells it from others.
func storedPlan(id, words string) patterns.StoredPlan {
	return patterns.StoredPlan{
		ID: id, Goal: words, Strategy: planning.Flat, Revision: 1, Subtasks: []patterns.PlannedSubtask{}, Removed: []patterns.RemovedSubtask{},
		Metadata:  patterns.PlanMetadata{CreatedAt: "2026-05-02T08:00:00Z", Source: "caller", MaxSubtasks: 15, MaxDepth: 3, MaxReplans: 2},
		Revisions: []patterns.PlanRevision{{Revision: 1, Kind: "decompose", Added: []string{}, Removed: []string{}}}, Trace: []patterns.AttemptRow{},
	}
}

// step does a step and says what became of it.
func (p *planner) step(s patterns.PlanStep) patterns.Outcome {
	if s.Plan == "" {
		s.Plan = aPlan
	}
	if s.Pattern == "" {
		s.Pattern = p.pattern
	}
	out := patterns.StepPlan(p.Run, patterns.Effect{Phase: patterns.PhaseExecute, Deadline: p.Now().Add(-time.Hour)}, s)
	line := string(s.Op) + " "
	if line += string(out.State); out.Reason != "" {
		line += " " + out.Reason
	}
	if said, ok := out.Output.(map[string]any); ok {
		plan, _ := said["plan"].(map[string]any)
		line += fmt.Sprintf(" v%v %v", said["version"], plan["goal"])
	}
	p.say(line)
	return out
}

func (p *planner) create(words string, keep bool) {
	p.step(patterns.PlanStep{Op: patterns.CreateOp, Content: storedPlan(aPlan, words).Encode(), Revision: 1, Keep: keep})
}

func (p *planner) load(over bool) {
	p.step(patterns.PlanStep{Op: patterns.LoadOp, Claim: true, Over: over})
}

func (p *planner) look() { p.step(patterns.PlanStep{Op: patterns.LoadOp}) }

func (p *planner) commit(version int, words string, keep bool) {
	p.step(patterns.PlanStep{Op: patterns.CommitOp, Version: version, Content: storedPlan(aPlan, words).Encode(), Revision: 1, Keep: keep})
}

func (p *planner) release() { p.step(patterns.PlanStep{Op: patterns.ReleaseOp}) }

// rest pauses the run until it is cancelled.
func (p *planner) rest() {
	p.Shows(func() patterns.Result {
		return patterns.Result{StopReason: patterns.Success, Trace: append([]any{"so far"}, p.said...)}
	})
	out := p.Do(patterns.Effect{
		Act: patterns.PauseAct{}, Name: "rest", Input: []byte("null"), Phase: patterns.PhaseExecute, Doing: resting, Timeout: time.Hour,
	})
	p.say("rested ", out.State, " ", out.Reason)
}

const resting = "resting"

// wait waits for the caller.
func (p *planner) wait() {
	out := patterns.Await(p.Run, patterns.Effect{Phase: patterns.PhaseExecute}, patterns.Waiting{Argument: "results", Turn: 1})
	p.say("waited ", out.State, " ", out.Reason)
}

// job is a run of a piece of code.
func (s shelf) job(code string) patterns.Job {
	sp := spec(s.t, gateway.TaskDecomposition, 0)
	sp.Name, sp.Plans = "plan_execute", "plan"
	return patterns.Job{Spec: sp, Task: patterns.Task{Goal: code}, Caller: patterns.Caller{Principal: mine}}
}

// run has a piece of code run to its rest and returns what it said.
func (s shelf) run(code string) (id, said string) {
	s.t.Helper()
	return s.do(s.job(code))
}

func (s shelf) do(job patterns.Job) (id, said string) {
	s.t.Helper()
	ended, err := s.Start(s.t.Context(), job)
	if err != nil {
		s.t.Fatal(err)
	}
	return ended.RunID, sayings(ended)
}

// sayings are what a run that ended said, or that it waits.
func sayings(ended patterns.Ended) string {
	if ended.Waiting != nil {
		return "waits"
	}
	return joined(ended.Result.Trace)
}

func joined(list []any) string {
	lines := make([]string, len(list))
	for i, v := range list {
		lines[i] = fmt.Sprint(v)
	}
	return strings.Join(lines, "; ")
}

// expect runs a piece of code that comes to its end.
func (s shelf) expect(code, want string) string {
	s.t.Helper()
	id, got := s.run(code)
	if got != want {
		s.t.Errorf("%s:\n got %s\nwant %s", code, got, want)
	}
	return id
}

// resting begins a piece of code and returns when it rests.
func (s shelf) resting(code string) (id string) {
	s.t.Helper()
	job, rests := s.job(code), make(chan struct{})
	job.Progress = func(p patterns.Progress) {
		if strings.HasSuffix(p.Line, resting) {
			close(rests)
		}
	}
	id = s.beginning(s.t, job)
	select {
	case <-rests:
	case <-time.After(20 * time.Second):
		s.t.Fatalf("%s does not rest", code)
	}
	return id
}

// stop has a run that rests go on.
func (s shelf) stop(id string) (said string) {
	s.t.Helper()
	if _, err := s.Cancel(s.t.Context(), mine, id, patterns.Note{By: mine}); err != nil {
		s.t.Fatal(err)
	}
	return s.ended(id)
}

// ended is what a run said that ends.
func (s shelf) ended(id string) string {
	s.t.Helper()
	return sayings(s.until(s.t, id, patterns.Over).Ended)
}

func TestPlanSteps(t *testing.T) {
	one, other := 1, 7
	codes := map[string]func(*planner){
		"create":   func(p *planner) { p.create("new", false) },
		"keep":     func(p *planner) { p.create("new", true); p.commit(1, "kept", true); p.commit(2, "free", false) },
		"look":     func(p *planner) { p.look() },
		"twice":    func(p *planner) { p.load(false); p.load(false); p.release(); p.release() },
		"forgets":  func(p *planner) { p.load(false) },
		"change":   func(p *planner) { p.load(false); p.commit(1, "changed", false); p.commit(2, "again", false) },
		"stale":    func(p *planner) { p.load(false); p.commit(7, "changed", false); p.release() },
		"unloaded": func(p *planner) { p.commit(1, "changed", false) },
		"expects": func(p *planner) {
			p.step(patterns.PlanStep{Op: patterns.LoadOp, Expected: &one})
			p.step(patterns.PlanStep{Op: patterns.LoadOp, Claim: true, Expected: &other})
		},
		"others": func(p *planner) { p.step(patterns.PlanStep{Op: patterns.LoadOp, Pattern: "another"}) },
		"odd": func(p *planner) {
			for _, id := range []string{"x", "plan_", "run_00000000000000aa", "plan_00000000000000AA", "plan_00000000000000ab"} {
				p.step(patterns.PlanStep{Op: patterns.LoadOp, Plan: id, Claim: true})
			}
			p.step(patterns.PlanStep{Op: "drop"})
		},
	}
	onBoth(t, func(t *testing.T, open opener) {
		s := shelved(t, open, codes)
		s.expect("look", "load failed plan_not_found")
		s.expect("create", "create ok")
		s.expect("create", "create failed plan_conflict")
		s.expect("look", "load ok v1 new")
		s.expect("twice", "load ok v1 new; load ok v1 new; release ok; release ok")
		s.expect("unloaded", "commit failed plan_conflict")
		s.expect("stale", "load ok v1 new; commit failed plan_conflict; release ok")
		s.expect("expects", "load ok v1 new; load failed plan_conflict v1 new")
		s.expect("others", "load failed plan_not_found")
		s.expect("odd", "load failed plan_not_found; load failed plan_not_found; load failed plan_not_found; load failed plan_not_found; load failed plan_not_found; drop failed refused")
		s.expect("change", "load ok v1 new; commit ok; commit failed plan_conflict")
		s.expect("look", "load ok v2 changed")
		s.expect("forgets", "load ok v2 changed")
		s.expect("look", "load ok v2 changed")
		s.expect("twice", "load failed plan_corrupt; load failed plan_corrupt; release ok; release ok")
	})
	onBoth(t, func(t *testing.T, open opener) {
		s := shelved(t, open, codes)
		id := s.expect("keep", "create ok; commit ok; commit ok")
		s.expect("twice", "load ok v3 free; load ok v3 free; release ok; release ok")
		foreign := s.job("look")
		foreign.Principal = "local:2"
		if _, got := s.do(foreign); got != "load failed plan_not_found" {
			t.Errorf("another principal: %s", got)
		}
		s.intact(t, id)
	})
}

func TestPlanOfAWaitingRun(t *testing.T) {
	t.Parallel()
	codes := map[string]func(*planner){
		"create": func(p *planner) { p.create("new", false) },
		"look":   func(p *planner) { p.look() },
		"work":   func(p *planner) { p.load(false); p.wait(); p.commit(1, "worked", false) },
		"busy":   func(p *planner) { p.load(false) },
		"replan": func(p *planner) { p.load(true); p.commit(1, "replanned", false) },
		"back":   func(p *planner) { p.load(true); p.release() },
		"dies":   func(p *planner) { p.load(true) },
		"waits":  func(p *planner) { p.load(true); p.wait(); p.commit(1, "replanned", false) },
		"frees":  func(p *planner) { p.load(true); p.wait(); p.release() },
	}
	give := func(s shelf, id string) string {
		ended, err := s.Continue(s.t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{"results": object{}}})
		if err != nil {
			return err.Error()
		}
		return sayings(ended)
	}
	const worked = "load ok v1 new; waited ok ; commit ok"
	for name, test := range map[string]func(s shelf, worker string){
		"goes on": func(s shelf, worker string) {
			s.expect("busy", "load failed plan_busy v1 new")
			if got := give(s, worker); got != worked {
				s.t.Errorf("continued: %s", got)
			}
			s.expect("look", "load ok v2 worked")
		},
		"replanned": func(s shelf, worker string) {
			s.expect("replan", "load ok v1 new; commit ok")
			if got := s.ended(worker); got != "load ok v1 new; waited canceled cancelled; commit failed plan_conflict" {
				s.t.Errorf("the waiting run: %s", got)
			}
			s.expect("look", "load ok v2 replanned")
		},
		"given back": func(s shelf, worker string) {
			s.expect("back", "load ok v1 new; release ok")
			if got := give(s, worker); got != worked {
				s.t.Errorf("continued: %s", got)
			}
		},
		"left": func(s shelf, worker string) {
			s.expect("dies", "load ok v1 new")
			s.expect("busy", "load failed plan_busy v1 new")
			if got := give(s, worker); got != worked {
				s.t.Errorf("continued: %s", got)
			}
		},
		"meanwhile": func(s shelf, worker string) {
			other, _ := s.run("waits")
			s.expect("back", "load failed plan_busy v1 new; release ok")
			if got := give(s, worker); got != patterns.ErrNotTaken.Error() {
				s.t.Errorf("continued beneath another: %s", got)
			}
			if got := give(s, other); got != "load ok v1 new; waited ok ; commit ok" {
				s.t.Errorf("the other: %s", got)
			}
			if got := s.ended(worker); !strings.HasSuffix(got, "waited canceled cancelled; commit failed plan_conflict") {
				s.t.Errorf("the waiting run: %s", got)
			}
		},
		"freed": func(s shelf, worker string) {
			other, _ := s.run("frees")
			if got := give(s, worker); got != patterns.ErrNotTaken.Error() {
				s.t.Errorf("continued beneath another: %s", got)
			}
			if got := give(s, other); got != "load ok v1 new; waited ok ; release ok" {
				s.t.Errorf("the other: %s", got)
			}
			if got := give(s, worker); got != worked {
				s.t.Errorf("continued: %s", got)
			}
		},
		"cancelled beneath": func(s shelf, worker string) {
			other, _ := s.run("waits")
			if _, err := s.Cancel(s.t.Context(), mine, worker, patterns.Note{By: mine}); err != nil {
				s.t.Error(err)
			}
			if got := s.ended(worker); got != "load ok v1 new; waited canceled cancelled; commit ok" {
				s.t.Errorf("the waiting run: %s", got)
			}
			if got := give(s, other); got != "load ok v1 new; waited ok ; commit failed plan_conflict" {
				s.t.Errorf("the other: %s", got)
			}
			s.expect("look", "load ok v2 worked")
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open opener) {
				s := shelved(t, open, codes)
				s.expect("create", "create ok")
				worker, got := s.run("work")
				if got != "waits" {
					t.Fatalf("it did not wait: %s", got)
				}
				test(s, worker)
				s.intact(t, worker)
			})
		})
	}
}
