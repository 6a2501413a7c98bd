package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
)

// running waits until so many runs of the state file are under way.
func (s *ownScene) running(t *testing.T, n int) (ids []string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		ids = ids[:0]
		var list struct {
			Runs []struct {
				RunID  string `json:"run_id"`
				Status string `json:"status"`
			} `json:"runs"`
		}
		if err := json.Unmarshal([]byte(s.must(t, "runs", "list", "--json")), &list); err != nil {
			t.Fatal(err)
		}
		for _, run := range list.Runs {
			if run.Status == "running" {
				ids = append(ids, run.RunID)
			}
		}
		if len(ids) == n {
			return ids
		}
	}
	t.Fatalf("the runs under way are %q, want %d", ids, n)
	return nil
}

// Two programs on one state file want the same act at once: it is done once, and all runs end with its outcome; with other
// arguments nothing is sent.
func TestProcessesShareABusinessKey(t *testing.T) {
	if os.Getenv("CI") == "" {
		t.Skip("CI=true: two programs and many runs; TestOnceAtOnce has the same in one process")
	}
	t.Parallel()
	service := newTill(t, turn{pays: true})
	s := service.scene(t, tillOnce)
	one, two := s.serve(t, "TILL_TOKEN="+tillToken), s.serve(t, "TILL_TOKEN="+tillToken)
	first := one.begins(gateway.Call, "first", "A1", 4900)
	service.held()
	if other := two.pays(gateway.Call, "other", "A1", 100); other.StopReason != "policy_block:once_reused" {
		t.Errorf("another amount: %+v, want once_reused", other)
	}
	second := two.begins(gateway.Call, "second", "A1", 4900)
	ids := s.running(t, 2)
	close(service.goes)
	a, b := one.ran(first), two.ran(second)
	if a.Status != "ok" || b.Status != "ok" || a.RunID == b.RunID || string(a.Observation) != string(b.Observation) || strings.Contains(a.Summary, "again") || !strings.Contains(b.Summary, "nothing was sent again") {
		t.Errorf("the first: %+v\nthe second: %+v", a, b)
	}
	if len(service.keys()) != 1 || service.times("A1") != 1 {
		t.Errorf("asked by %q, paid %d times", service.keys(), service.times("A1"))
	}
	keptWhole(t, s, ids)

	s.must(t, "kill-switch", "on", "--tool", "pay")
	stopped := two.pays(gateway.Call, "stopped", "C1", 100)
	if stopped.StopReason != "kill_switch" || service.times("C1") != 0 || len(stopped.payments()) != 0 {
		t.Errorf("switched off: %+v", stopped)
	}
	s.must(t, "kill-switch", "off", "--tool", "pay")
	keptWhole(t, s, []string{stopped.RunID})
	if receipt := s.must(t, "runs", "show", stopped.RunID, "--receipt"); !strings.Contains(receipt, "Called       nothing") || !strings.Contains(receipt, "kill_switch in phase call") {
		t.Errorf("the receipt of what was switched off:\n%s", receipt)
	}

	type asked struct {
		of *servedScene
		id int
	}
	for round := range 5 {
		order := fmt.Sprintf("B%d", round)
		var all []asked
		for i := range 6 {
			of := []*servedScene{one, two}[i%2]
			all = append(all, asked{of, of.begins(gateway.Call, fmt.Sprintf("%s/%d", order, i), order, 100)})
		}
		sent := 0
		for _, q := range all {
			end := q.of.ran(q.id)
			if end.Status != "ok" || !slices.Equal(end.payments(), []string{"done"}) {
				t.Errorf("%s: %+v", order, end)
			}
			if !strings.Contains(end.Summary, "nothing was sent again") {
				sent++
			}
		}
		if sent != 1 || service.times(order) != 1 {
			t.Errorf("%s was paid %d times, and %d runs say so", order, service.times(order), sent)
		}
	}
}

// A run whose program was killed in the middle of a payment goes on under another only where the configuration still names
// the same tool: until then nothing is sent, and it is said what is missing.
func TestKilledRunUnderAnotherConfiguration(t *testing.T) {
	if os.Getenv("CI") == "" {
		t.Skip("CI=true: three starts of the program each; TestSnapshotReachesNothingElse has the rule")
	}
	t.Parallel()
	elsewhere := newTill(t)
	for name, tt := range map[string]struct {
		change func(catalog string, service *till) string
		goes   bool
	}{
		"described otherwise": {func(catalog string, _ *till) string { return strings.Replace(catalog, "Pays an order.", "Pays.", 1) }, true},
		"gone": {func(catalog string, _ *till) string {
			return strings.Replace(strings.Replace(catalog, "effect: write", "effect: write\n      enabled: false", 1), "expose: [pay]", "expose: [paid]", 1)
		}, false},
		"changed": {func(catalog string, service *till) string {
			return strings.Replace(catalog, service.url+"/pay\"", elsewhere.url+"/pay\"", 1)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := newTill(t, turn{pays: true})
			catalog := service.catalog(tillOnce + tillLooks)
			s := newOwnScene(t, catalog, "")
			first := s.serve(t, "TILL_TOKEN="+tillToken)
			first.begins(gateway.Call, "first", "A1", 4900)
			service.held()
			first.kill()
			id := s.running(t, 1)[0]

			changed := tt.change(catalog, service)
			if changed == catalog {
				t.Fatal("nothing is changed")
			}
			s.write(t, changed, "")
			next := s.serve(t, "TILL_TOKEN="+tillToken)
			waits := func(c *servedScene) (run tillRun) {
				t.Helper()
				for end := time.Now().Add(patience); time.Now().Before(end); {
					run = c.ran(c.send("tools/call", fmt.Sprintf(`{"name":"run_status","arguments":{"run_id":%q}}`, id)))
					if run.Status != "running" {
						break
					}
				}
				return run
			}
			run := waits(next)
			if !tt.goes {
				if run.Status != "waiting" || run.WaitingFor.Kind != "retry" || run.WaitingFor.Cause != "config_missing" {
					t.Errorf("meanwhile: %+v, want that the configuration is missing", run)
				}
				if strings.Contains(run.Summary, "Nothing ran") || strings.Contains(run.Summary, "Nothing was") {
					t.Errorf("meanwhile it says %q of a payment that may have been made", run.Summary)
				}
				if len(service.keys()) != 1 || service.lookUps() != 0 || len(elsewhere.keys()) != 0 {
					t.Errorf("meanwhile somebody was asked: %q, %d, %q", service.keys(), service.lookUps(), elsewhere.keys())
				}
				next.kill()
				s.write(t, catalog, "")
				run = waits(s.serve(t, "TILL_TOKEN="+tillToken))
			}
			if run.Status != "ok" || !slices.Equal(run.payments(), []string{"done"}) || len(service.keys()) != 1 || service.times("A1") != 1 || service.lookUps() != 1 {
				t.Errorf("in the end %+v; asked %d times, paid %d times, looked up %d times", run, len(service.keys()), service.times("A1"), service.lookUps())
			}
			keptWhole(t, s, []string{id})
		})
	}
}
