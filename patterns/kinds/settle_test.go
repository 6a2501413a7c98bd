package kinds

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// till is where the test's payments arrive.
type till struct {
	paid map[string]string // amount by idempotency key
	made int               // calls of pay
}

func schema(t *testing.T, text string) *catalog.Schema {
	t.Helper()
	s, err := catalog.CompileSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tools are pay, which writes, paid, which knows what was paid, and look, which reads.
func (p *till) tools(t *testing.T) []catalog.Tool {
	id := `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`
	receipt := func(key string) any { return map[string]any{"id": "receipt of " + p.paid[key]} }
	return []catalog.Tool{
		{Name: "look", Effect: catalog.Read, Input: schema(t, `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
			Do: func(context.Context, catalog.Call) (any, error) { return map[string]any{"seen": true}, nil }},
		{Name: "pay", Effect: catalog.Write, Input: schema(t, `{"type":"object","properties":{"to":{"type":"string"}},"required":["to"],"additionalProperties":false}`),
			Output: schema(t, id), Do: func(_ context.Context, c catalog.Call) (any, error) {
				p.made++
				p.paid[c.Key], _ = c.Args["to"].(string)
				return receipt(c.Key), nil
			}},
		{Name: "paid", Effect: catalog.Read, Input: schema(t, `{"type":"object","properties":{"key":{"type":"string"},"to":{"type":"string"}},"required":["key","to"],"additionalProperties":false}`),
			Do: func(_ context.Context, c catalog.Call) (any, error) {
				if _, ok := p.paid[c.Args["key"].(string)]; !ok {
					return map[string]any{"none": true}, nil
				}
				return receipt(c.Args["key"].(string)), nil
			}},
	}
}

// reconciled lets pay be looked up.
func reconciled(settle time.Duration) func(*catalog.Tool) {
	return func(pay *catalog.Tool) {
		pay.Reconcile = &catalog.Reconcile{
			Tool: "paid", Args: catalog.ArgsFrom(map[string]any{"key": catalog.EffectKey, "to": catalog.ArgOf + "to"}), Settle: settle,
			Happened: func(_ catalog.Doubt, observation any) (happened, known bool) {
				seen, _ := observation.(map[string]any)
				_, found := seen["id"]
				_, none := seen["none"]
				return found, found || none
			},
		}
	}
}

// paying is a task decomposition of three steps of which the second pays.
func paying(t *testing.T, p *till, change func(*catalog.Tool)) (patterns.Spec, patterns.Task) {
	t.Helper()
	tools := p.tools(t)
	if change != nil {
		change(&tools[1])
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"look", "pay"}
	s := patterns.Spec{Name: "pay_out", Kind: gateway.TaskDecomposition, Catalog: c, Policy: names, Execution: names, Budget: gateway.DefaultBudget(gateway.TaskDecomposition)}
	s.Budget.MaxTime = 30 * time.Second
	return s, patterns.Task{Goal: "pay", Caller: patterns.Proposals("plan", payingPlan)}
}

var payingPlan = map[string]any{"kind": "plan", "steps": []any{
	subtaskNamed("a", "look", map[string]any{"n": 1.0}), subtaskNamed("b", "pay", map[string]any{"to": "Anna"}), subtaskNamed("c", "pay", map[string]any{"to": "Ben"}),
}}

func subtaskNamed(id, tool string, args map[string]any) any {
	return map[string]any{"id": id, "title": id, "tool": tool, "args": args}
}

// shape is what two runs must have in common: all but the clock, and the places in the record.
func shape(t *testing.T, r patterns.Result) string {
	t.Helper()
	r.Ledger = slices.Clone(r.Ledger)
	for i := range r.Ledger {
		r.Ledger[i].Order, r.Ledger[i].At = 0, time.Time{}
	}
	delete(r.Budget, "max_seconds")
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the contract says of calls in doubt (spec/patterns.md section 0).
const (
	unclearLookups = 5 // after which a person is asked
	callsOfAnAct   = 8 // at most, of one that may be made again
)

// A payment whose process ended is settled, and the run then ends as one without a crash.
func TestInterruptedCallIsSettled(t *testing.T) {
	did := func(more map[string]any) patterns.Outcome {
		v := map[string]any{"happened": true, "by": "local:1", "channel": "cli"}
		for name, m := range more {
			v[name] = m
		}
		return answered(v)
	}
	didNot := answered(map[string]any{"happened": false, "by": "local:1", "channel": "cli"})
	silence := patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired}
	five := slices.Clip([]string{"doubt#1/paid#1", "doubt#1/sleep#1", "doubt#1/paid#2", "doubt#1/sleep#2", "doubt#1/paid#3", "doubt#1/sleep#3", "doubt#1/paid#4", "doubt#1/sleep#4", "doubt#1/paid#5"})
	unclear := func(seen, said patterns.Outcome) map[string]patterns.Outcome {
		script := map[string]patterns.Outcome{"doubt#1/settle#1": said}
		for _, key := range five {
			if strings.Contains(key, "paid") {
				script[key] = seen
			}
		}
		return script
	}
	tests := map[string]struct {
		change   func(*catalog.Tool)
		arrived  bool // the payment reached the till before the process ended
		later    bool // it does so while the run sleeps
		script   map[string]patterns.Outcome
		reason   string
		same     bool // as without a crash
		pays     int  // calls after the crash, for both payments
		output   string
		status   gateway.EffectStatus
		keys     []string // of what the doubt took
		noPerson bool
	}{
		"a person saw it, with its result": {arrived: true, script: map[string]patterns.Outcome{"doubt#1/settle#1": did(map[string]any{"result": map[string]any{"id": "receipt of Anna"}})},
			reason: patterns.Success, same: true, pays: 1, status: gateway.Finished, keys: []string{"doubt#1/settle#1"}},
		"a person saw it": {arrived: true, script: map[string]patterns.Outcome{"doubt#1/settle#1": did(nil)},
			reason: patterns.Success, pays: 1, output: `{"by":"local:1","settled":"happened"}`, status: gateway.Finished, keys: []string{"doubt#1/settle#1"}},
		"a result that the tool would not give": {arrived: true, script: map[string]patterns.Outcome{"doubt#1/settle#1": did(map[string]any{"result": map[string]any{"id": 7.0}})},
			reason: "tool_bad_result:pay", pays: 0, status: gateway.Finished, keys: []string{"doubt#1/settle#1"}},
		"a result of null": {arrived: true, script: map[string]patterns.Outcome{"doubt#1/settle#1": did(map[string]any{"result": nil})},
			reason: "tool_bad_result:pay", pays: 0, status: gateway.Finished, keys: []string{"doubt#1/settle#1"}},
		"it did not happen": {script: map[string]patterns.Outcome{"doubt#1/settle#1": didNot},
			reason: patterns.Success, same: true, pays: 2, status: gateway.Finished, keys: []string{"doubt#1/settle#1", "doubt#1/pay#1"}},
		"lost again, then seen": {arrived: true, script: map[string]patterns.Outcome{"doubt#1/settle#1": didNot, "doubt#1/pay#1": lost,
			"doubt#1/settle#2": did(map[string]any{"result": map[string]any{"id": "receipt of Anna"}})},
			reason: patterns.Success, same: true, pays: 1, status: gateway.Finished, keys: []string{"doubt#1/settle#1", "doubt#1/pay#1", "doubt#1/settle#2"}},
		"nobody says": {script: map[string]patterns.Outcome{"doubt#1/settle#1": silence},
			reason: "in_doubt:pay", pays: 0, status: gateway.InDoubt, keys: []string{"doubt#1/settle#1"}},
		"an answer that cannot be read": {script: map[string]patterns.Outcome{"doubt#1/settle#1": answered(map[string]any{"happened": "true"})},
			reason: "in_doubt:pay", pays: 0, status: gateway.InDoubt, keys: []string{"doubt#1/settle#1"}},
		"taken back meanwhile": {script: map[string]patterns.Outcome{"doubt#1/settle#1": {State: patterns.Canceled, Reason: patterns.ReasonCanceled}},
			reason: "cancelled", pays: 0, status: gateway.InDoubt, keys: []string{"doubt#1/settle#1"}},
		"looked up: it happened": {change: reconciled(time.Minute), arrived: true, noPerson: true,
			reason: patterns.Success, same: true, pays: 1, status: gateway.Finished, keys: []string{"doubt#1/paid#1"}},
		"looked up: it did not": {change: reconciled(time.Minute), noPerson: true, // ten minutes went by
			reason: patterns.Success, same: true, pays: 2, status: gateway.Finished, keys: []string{"doubt#1/paid#1", "doubt#1/pay#1"}},
		"looked up: not yet, and never": {change: reconciled(10*time.Minute + 10*time.Second), noPerson: true, // after 1, 2 and 4 s
			reason: patterns.Success, same: true, pays: 2, status: gateway.Finished, keys: []string{"doubt#1/paid#1", "doubt#1/sleep#1", "doubt#1/paid#2", "doubt#1/sleep#2", "doubt#1/paid#3", "doubt#1/sleep#3", "doubt#1/paid#4", "doubt#1/pay#1"}},
		"looked up: not yet, but then": {change: reconciled(time.Hour), later: true, noPerson: true,
			reason: patterns.Success, same: true, pays: 1, status: gateway.Finished, keys: []string{"doubt#1/paid#1", "doubt#1/sleep#1", "doubt#1/paid#2"}},
		"looked up: nobody can tell": {change: reconciled(time.Minute), script: unclear(answered(map[string]any{}), didNot),
			reason: patterns.Success, same: true, pays: 2, status: gateway.Finished, keys: append(five, "doubt#1/settle#1", "doubt#1/pay#1")},
		"the look-up fails": {change: reconciled(time.Minute), script: unclear(patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonToolError}, didNot),
			reason: patterns.Success, same: true, pays: 2, status: gateway.Finished, keys: append(five, "doubt#1/settle#1", "doubt#1/pay#1")},
		"the look-up fails once": {change: reconciled(time.Minute), script: map[string]patterns.Outcome{"doubt#1/paid#1": {State: patterns.Failed, Reason: patterns.ReasonToolError}}, noPerson: true,
			reason: patterns.Success, same: true, pays: 2, status: gateway.Finished, keys: []string{"doubt#1/paid#1", "doubt#1/sleep#1", "doubt#1/paid#2", "doubt#1/pay#1"}},
		"looked up: what it returned cannot be told": {change: func(pay *catalog.Tool) {
			reconciled(time.Minute)(pay)
			pay.Reconcile.Output = func(catalog.Doubt, any) (any, error) { return nil, errors.New("no such member") }
		}, arrived: true, script: map[string]patterns.Outcome{"doubt#1/settle#1": did(map[string]any{"result": map[string]any{"id": "receipt of Anna"}})},
			reason: patterns.Success, same: true, pays: 1, status: gateway.Finished, keys: append(five, "doubt#1/settle#1")},
		"looked up: it returned something of its own": {change: func(pay *catalog.Tool) {
			reconciled(time.Minute)(pay)
			pay.Reconcile.Output = func(d catalog.Doubt, _ any) (any, error) {
				return map[string]any{"id": d.Tool + " " + d.Key + " " + d.RunID + " " + d.Args["to"].(string) + " " + d.At.Format(time.TimeOnly)}, nil
			}
		}, arrived: true, noPerson: true, output: `{"id":"pay once pay#1 run_0123456789abcdef Anna 09:00:02"}`,
			reason: patterns.Success, pays: 1, status: gateway.Finished, keys: []string{"doubt#1/paid#1"}},
		"the look-up's words break it": {change: func(pay *catalog.Tool) {
			reconciled(time.Minute)(pay)
			pay.Reconcile.Happened = func(catalog.Doubt, any) (bool, bool) { panic("no such member") }
		}, script: map[string]patterns.Outcome{"doubt#1/settle#1": didNot},
			reason: patterns.Success, same: true, pays: 2, status: gateway.Finished, keys: append(five, "doubt#1/settle#1", "doubt#1/pay#1")},
		"repeated by the engine too often": {change: func(pay *catalog.Tool) { pay.Idempotent = true }, script: map[string]patterns.Outcome{"doubt#1/settle#1": didNot},
			reason: "tool_error:pay", pays: 0, status: gateway.Failed, keys: []string{"doubt#1/settle#1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			whole := &till{paid: map[string]string{}}
			spec, task := paying(t, whole, tt.change)
			uninterrupted, _ := (&world{}).run(t, spec, task)

			p := &till{paid: map[string]string{}}
			spec, task = paying(t, p, tt.change)
			w := &world{script: map[string]patterns.Outcome{"pay#1": lost}, down: 10 * time.Minute, takes: 24 * time.Hour}
			for key, out := range tt.script {
				w.script[key] = out
			}
			if tt.arrived {
				p.paid["once pay#1"] = "Anna"
			}
			if tt.later {
				w.script["doubt#1/paid#1"] = answered(map[string]any{"none": true})
				p.paid["once pay#1"] = "Anna"
			}
			r, _ := w.run(t, spec, task)
			if r.StopReason != tt.reason || p.made != tt.pays {
				t.Fatalf("ended with %s after %d payments, want %s and %d\n%s", r.StopReason, p.made, tt.reason, tt.pays, shape(t, r))
			}
			var doubts []string
			for _, key := range w.keys {
				if strings.HasPrefix(key, "doubt#") {
					doubts = append(doubts, key)
				}
			}
			if !slices.Equal(doubts, tt.keys) {
				t.Errorf("the doubt took %v, want %v", doubts, tt.keys)
			}
			entry := r.Ledger[slices.IndexFunc(r.Ledger, func(e gateway.Entry) bool { return e.Key == "pay#1" })]
			if entry.Status != tt.status {
				t.Errorf("the call is %s, want %s", entry.Status, tt.status)
			}
			if tt.output != "" && string(ijson.Canonical(entry.Observation)) != tt.output {
				t.Errorf("the call returned %s, want %s", ijson.Canonical(entry.Observation), tt.output)
			}
			if diff := cmp.Diff(shape(t, uninterrupted), shape(t, r)); tt.same && diff != "" {
				t.Errorf("other than without a crash, -uninterrupted +this:\n%s", diff)
			}
			if i := slices.Index(w.keys, "doubt#1/pay#1"); i >= 0 && callOf(w.effects[i]).Once != "once pay#1" {
				t.Errorf("made again as %q, want the same act", callOf(w.effects[i]).Once)
			}
			if asked := slices.Contains(w.keys, "doubt#1/settle#1"); asked == tt.noPerson {
				t.Errorf("a person was asked: %v", asked)
			}
		})
	}
}

// A look-up of which only the beginning is there tells nothing: what it does not show may stand in the rest.
func TestLookUpCutShort(t *testing.T) {
	long := map[string]any{"id": "receipt of Anna", "more": strings.Repeat("x", 4096)}
	for name, tt := range map[string]struct {
		observed map[string]any
		limit    int
	}{
		"long":               {long, 1024},
		"no room for a mark": {map[string]any{"id": "r"}, 1},
		"as long as a mark":  {map[string]any{"id": strings.Repeat("r", 29)}, 1},
		"another's mark":     {map[string]any{"truncated": true, "bytes": 90000.0, "head": `{"id":"rec`}, 4096},
	} {
		t.Run(name, func(t *testing.T) {
			p := &till{paid: map[string]string{}}
			spec, task := paying(t, p, func(pay *catalog.Tool) {
				reconciled(time.Minute)(pay)
				pay.Reconcile.Happened = func(_ catalog.Doubt, observation any) (happened, known bool) { // as a guarded expression does
					seen, _ := observation.(map[string]any)
					return seen["id"] != nil, true
				}
			})
			tools := p.tools(t)
			tools[1], _ = spec.Catalog.Tool("pay")
			tools[2].MaxResult = tt.limit
			tools[2].Do = func(context.Context, catalog.Call) (any, error) { return tt.observed, nil }
			c, err := catalog.New(tools...)
			if err != nil {
				t.Fatal(err)
			}
			spec.Catalog = c
			w := &world{script: map[string]patterns.Outcome{"pay#1": lost}, down: 10 * time.Minute, parks: "doubt#1/settle#1"}
			if r, waits := w.run(t, spec, task); waits == nil || p.made > 0 || len(w.called("paid")) != unclearLookups {
				t.Errorf("ended with %s after %d payments and %d look-ups, want a person asked after %d look-ups", r.StopReason, p.made, len(w.called("paid")), unclearLookups)
			}
		})
	}
}

// A look-up that says of itself that it was cut short is judged like any other.
func TestLookUpSaysItIsCut(t *testing.T) {
	for _, said := range []map[string]any{{"truncated": true, "id": 7.0}, {"truncated": true, "bytes": 20000.0, "id": 7.0}} {
		p := &till{paid: map[string]string{}}
		spec, task := paying(t, p, reconciled(time.Minute))
		w := &world{script: map[string]patterns.Outcome{"pay#1": lost, "doubt#1/paid#1": {State: patterns.OK, Output: said, Bytes: 25}}}
		if r, _ := w.run(t, spec, task); r.StopReason != "tool_bad_result:pay" {
			t.Errorf("%v: ended with %s, want tool_bad_result:pay", said, r.StopReason)
		}
	}
}

// A look-up that was turned away for a while, as of a server that failed several times in a row, is asked for again when that
// is over, not five times meanwhile.
func TestLookUpTurnedAway(t *testing.T) {
	p := &till{paid: map[string]string{"once pay#1": "Anna"}}
	spec, task := paying(t, p, reconciled(time.Minute))
	w := &world{script: map[string]patterns.Outcome{"pay#1": lost, "doubt#1/paid#1": {State: patterns.Failed, Reason: patterns.ReasonUnavailable, After: 29 * time.Second},
		"doubt#1/paid#2": {State: patterns.Failed, Reason: patterns.ReasonUnavailable, After: 24 * time.Hour}}}
	if r, _ := w.run(t, spec, task); r.StopReason != patterns.Success || p.made != 1 {
		t.Errorf("ended with %s after %d payments, want success after the other one", r.StopReason, p.made)
	}
	for key, want := range map[string]time.Duration{"doubt#1/sleep#1": 29 * time.Second, "doubt#1/sleep#2": time.Minute} {
		if got := w.effect(t, key).Timeout; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
}

// What ends the process each time is given up after eight tries.
func TestTriesHaveAnEnd(t *testing.T) {
	p := &till{paid: map[string]string{}}
	spec, task := paying(t, p, nil)
	w := &world{script: map[string]patterns.Outcome{"pay#1": lost}}
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		w.script["doubt#1/pay#"+n] = lost
		w.script["doubt#1/settle#"+n] = answered(map[string]any{"happened": false})
	}
	r, _ := w.run(t, spec, task)
	if tries := len(w.called("pay")); tries != callsOfAnAct || r.StopReason != "tool_error:pay" || r.Ledger[1].Status != gateway.Failed {
		t.Errorf("%d tries, then %s and %s, want %d, tool_error:pay and failed", tries, r.StopReason, r.Ledger[1].Status, callsOfAnAct)
	}
}

// While a person is waited for, the call counts as one that may have happened, and the time does not count.
func TestWaitingForSettlement(t *testing.T) {
	p := &till{paid: map[string]string{}}
	spec, task := paying(t, p, nil)
	w := &world{script: map[string]patterns.Outcome{"pay#1": lost}, parks: "doubt#1/settle#1"}
	_, waits := w.run(t, spec, task)
	if waits == nil {
		t.Fatal("the run does not wait")
	}
	want := patterns.Waiting{Kind: patterns.ForSettlement, Phase: patterns.PhaseExecute, Effect: "pay#1", Tool: "pay", ArgsHash: ijson.ArgsHash(map[string]any{"to": "Anna"}), Cause: "crash"}
	soFar := waits.SoFar
	waits.SoFar = patterns.Result{}
	if diff := cmp.Diff(want, *waits); diff != "" {
		t.Errorf("waits for, -want +got:\n%s", diff)
	}
	if soFar.StopReason != "" || len(soFar.Ledger) != 2 || soFar.Ledger[1].Status != gateway.InDoubt || soFar.Ledger[1].Key != "pay#1" || len(soFar.Trace) != 1 {
		t.Errorf("so far %s, want the look-up and a payment in doubt", shape(t, soFar))
	}
	if used := soFar.Budget["max_tool_calls"].Used; used != 2 {
		t.Errorf("%v calls count, want 2", used)
	}
	e := w.effect(t, "doubt#1/settle#1")
	if input := string(e.Input); e.Kind() != patterns.HumanEffect || e.Timeout != 7*24*time.Hour || !e.Deadline.IsZero() ||
		input != `{"args_hash":"`+want.ArgsHash+`","effect":"pay#1","tool":"pay"}` {
		t.Errorf("a person is asked by %+v with %s", e, input)
	}

	p = &till{paid: map[string]string{}}
	spec, task = paying(t, p, nil)
	w = &world{script: map[string]patterns.Outcome{"pay#1": lost, "doubt#1/settle#1": answered(map[string]any{"happened": false})}, down: time.Hour, takes: 72 * time.Hour}
	r, _ := w.run(t, spec, task)
	if used := r.Budget["max_seconds"].Used; r.StopReason != patterns.Success || used > 10 || used < 1 {
		t.Errorf("after three days of waiting: %s, %v s used; want success and the run's own seconds", r.StopReason, used)
	}
}

// A look-up that only reads is never in doubt: one that ends the process each time has failed.
func TestInterruptedReadFailed(t *testing.T) {
	p := &till{paid: map[string]string{}}
	spec, task := paying(t, p, nil)
	w := &world{script: map[string]patterns.Outcome{"look#1": lost}}
	r, _ := w.run(t, spec, task)
	if r.StopReason != "tool_error:look" || r.Ledger[0].Status != gateway.Failed || len(w.keys) != 2 {
		t.Errorf("ended with %s, %s after %v", r.StopReason, r.Ledger[0].Status, w.keys)
	}
}

// A model that ends the process each time is one that does not answer.
func TestInterruptedQuestion(t *testing.T) {
	spec, task := paying(t, &till{}, nil)
	task.Caller = nil
	r, _ := (&world{script: map[string]patterns.Outcome{"plan#1": lost}}).run(t, spec, task)
	if r.StopReason != "llm_unreachable" || r.Phase != patterns.PhasePlan {
		t.Errorf("ended with %s in %s, want llm_unreachable in plan", r.StopReason, r.Phase)
	}
}
