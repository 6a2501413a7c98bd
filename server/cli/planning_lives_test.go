package cli

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog/demo/ledger"
	"patterngate/server/settings"
)

// errand is a plan whose effects are counted outside: a refund in three steps and two reports.
var errand = []map[string]any{
	subtask("look", "", "tool", "get_refund_context", "args", members("user_id", 42)),
	subtask("pay", "look", "tool", "issue_refund", "args", members("user_id", 42, "amount_usd", 49, "reason", "asked")),
	subtask("kpis", "", "tool", "calculate_monthly_kpis", "args", members("month", "2026-04")),
	subtask("mail", "pay kpis", "tool", "send_refund_email", "args", members("user_id", 42, "amount_usd", "$results.pay./refund/amount_usd", "message", "Paid.")),
	subtask("risk", "mail", "tool", "detect_risk_signals", "args", members("month", "2026-04")),
}

const errandTools = `"tools":["get_refund_context","issue_refund","send_refund_email","calculate_monthly_kpis","detect_risk_signals"]`

// planProcess is a scene in a process whose effects are counted outside; hold is a tool whose first effect is never answered.
func planProcess(t *testing.T, settings, hold string, model *planModel) *planScene {
	t.Helper()
	s := &planScene{t: t, budget: settings, model: model, apart: true, dir: t.TempDir()}
	var flags []string
	if hold != "" {
		flags = []string{"--hold", hold}
	}
	var err error
	if s.outside, err = startLedger(io.Discard, s.file("ledger"), flags...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.outside.end(); err != nil {
			t.Errorf("the ledger ended: %v", err)
		}
	})
	return s
}

// effects counts what arrived outside, by tool; "!" stands behind a tool that acted twice under different keys.
func (s *planScene) effects() map[string]int {
	s.t.Helper()
	entries, err := s.outside.book("plans").List(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	n := map[string]int{}
	for _, e := range entries {
		n[e.Tool]++
	}
	for act, times := range ledger.Acts(entries) {
		if times > 1 {
			s.t.Errorf("%s was done %d times", act, times)
		}
	}
	return n
}

// keyed are ids that the world outside makes of a call's key, which is another in each plan.
var keyed = regexp.MustCompile(`"((?:rf|em)_42_)[0-9a-f]{12}"`)

// outcome is what must not depend on how often the server was killed.
func (a planAnswer) outcome() map[string]string {
	o := map[string]string{}
	for _, at := range []string{"/stop_reason", "/plan/subtasks", "/plan_status", "/subtask_results", "/progress", "/revision"} {
		o[at] = keyed.ReplaceAllString(a.at(at), "$1")
	}
	return o
}

func (a planAnswer) sameAs(want map[string]string) {
	a.t.Helper()
	got := a.outcome()
	for _, at := range slices.Sorted(maps.Keys(want)) {
		if got[at] != want[at] {
			a.t.Errorf("%s is\n%s\nwant, as of a run that is left alone,\n%s", at, got[at], want[at])
		}
	}
}

// Killed in the middle of any subtask and started again, the server runs exactly what remains, by itself or asked to, and
// comes to what a run comes to that is left alone.
func TestPlanningCase20(t *testing.T) {
	processes(t)
	t.Parallel()
	calm := planProcess(t, errandTools, "", nil)
	calm.serve()
	want := calm.call("execute", "plan_id", calm.decomposed(errand...)).wants("/stop_reason", `"success"`).outcome()
	order := []string{"look", "kpis", "pay", "mail", "risk"} // by level, then position
	tools, ids := map[string]string{}, map[string]string{}
	for _, s := range errand {
		tools[s["id"].(string)], ids[s["tool"].(string)] = s["tool"].(string), s["id"].(string)
	}
	for k := range order {
		for _, parallel := range []bool{false, true} {
			for _, asked := range []bool{false, true} {
				t.Run(fmt.Sprintf("in %s, parallel %t, asked %t", order[k], parallel, asked), func(t *testing.T) {
					t.Parallel()
					held := tools[order[k]]
					s := planProcess(t, errandTools, held, nil)
					s.overHTTP = parallel
					s.serve()
					id := s.decomposed(errand...)
					s.begin("execute", "plan_id", id, "parallel", parallel)
					<-s.outside.held
					s.again()
					if !asked {
						s.until(id, "/progress", "1")
					}
					a := s.call("execute", "plan_id", id, "parallel", parallel)
					a.sameAs(want)
					a.wants("/joined", "true")
					if got, want := a.traced(), "1:look:1 1:kpis:1 1:pay:1 1:mail:1 1:risk:1"; got != want {
						t.Errorf("the trace is %q, want %q", got, want)
					}
					for tool, n := range s.effects() {
						beside := parallel && k < 3 && slices.Contains(order[:3], ids[tool]) // may have run at the same time
						if want := map[bool]int{true: 2, false: 1}[tool == held]; n != want && !(beside && n <= 2) {
							t.Errorf("%s arrived %d times, want %d", tool, n, want)
						}
					}
				})
			}
		}
	}
}

// Killed between two subtasks, each runs once.
func TestPlanningCase20Between(t *testing.T) {
	processes(t)
	t.Parallel()
	s := planProcess(t, errandTools, "", nil)
	s.serve()
	id := s.decomposed(errand...)
	want := []string{"look:completed", "kpis:completed", "pay:completed", "mail:completed", "risk:completed"}
	for k, done := 0, 0; done < len(want); k++ {
		steps := []int{3, 1, 1}[k] // a payment is made in the run that looked the customer up
		done += steps
		// Each call is one of its own: an equal one would be given the result of the one before, of which a server that is
		// killed at once does not know that it arrived.
		a := s.call("execute", "plan_id", id, "max_steps", steps, "idempotency_key", fmt.Sprint("step ", k))
		if reason := map[bool]string{true: "success", false: "max_steps"}[done == len(want)]; a.reason() != reason {
			t.Errorf("step %d: %s, want %s", k+1, a.reason(), reason)
		}
		for _, row := range want[:done] {
			if !strings.Contains(a.rows(), row) {
				t.Errorf("step %d: %s, want %s in it", k+1, a.rows(), row)
			}
		}
		s.again()
		s.call("status", "plan_id", id, "include_details", true).wants("/plan_status/completed", fmt.Sprint(done), "/plan_status/in_progress", "0")
	}
	for tool, n := range s.effects() {
		if n != 1 {
			t.Errorf("%s arrived %d times", tool, n)
		}
	}
	s.call("status", "plan_id", id, "include_trace", true).ran("1:look:1 1:kpis:1 1:pay:1 1:mail:1 1:risk:1")
}

// Killed while the model works on b: b is done again, and nothing is a success that is not completed.
func TestPlanningCase08(t *testing.T) {
	processes(t)
	for _, parallel := range []bool{false, true} {
		t.Run(fmt.Sprint("parallel ", parallel), func(t *testing.T) {
			t.Parallel()
			m := newPlanModel(t)
			letGo := m.holds("b")
			s := planProcess(t, "", "", m)
			s.serve()
			told := m.watches()
			id := s.decomposed(chain("a", "b", "c")...)
			s.begin("execute", "plan_id", id, "parallel", parallel)
			for what := ""; what != "work b"; what = next(t, told) {
			}
			s.call("status", "plan_id", id).wants("/running", `["b"]`)
			s.again()
			if what := next(t, told); what != "work b" {
				t.Errorf("after the restart the model is asked to %s", what)
			}
			s.call("status", "plan_id", id).wants("/running", `["b"]`, "/progress", "0.3333", "/last_run/status", `"running"`)
			letGo()
			s.call("execute", "plan_id", id, "parallel", parallel).is("success", "a:completed b:completed c:completed").ran("1:a:1 1:b:1 1:c:1")
			if got := m.requests(); got != "work a, work b, work b, work c" {
				t.Errorf("asked: %s", got)
			}
		})
	}
}

// Killed while a payment is made in a world that knows no keys: it is in doubt until somebody says what became of it.
func TestPlanningCase08InDoubt(t *testing.T) {
	processes(t)
	t.Parallel()
	s := planProcess(t, errandTools, "issue_refund", nil)
	s.world = "?plain"
	s.serve()
	id := s.decomposed(errand...)
	begun := s.begin("execute", "plan_id", id)
	<-s.outside.held
	s.again()
	<-begun
	// The plan shows the doubt at once, and waits for its settlement when the run that was carried on rests.
	a := s.until(id, "/waiting_for/kind", `"settlement"`)
	a.wants("/in_doubt", `["pay"]`, "/blocked", "[]", "/plan_status/in_progress", "0")
	s.call("execute", "plan_id", id).wants("/status", `"waiting"`, "/waiting_for/kind", `"settlement"`, "/in_doubt", `["pay"]`, "/plan_status/in_doubt", "1").
		is("", "look:completed pay:in_doubt kpis:completed mail:pending risk:pending")
	settle := program(t, "--config", s.file("config.yaml"), "--state", s.file(settings.StateFile), "runs", "settle", a.string("/last_run/run_id"), a.string("/waiting_for/effect"),
		"--happened", "--result", `{"status":"ok","refund":{"amount_usd":49,"currency":"USD","reason":"asked","transaction_id":"rf_42_0","user_id":42}}`)
	if said, err := settle.CombinedOutput(); err != nil {
		t.Fatalf("runs settle: %v: %s", err, said)
	}
	s.until(id, "/progress", "1")
	s.call("execute", "plan_id", id).is("success", "look:completed pay:completed kpis:completed mail:completed risk:completed").
		wants("/subtask_results/pay/refund/transaction_id", `"rf_42_0"`).ran("1:look:1 1:kpis:1 1:pay:1 1:mail:1 1:risk:1")
	if n := s.effects()["issue_refund"]; n != 1 {
		t.Errorf("paid %d times", n)
	}
}

// Only the stored plan is left of what was done: c gets the results of a and b.
func TestPlanningCase10(t *testing.T) {
	processes(t)
	t.Parallel()
	m := newPlanModel(t)
	s := planProcess(t, "", "", m)
	s.serve()
	id := s.decomposed(subtask("a", ""), subtask("b", "a"), subtask("c", "a b"))
	s.call("execute", "plan_id", id, "max_steps", 2).wants("/stop_reason", `"max_steps"`)
	s.again()
	s.call("execute", "plan_id", id).is("success", "a:completed b:completed c:completed").ran("1:c:1").
		wants("/subtask_results", `{"a":"by a","b":"by b","c":"by c"}`)
	if got := m.last("work c").user["inputs"]; fmt.Sprint(got) != "map[a:by a b:by b]" {
		t.Errorf("c is worked on with %v", got)
	}
}
