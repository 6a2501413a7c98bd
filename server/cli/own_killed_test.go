package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/server/cli/console"
)

// killedKinds are the kinds that tests with killed processes go through.
func killedKinds(t *testing.T) []gateway.Kind {
	if os.Getenv("CI") == "" { // each takes several starts of the program
		t.Log("of the kinds only call; all of them with CI=true")
		return []gateway.Kind{gateway.Call}
	}
	return []gateway.Kind{gateway.Call, gateway.TaskDecomposition, gateway.Orchestrator, gateway.Routing, gateway.Supervisor, gateway.Planning}
}

// A program that is killed in the middle of a payment leaves it to the next one, and it is made once.
func TestKilledWhileItPays(t *testing.T) {
	t.Parallel()
	held, paidHeld, lost := turn{}, turn{pays: true}, turn{code: http.StatusServiceUnavailable}
	const retry = "retry: {max_retries: 3, delay_seconds: 0.05}\n"
	for name, tt := range map[string]struct {
		members string
		turns   []turn
		looks   []turn
		holds   int  // requests that are held before the program is killed
		knows   bool // the service knows its keys
		asked   int  // how often it is asked to pay
		settle  bool // a person says that it happened
		always  bool // also without CI
	}{
		"once, looked up":                 {members: tillOnce + tillLooks, turns: []turn{paidHeld}, holds: 1, asked: 1, always: true},
		"once, looked up, and not paid":   {members: tillOnce + tillLooks, turns: []turn{held}, holds: 1, asked: 2},
		"once, repeated":                  {members: tillOnce + tillRepeat, turns: []turn{paidHeld}, holds: 1, knows: true, asked: 2},
		"once, a person says":             {members: tillOnce, turns: []turn{paidHeld}, holds: 1, asked: 1, settle: true},
		"in a retry":                      {members: tillRepeat + retry, turns: []turn{lost, paidHeld}, holds: 1, knows: true, asked: 3},
		"in a retry of a business key":    {members: tillOnce + tillRepeat + retry, turns: []turn{lost, paidHeld}, holds: 1, knows: true, asked: 3},
		"while it is looked up":           {members: tillOnce + tillLooks + "retry: {max_retries: 1}\n", turns: []turn{{pays: true, code: http.StatusBadGateway}}, looks: []turn{{}}, holds: 1, asked: 1, always: true},
		"while it is looked up, not paid": {members: tillLooks, turns: []turn{{code: http.StatusBadGateway}}, looks: []turn{{}}, holds: 1, asked: 2},
	} {
		for _, kind := range killedKinds(t) {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				if !tt.always && os.Getenv("CI") == "" {
					t.Skip("CI=true: two starts of the program each; the others always run")
				}
				t.Parallel()
				service := newTill(t, tt.turns...)
				service.looks, service.knows = tt.looks, tt.knows
				s := service.scene(t, tt.members)
				first := s.serve(t, "TILL_TOKEN="+tillToken)
				first.begins(kind, "first", "A1", 4900)
				for range tt.holds {
					service.held()
				}
				first.kill()

				next := s.serve(t, "TILL_TOKEN="+tillToken)
				run := next.pays(kind, "first", "A1", 4900)
				if tt.settle {
					if run.Status != "waiting" || run.WaitingFor.Kind != "settlement" || run.WaitingFor.Cause != "crash" || !slices.Equal(run.payments(), []string{"in_doubt"}) {
						t.Fatalf("it is to be settled: %+v", run)
					}
					if other := next.pays(kind, "meanwhile", "A1", 4900); !strings.HasSuffix(other.StopReason, ":once_reused") && kind != gateway.Orchestrator && kind != gateway.Planning {
						t.Errorf("meanwhile: %+v, want once_reused", other)
					}
					s.must(t, "runs", "settle", run.RunID, run.WaitingFor.Key, "--happened", "--result", `{"state":"paid","receipt":"R-A1","cents":4900}`)
					run = next.pays(kind, "first", "A1", 4900)
				}
				if run.Status != "ok" || !slices.Equal(run.payments(), []string{"done"}) {
					t.Errorf("after the restart: %+v\n%s", run, next.log)
				}
				keys := service.keys()
				if service.times("A1") != 1 || len(keys) != tt.asked || len(slices.Compact(slices.Clone(keys))) != 1 {
					t.Errorf("paid %d times after requests %q; want once, after %d of one key", service.times("A1"), keys, tt.asked)
				}
				ids := []string{run.RunID}
				if strings.Contains(tt.members, tillOnce) {
					ids = append(ids, paysOnce(t, next, kind, service, run)...)
				}
				keptWhole(t, s, ids)
				toldOnce(t, s, ids)
				if strings.Contains(first.log.String()+next.log.String()+next.told.String(), tillToken) {
					t.Error("a log or an answer holds the service's secret")
				}
			})
		}
	}
}

// paysOnce holds that a payment is not made again by other runs: the same gets the first outcome, another amount nothing.
func paysOnce(t *testing.T, c *servedScene, kind gateway.Kind, service *till, first tillRun) (ids []string) {
	t.Helper()
	asked, looked := len(service.keys()), service.lookUps()
	again := c.pays(kind, "second", "A1", 4900)
	if again.Status != "ok" || again.RunID == first.RunID || !slices.Equal(again.payments(), []string{"done"}) || !strings.Contains(again.Summary, "nothing was sent again") {
		t.Errorf("the same from another run: %+v", again)
	}
	if kind == gateway.Call && string(again.Observation) != string(first.Observation) {
		t.Errorf("the same from another run gives %s, want %s", again.Observation, first.Observation)
	}
	other := c.pays(kind, "third", "A1", 100)
	if other.Status == "ok" || len(other.payments()) != 0 {
		t.Errorf("another amount: %+v", other)
	}
	if kind != gateway.TaskDecomposition && service.lookUps() != looked || len(service.keys()) != asked || service.times("A1") != 1 {
		t.Errorf("asked %d times, paid %d times", len(service.keys()), service.times("A1"))
	}
	return []string{again.RunID, other.RunID}
}

// toldOnce holds that a payment stands once in the receipt of the run that made it, and as made before in that of another.
func toldOnce(t *testing.T, s *ownScene, ids []string) {
	t.Helper()
	for i, want := range []string{"pay (writes): done", "pay (writes): done before; nothing was sent again"}[:min(2, len(ids))] {
		receipt, shown := s.must(t, "runs", "show", ids[i], "--receipt"), s.must(t, "runs", "show", ids[i])
		if strings.Count(receipt, ". pay (writes): ") != 1 || !strings.Contains(receipt, want) {
			t.Errorf("receipt %d, want one %q:\n%s", i, want, receipt)
		}
		if shown = strings.Join(strings.Fields(shown), " "); i == 1 && !strings.Contains(shown, want) {
			t.Errorf("timeline %d, want %q:\n%s", i, want, shown)
		}
	}
}

// keptWhole holds that the records of runs are whole, in the file, its backup and their exports, and hold no secret.
func keptWhole(t *testing.T, s *ownScene, ids []string) {
	t.Helper()
	backup := filepath.Join(t.TempDir(), "copy.db")
	s.must(t, "state", "backup", backup)
	s.must(t, "runs", "verify", "--all")
	code, out, errs := s.command(t, nil, "--state", backup, "runs", "verify", "--all")
	if code != console.ExitDone {
		t.Errorf("of the backup: %d %s%s", code, out, errs)
	}
	said := out
	for _, id := range ids {
		said += s.must(t, "runs", "verify", id)
		export := s.must(t, "runs", "export", id)
		file := fmt.Sprintf("%s.%s.jsonl", s.state, id)
		if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
			t.Fatal(err)
		}
		said += export + s.must(t, "runs", "verify", file) + s.must(t, "runs", "show", id) + s.must(t, "runs", "show", id, "--receipt") + s.must(t, "runs", "show", id, "--json")
	}
	for _, file := range []string{s.state, backup} {
		said += readFile(t, file)
	}
	if strings.Contains(said, tillToken) {
		t.Error("a record holds the service's secret")
	}
}
