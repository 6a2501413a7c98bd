package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/arguments"
)

const paidRefund = `{"goal":"x","actions":[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}},` +
	`{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":100,"reason":"broke"}}]}`

// overState opens an engine over a state file. alter, where given, changes the jobs of runs that were begun earlier.
func overState(t *testing.T, path string, alter func(*patterns.Job)) (*session, *local.Engine) {
	t.Helper()
	var config Config
	engine, err := local.Open(local.Options{Path: path, Source: altered{served{func() Config { return config }}, alter}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	return connect(t, serving(t, func(c *Config) { c.Engine = engine; config = *c })), engine
}

type altered struct {
	served
	alter func(*patterns.Job)
}

func (a altered) Job(b patterns.Begun) (patterns.Job, error) {
	job, err := a.served.Job(b)
	if a.alter != nil {
		a.alter(&job)
	}
	return job, err
}

// Of a run whose record is damaged nobody is told that nothing was done, and its phase is one that its pattern has.
func TestDamagedRecordIsShown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	c, engine := overState(t, path, nil)
	paid := idOf(t, c.call(sv, paidRefund).result(t))
	engine.Close() // so that all of it is in the one file
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.ReplaceAll(whole, []byte(`"reason":"broke"`), []byte(`"reason":"other"`))
	if bytes.Equal(damaged, whole) {
		t.Fatal("the record does not hold the payment's reason")
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ = overState(t, path, nil)
	for call, arguments := range map[string]string{
		arguments.StatusTool: about(paid), arguments.WaitTool: about(paid), arguments.CancelTool: about(paid), sv: `{"run_id":"` + paid + `","actions":[]}`,
	} {
		r := c.call(call, arguments).result(t)
		summary, _ := r.Structured["summary"].(string)
		say, _ := nextOf(r)["say"].(string)
		if r.IsError || r.Structured["stop_reason"] != "record_broken" || r.Structured["phase"] != "worker" || nextOf(r)["action"] != "tell_user" {
			t.Errorf("%s: %v", call, r.Structured)
		}
		if !strings.Contains(say, "Find out which they were before you repeat anything") || strings.Contains(strings.ToLower(summary+textOf(r)), "nothing") {
			t.Errorf("%s: the summary %q, said %q", call, summary, say)
		}
	}
}

// A damaged record of a run that never rested has a phase too.
func TestDamagedRecordHasAPhase(t *testing.T) {
	t.Parallel()
	engine := &stays{}
	c := connect(t, serving(t, func(c *Config) { engine.Engine = c.Engine; c.Engine = engine }))
	for pattern, phase := range map[string]string{td: "plan", rt: "route", sv: "worker"} {
		engine.run = patterns.Snapshot{
			RunID: someRun, Pattern: pattern, Caller: patterns.Caller{Principal: localPrincipal()}, State: patterns.Over, Began: someTime,
			Ended: patterns.Ended{RunID: someRun, Began: someTime, Ended: someTime, Result: patterns.Result{StopReason: "record_broken"}},
		}
		if r := c.call(arguments.StatusTool, about(someRun)).result(t); r.Structured["phase"] != phase || strings.Contains(textOf(r), "phase  ") {
			t.Errorf("%s: %v", pattern, r.Structured)
		}
	}
}

// A run whose record the code fits no more tells what it did before.
func TestMismatchTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	c, engine := overState(t, path, nil)
	paid := idOf(t, c.call(sv, paidRefund).result(t))
	engine.Close()
	c, _ = overState(t, path, func(j *patterns.Job) { j.Task.Caller = patterns.Proposals("actions", []any{}) })
	for _, r := range []result{
		c.call(sv, `{"run_id":"`+paid+`","actions":[{"kind":"final","answer":"x"}]}`).result(t), c.call(arguments.StatusTool, about(paid)).result(t),
	} {
		summary, _ := r.Structured["summary"].(string)
		effects, _ := r.Structured["effects"].([]any)
		if r.Structured["stop_reason"] != "replay_mismatch" || r.Structured["phase"] == nil || len(effects) != 2 || nextOf(r)["action"] != "tell_user" {
			t.Errorf("%v", r.Structured)
		}
		if !strings.Contains(summary, "Done: refunding 100.00 USD to user 42.") || strings.Contains(strings.ToLower(summary), "nothing") {
			t.Errorf("the summary %q", summary)
		}
	}
}
