package local_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/local"
)

// inFile is an engine of pieces of code over a state file that others may open too.
func inFile(t testing.TB, path string, source *begun, codes map[string]func(*planner), change ...func(*local.Engine)) shelf {
	t.Helper()
	change = append(change, func(e *local.Engine) { e.Runs(performing(codes)) })
	return shelf{openPort(t, path, source, change...), t, codes}
}

// What somebody wrote into a plan's row is found, and costs that plan alone.
func TestDamagedPlans(t *testing.T) {
	other := storedPlan("plan_00000000000000bb", "other").Encode()
	strange := bytes.Replace(storedPlan(aPlan, "strange").Encode(), []byte(`"strategy"`), []byte(`"stratagem"`), 1)
	for name, tt := range map[string]struct {
		query string
		args  []any
		load  string // what a load says then
		claim string // and one that claims the plan
		shown error
	}{
		"body":             {"UPDATE plans SET body = CAST('{}' AS BLOB) WHERE id = 170", nil, "plan_corrupt", "plan_corrupt", patterns.ErrPlanCorrupt},
		"body, no JSON":    {"UPDATE plans SET body = zeroblob(100) WHERE id = 170", nil, "plan_corrupt", "plan_corrupt", patterns.ErrPlanCorrupt},
		"hash":             {"UPDATE plans SET sha256 = zeroblob(32) WHERE id = 170", nil, "plan_corrupt", "plan_corrupt", patterns.ErrPlanCorrupt},
		"no hash":          {"UPDATE plans SET sha256 = x'' WHERE id = 170", nil, "plan_corrupt", "plan_corrupt", patterns.ErrPlanCorrupt},
		"another's body":   {"UPDATE plans SET body = ?, sha256 = ? WHERE id = 170", []any{[]byte(other), local.SumOf(other)}, "plan_corrupt", "plan_corrupt", patterns.ErrPlanCorrupt},
		"a strange body":   {"UPDATE plans SET body = ?, sha256 = ? WHERE id = 170", []any{strange, local.SumOf(strange)}, "", "", patterns.ErrPlanCorrupt},
		"another revision": {"UPDATE plans SET revision = 7 WHERE id = 170", nil, "plan_corrupt", "plan_corrupt", patterns.ErrPlanCorrupt},
		"an unknown run":   {"UPDATE plans SET run = 1 WHERE id = 170", nil, "", "plan_corrupt", nil},
		"itself beneath":   {"UPDATE plans SET run = 1, under = 1 WHERE id = 170", nil, "", "plan_corrupt", nil},
		"nobody above":     {"UPDATE plans SET under = 1 WHERE id = 170", nil, "", "", nil},
		"an odd version":   {"UPDATE plans SET version = -9223372036854775808 WHERE id = 170", nil, "", "", nil},
		"another's":        {"UPDATE plans SET principal = 'local:2' WHERE id = 170", nil, "plan_not_found", "plan_not_found", patterns.ErrNoPlan},
		"another time":     {"UPDATE plans SET created = 9223372036854775807, changed = -1 WHERE id = 170", nil, "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := inFile(t, newState(t), &begun{}, map[string]func(*planner){
				"create": func(p *planner) {
					p.create("new", false)
					p.step(patterns.PlanStep{Op: patterns.CreateOp, Plan: "plan_00000000000000bb", Content: other, Revision: 1})
				},
				"look": func(p *planner) { p.look() },
				"load": func(p *planner) { p.load(true) },
				"both": func(p *planner) { p.step(patterns.PlanStep{Op: patterns.LoadOp, Plan: "plan_00000000000000bb"}) },
			})
			s.run("create")
			s.Alter(t, tt.query, tt.args...)
			for code, want := range map[string]string{"look": tt.load, "load": tt.claim} {
				if _, got := s.run(code); want != "" && got != "load failed "+want || want == "" && !strings.HasPrefix(got, "load ok") {
					t.Errorf("%s said %s, want %q", code, got, want)
				}
			}
			if _, err := s.Plan(mine, "plan", aPlan); !errors.Is(err, tt.shown) {
				t.Errorf("Plan: %v, want %v", err, tt.shown)
			}
			s.expect("both", "load ok v1 other")
			page, err := s.ListPlans(patterns.PlanFilter{Principal: mine, Pattern: "plan"})
			if want := map[bool]int{true: 1, false: 2}[tt.shown == patterns.ErrNoPlan]; err != nil || len(page.Plans) != want {
				t.Fatalf("ListPlans: %d plans, %v; want %d", len(page.Plans), err, want)
			}
			for _, p := range page.Plans {
				if damaged := p.Plan.ID == aPlan && tt.shown != nil; damaged != (p.Plan.Revision == 0) || p.Plan.ID == "" {
					t.Errorf("listed as %+v", p.Plan)
				}
			}
		})
	}
}

// A plan whose pages are damaged is corrupt; what else is in the file is not touched by that.
func TestDamagedPageOfAPlan(t *testing.T) {
	path, source := newState(t), &begun{}
	long := strings.Repeat("a long goal; ", 4000)
	codes := map[string]func(*planner){
		"create": func(p *planner) {
			p.create(long, false)
			p.step(patterns.PlanStep{Op: patterns.CreateOp, Plan: "plan_00000000000000bb", Content: storedPlan("plan_00000000000000bb", "other").Encode(), Revision: 1})
		},
		"load": func(p *planner) { p.load(false); p.release() },
		"both": func(p *planner) { p.step(patterns.PlanStep{Op: patterns.LoadOp, Plan: "plan_00000000000000bb"}) },
	}
	s := inFile(t, path, source, codes)
	s.run("create")
	s.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const pageSize = 4096
	at := 0
	for !strings.Contains(long, string(b[at+4:at+24])) { // a page that holds nothing but a part of the body
		at += pageSize
	}
	copy(b[at:], []byte{0xff, 0xff, 0xff, 0xff}) // where it says which page follows
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = inFile(t, path, source, codes)
	s.expect("load", "load failed plan_corrupt; release ok")
	s.expect("both", "load ok v1 other")
	if _, err := s.Plan(mine, "plan", aPlan); !errors.Is(err, patterns.ErrPlanCorrupt) {
		t.Errorf("Plan: %v, want ErrPlanCorrupt", err)
	}
}

// What a pruned run did not give back stays claimed.
func TestPlanOfAPrunedRun(t *testing.T) {
	s := inFile(t, newState(t), &begun{}, map[string]func(*planner){
		"create": func(p *planner) { p.create("new", true) },
		"load":   func(p *planner) { p.load(true) },
	})
	id, _ := s.run("create")
	if list, err := s.Operator().Prune(time.Now().Add(time.Hour), false); err != nil || len(list) != 1 {
		t.Fatalf("Prune: %v, %v", list, err)
	}
	s.expect("load", "load failed plan_corrupt")
	state, err := s.Plan(mine, "plan", aPlan)
	if err != nil || state.Holder != id || state.State != patterns.Over || state.Plan.Goal != "new" {
		t.Errorf("Plan: %+v, %v", state, err)
	}
}

// A run that waits beneath another is taken up by nobody, however it is woken; not even by another process.
func TestWokenBeneathAnother(t *testing.T) {
	codes := map[string]func(*planner){
		"create": func(p *planner) { p.create("new", false) },
		"work":   func(p *planner) { p.load(false); p.wait(); p.commit(1, "worked", false) },
		"replan": func(p *planner) { p.load(true); p.rest(); p.commit(1, "replanned", false) },
		"back":   func(p *planner) { p.load(true); p.rest(); p.release() },
		"look":   func(p *planner) { p.look() },
	}
	for code, want := range map[string][2]string{
		"replan": {"load ok v1 new; waited canceled cancelled; commit failed plan_conflict", "load ok v2 replanned"},
		"back":   {"load ok v1 new; waited failed expired; commit ok", "load ok v2 worked"},
	} {
		t.Run(code, func(t *testing.T) {
			path, source := newState(t), &begun{}
			s := inFile(t, path, source, codes)
			s.expect("create", "create ok")
			worker, _ := s.run("work")
			other := s.resting(code)
			beside := inFile(t, path, source, codes, func(e *local.Engine) { e.Ahead(time.Hour) }) // there its time is over
			for _, e := range []shelf{s, beside} {
				if _, err := e.Operator().Resume(t.Context(), worker); !errors.Is(err, patterns.ErrNotTaken) {
					t.Errorf("Resume: %v, want ErrNotTaken", err)
				}
			}
			if state := s.until(t, worker, patterns.Parked); state.State != patterns.Parked {
				t.Errorf("it is %s", state.State)
			}
			s.stop(other)
			if got := beside.ended(worker); got != want[0] {
				t.Errorf("the waiting run: %s\nwant %s", got, want[0])
			}
			beside.expect("look", want[1])
			s.intact(t, worker)
			beside.intact(t, other)
		})
	}
	t.Run("decided", func(t *testing.T) { // by a person: it is ready, and waits all the same
		s := inFile(t, newState(t), &begun{}, codes)
		s.expect("create", "create ok")
		worker, _ := s.run("work")
		other := s.resting("replan")
		s.Alter(t, "UPDATE runs SET state = 'ready', epoch = epoch + 1, wake = NULL WHERE n = ?", local.Number(worker))
		if _, err := s.Operator().Resume(t.Context(), worker); !errors.Is(err, patterns.ErrNotTaken) {
			t.Errorf("Resume: %v, want ErrNotTaken", err)
		}
		if got := s.stop(other); !strings.HasSuffix(got, "; commit ok") {
			t.Errorf("the other: %s", got)
		}
		if got := s.ended(worker); !strings.HasSuffix(got, "; commit failed plan_conflict") {
			t.Errorf("the waiting run: %s", got)
		}
	})
}

// In memory a run whose time is over beneath another ends when it has its plan again.
func TestExpiredBeneathAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		codes := map[string]func(*planner){
			"create": func(p *planner) { p.create("new", false) },
			"work":   func(p *planner) { p.load(false); p.wait(); p.commit(1, "worked", false) },
			"back":   func(p *planner) { p.load(true); p.rest(); p.release() },
		}
		e := &local.Engine{Waits: local.Waits{CallerWait: time.Minute}}
		defer e.Close()
		e.Runs(performing(codes))
		s := shelf{port{e, &begun{}}, t, codes}
		s.expect("create", "create ok")
		worker, _ := s.run("work")
		other := s.resting("back")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if now, _ := s.Run(mine, worker); now.State != patterns.Parked {
			t.Errorf("beneath another it is %s", now.State)
		}
		s.stop(other)
		if got := s.ended(worker); got != "load ok v1 new; waited failed expired; commit ok" {
			t.Errorf("the waiting run: %s", got)
		}
	})
}

// What could not be stored was not: the run is carried on when it can be, and its change is stored once.
func TestPlanOfAFullDisk(t *testing.T) {
	var s shelf
	full := true
	s = inFile(t, newState(t), &begun{}, map[string]func(*planner){
		"create": func(p *planner) { p.create("new", false) },
		"work": func(p *planner) {
			p.load(false)
			if full {
				s.Full(s.t, true)
			}
			p.commit(1, "worked", true)
			p.commit(2, "done", false)
		},
		"look": func(p *planner) { p.look() },
	})
	s.expect("create", "create ok")
	id, _ := s.run("work")
	full = false
	s.Full(t, false)
	if got := s.ended(id); got != "load ok v1 new; commit ok; commit ok" {
		t.Errorf("it said %s", got)
	}
	s.expect("look", "load ok v3 done")
	s.intact(t, id)
}

// A life of a run that has lost its plan begins nothing, but may give back what it has.
func TestLifeWithoutItsPlan(t *testing.T) {
	did := 0
	s := inFile(t, newState(t), &begun{}, map[string]func(*planner){
		"create": func(p *planner) { p.create("new", false) },
		"work": func(p *planner) {
			p.load(false)
			p.wait()
			out := p.Do(patterns.Effect{Act: patterns.PauseAct{}, Name: "act", Input: []byte("null")})
			p.say(out.State, " ", out.Reason)
			if out.State == patterns.OK {
				did++
			}
			p.commit(1, "worked", false)
			p.release()
		},
	})
	s.expect("create", "create ok")
	id, _ := s.run("work")
	s.Alter(t, "UPDATE plans SET run = NULL WHERE id = 170")
	ended, err := s.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{"results": object{}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := sayings(ended); got != "load ok v1 new; waited ok ; canceled cancelled; commit failed plan_conflict; release ok" || did != 0 {
		t.Errorf("it said %s", got)
	}
}

// A file of the version before has no plans, and then may have some.
func TestPlansInAnOlderFile(t *testing.T) {
	path := noState(t)
	local.OlderState(t, path)
	s := inFile(t, path, &begun{}, map[string]func(*planner){
		"create": func(p *planner) { p.create("new", false) },
		"look":   func(p *planner) { p.look() },
	})
	s.expect("look", "load failed plan_not_found")
	s.expect("create", "create ok")
	copied := noState(t)
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	later := inFile(t, copied, &begun{}, s.codes)
	later.expect("look", "load ok v1 new")
}

// Values at redacted places, and what is known of them, stand in no record; the plan keeps them.
func TestRedactedPlan(t *testing.T) {
	path, source := newState(t), &begun{}
	e := redacting(t, path, source, []string{"/args/card", "/result/*/email", "/input/iban", "/answer"})
	codes := map[string]func(*planner){
		"create": func(p *planner) {
			plan := storedPlan(aPlan, "pay DE89370400440532013000")
			plan.Subtasks = []patterns.PlannedSubtask{{
				ID: "pay", Description: "pay with 4111-1111", Dependencies: []string{}, Tool: "pay", Args: map[string]any{"card": "4111-1111"},
				Status: patterns.SubtaskCompleted, Source: "tool", Result: map[string]any{"user": map[string]any{"email": "a@zanzibar.example"}},
			}}
			plan.Answered, plan.Answer = true, "told a@zanzibar.example: Ngorongoro"
			p.step(patterns.PlanStep{Op: patterns.CreateOp, Content: plan.Encode(), Revision: 1})
		},
		"look": func(p *planner) { p.load(false); p.commit(1, "new", false) },
	}
	e.Runs(performing(codes))
	s := shelf{port{e, source}, t, codes}
	e.Go()
	s.expect("create", "create ok")
	job := s.job("look")
	job.Arguments = object{"job": 1.0, "iban": "DE89370400440532013000"}
	source.add(job)
	id, got := s.do(job)
	if want := "load ok v1 pay DE89370400440532013000; commit ok"; got != want {
		t.Errorf("it said %s\nwant %s", got, want)
	}
	events := s.intact(t, id)
	marked := 0
	for _, e := range events {
		for _, secret := range []string{"4111-1111", "zanzibar", "Ngorongoro", "DE8937"} {
			if bytes.Contains(e.Body, []byte(secret)) {
				t.Errorf("event %d, %s %s, has %s: %s", e.Seq, e.Kind, e.Key, secret, e.Body)
			}
		}
		if marked += bytes.Count(e.Body, []byte(patterns.Redacted)); e.Kind == patterns.IntentEvent && e.Key == "commit#1" && !bytes.Contains(e.Body, []byte(`"sha256":{"`+patterns.Redacted)) {
			t.Errorf("the intent of the commit tells the plan's hash: %s", e.Body)
		}
	}
	if marked < 5 {
		t.Errorf("%d values were hidden", marked)
	}
}

// A plan of some megabytes goes through a record as any other.
func TestLargePlan(t *testing.T) {
	const n = 500
	large := storedPlan(aPlan, "large")
	for i := range n {
		large.Subtasks = append(large.Subtasks, patterns.PlannedSubtask{
			ID: fmt.Sprintf("s%d", i), Description: "work", Dependencies: []string{}, Tool: "caller", Status: patterns.SubtaskCompleted,
			Result: map[string]any{"text": strings.Repeat("x", 4<<10)},
		})
	}
	content := large.Encode()
	onBoth(t, func(t *testing.T, open opener) {
		s := shelved(t, open, map[string]func(*planner){
			"create": func(p *planner) { p.step(patterns.PlanStep{Op: patterns.CreateOp, Content: content, Revision: 1}) },
			"work":   func(p *planner) { p.load(false); p.wait(); p.commit(1, "worked", false) },
			"huge": func(p *planner) {
				p.step(patterns.PlanStep{Op: patterns.CreateOp, Plan: "plan_00000000000000bb", Content: bytes.Repeat([]byte("1"), 33<<20), Revision: 1})
			},
		})
		s.expect("create", "create ok")
		id, _ := s.run("work")
		state, err := s.Plan(mine, "plan", aPlan)
		if err != nil || len(state.Plan.Subtasks) != n {
			t.Fatalf("%d subtasks, %v", len(state.Plan.Subtasks), err)
		}
		ended, err := s.Continue(t.Context(), patterns.Continuation{Principal: mine, RunID: id, Given: object{"results": object{}}})
		if got := sayings(ended); err != nil || got != "load ok v1 large; waited ok ; commit ok" {
			t.Errorf("it said %s, %v", got, err)
		}
		s.intact(t, id)
		if !s.File() {
			s.expect("huge", "create failed refused")
		}
	})
}

// In memory plans of one principal make way for its newest, but none that a run has.
func TestPlansInMemoryMakeWay(t *testing.T) {
	content := make([]byte, 8<<20) // is no plan, which nobody judges before it is loaded
	s := shelved(t, openers["memory"], map[string]func(*planner){
		"keep": func(p *planner) { p.create("mine", true); p.wait() },
		"dies": func(p *planner) { p.load(true) },
		"many": func(p *planner) {
			for i := range 9 {
				p.step(patterns.PlanStep{Op: patterns.CreateOp, Plan: planAt(i), Content: content, Revision: 1})
			}
		},
	})
	s.run("keep")
	s.run("dies") // over it, and is no more
	s.run("many")
	for id, want := range map[string]error{
		planAt(0): patterns.ErrNoPlan, planAt(1): patterns.ErrNoPlan, planAt(2): patterns.ErrPlanCorrupt, planAt(8): patterns.ErrPlanCorrupt, aPlan: nil,
	} {
		if _, err := s.Plan(mine, "plan", id); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
}
