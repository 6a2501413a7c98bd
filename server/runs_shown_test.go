package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// stays is an engine that knows one run, which stands as it is told to.
type stays struct {
	patterns.Engine
	run       patterns.Snapshot
	fault     error // of Start and Continue
	delivered []string
}

func (s *stays) Run(principal, id string) (patterns.Snapshot, bool) {
	return s.run, id == s.run.RunID && principal == s.run.Principal
}

func (s *stays) Wait(_ context.Context, principal, id string, _ patterns.Mark) (patterns.Snapshot, bool) {
	return s.Run(principal, id)
}

func (s *stays) Newest(string) (string, bool) { return s.run.RunID, s.run.RunID != "" }

func (s *stays) Delivered(_, id string) { s.delivered = append(s.delivered, id) }

func (s *stays) Start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	if s.fault != nil {
		return patterns.Ended{}, s.fault
	}
	return s.Engine.Start(ctx, job)
}

func (s *stays) Continue(ctx context.Context, c patterns.Continuation) (patterns.Ended, error) {
	if s.fault != nil {
		return patterns.Ended{}, s.fault
	}
	return s.Engine.Continue(ctx, c)
}

const someRun = "run_71aa03c9e2d8b456"

var someTime = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// inDoubt is a supervised refund of which nobody knows whether it was paid.
func inDoubt(t testing.TB, w patterns.Waiting) patterns.Snapshot {
	t.Helper()
	w.Since, w.SoFar.Ledger = someTime, []gateway.Entry{
		{Key: "tool:get_refund_context#1", Tool: "get_refund_context", Effect: catalog.Read, Status: gateway.Finished, Hash: "0123456789ab"},
		{Key: "tool:issue_refund#1", Tool: "issue_refund", Effect: catalog.Write, Status: gateway.InDoubt, Hash: "4e1979ae6163",
			Args: map[string]any{"user_id": 42.0, "amount_usd": 120.0, "reason": "x"}},
	}
	return patterns.Snapshot{
		RunID: someRun, Pattern: sv, Caller: patterns.Caller{Principal: localPrincipal()}, State: patterns.Parked, Began: someTime, Spec: builtins(t)[3].Spec, Model: "rules",
		Arguments: map[string]any{"goal": "x"}, Head: patterns.Head{Events: 7, Hash: make([]byte, 32)},
		Ended: patterns.Ended{RunID: someRun, Waiting: &w, Phase: "execution", Began: someTime, Ended: someTime.Add(time.Second)},
	}
}

// A run that waits for a settlement says what was done, what is not known, who can say so and how; and nothing offers
// to do it again.
func TestWaitingForSettlement(t *testing.T) {
	for cause, words := range map[string]string{
		"crash": "the server stopped during the call", "timeout": "no reply came in time", "broken_reply": "could not be read",
	} {
		engine := &stays{run: inDoubt(t, patterns.Waiting{
			Kind: patterns.ForSettlement, Key: "settle#1", Phase: "execution", Effect: "tool:issue_refund#1", Tool: "issue_refund", ArgsHash: "4e1979ae6163",
			Cause: cause, Until: someTime.Add(7 * 24 * time.Hour),
		})}
		c := connect(t, serving(t, func(c *Config) { engine.Engine = c.Engine; c.Engine = engine }))
		r := c.call(arguments.WaitTool, about(someRun)).result(t)
		want := map[string]any{
			"kind": "settlement", "since": "2026-11-21T09:30:00Z", "expires_at": "2026-11-28T09:30:00Z", "phase": "execution",
			"effect": "tool:issue_refund#1", "tool": "issue_refund", "args_hash": "4e1979ae6163", "cause": cause,
			"where": []any{"patterngate runs settle " + someRun + " tool:issue_refund#1 --happened", "patterngate runs settle " + someRun + " tool:issue_refund#1 --did-not-happen"},
		}
		if diff := cmp.Diff(any(want), r.Structured["waiting_for"]); diff != "" {
			t.Errorf("waiting_for (-want +got):\n%s", diff)
		}
		summary, _ := r.Structured["summary"].(string)
		for _, say := range []string{"WAITING for a person. The outcome of one call is unknown: refunding 120.00 USD to user 42 (", words, "Nothing else was written.", "2026-11-28T09:30:00Z", "no tool can", "Do not start it again."} {
			if !strings.Contains(summary, say) {
				t.Errorf("%s: the summary %q does not say %q", cause, summary, say)
			}
		}
		n := nextOf(r)
		if say, _ := n["say"].(string); n["action"] != "tell_user" || n["tool"] != arguments.WaitTool || !strings.Contains(say, want["where"].([]any)[1].(string)) {
			t.Errorf("next %v", n)
		}
		if text := textOf(r); !strings.HasPrefix(text, "WAITING settlement | supervised_refund | "+someRun+" | demo data\n") || !strings.Contains(text, "\nWAITING_FOR {") {
			t.Errorf("the text: %s", text)
		}
		r = c.call(arguments.WaitTool, about(someRun)).result(t)
		if n := nextOf(r); n["action"] != "end_turn" || n["tool"] != arguments.StatusTool || n["say"] == nil {
			t.Errorf("the second time: next %v", n)
		}
		if len(engine.delivered) > 0 {
			t.Errorf("a run that waits counts as delivered: %v", engine.delivered)
		}
	}
}

// A run that lacks something says what, and that it goes on by itself.
func TestWaitingForRetry(t *testing.T) {
	for cause, needs := range map[string][]string{"config_missing": {"sha256:abc"}, "tool_missing": {"pay"}, "secret_missing": {"env:TOKEN"}, "journal": nil, "odd": nil} {
		engine := &stays{run: inDoubt(t, patterns.Waiting{Kind: patterns.ForRetry, Phase: "worker", Cause: cause, Needs: needs})}
		engine.run.Spec = patterns.Spec{} // another configuration's
		engine.run.Pattern = "gone"
		c := connect(t, serving(t, func(c *Config) { engine.Engine = c.Engine; c.Engine = engine }))
		r := c.call(arguments.StatusTool, `{}`).result(t)
		w, _ := r.Structured["waiting_for"].(map[string]any)
		if w["kind"] != "retry" || w["cause"] != cause || w["expires_at"] != nil || r.Structured["pattern"] != "gone" {
			t.Errorf("%s: %v", cause, r.Structured)
		}
		summary := r.Structured["summary"].(string)
		if !strings.HasSuffix(summary, "Do not start it again.") || len(needs) > 0 && !strings.Contains(summary, needs[0]) {
			t.Errorf("%s: the summary %q", cause, summary)
		}
		if cancels := strings.Contains(summary, "`patterngate runs cancel "+someRun+"`"); cancels != (cause == "config_missing") {
			t.Errorf("%s: the summary %q names the command that cancels it: %t", cause, summary, cancels)
		}
		if n := nextOf(r); n["action"] != "call" || n["tool"] != arguments.WaitTool || n["wait_seconds"] != 30.0 {
			t.Errorf("%s: next %v", cause, n)
		}
	}
}

// A run of a pattern that is not offered here is shown, and nothing is advised that cannot be done here.
func TestRunsOfOtherPatternsAreShown(t *testing.T) {
	engine := &stays{run: inDoubt(t, patterns.Waiting{Kind: patterns.ForCaller, Phase: "worker", Turn: 2, Argument: "actions", Until: someTime})}
	c := connect(t, serving(t, func(c *Config) { engine.Engine = c.Engine; c.Engine = engine; c.Patterns = c.Patterns[:1] }))
	r := c.call(arguments.StatusTool, about(someRun)).result(t)
	say, _ := nextOf(r)["say"].(string)
	if r.Structured["status"] != "waiting" || r.Structured["pattern"] != sv || nextOf(r)["action"] != "tell_user" || nextOf(r)["tool"] != nil || !strings.Contains(say, sv) {
		t.Errorf("it is shown as %v", r.Structured)
	}
	if !strings.Contains(say, "refunding 120.00 USD to user 42") {
		t.Errorf("it is not said what was written: %s", say)
	}
}

// Whatever an effect is called, the command that settles it is one that may be pasted.
func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"run_0": "run_0", "task#2/fetch#1": "task#2/fetch#1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(rm)": "'$(rm)'", "-x": "'-x'",
		"#x": "'#x'", "a;b": "'a;b'", "`x`": "'`x`'", "~": "'~'", "a\nb": "'a\nb'",
	} {
		if got := sentence.ShellWord(text); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", text, got, want)
		}
	}
}

// Where nothing can be recorded nothing is begun, and a run that waits goes on waiting.
func TestJournalUnavailable(t *testing.T) {
	engine := &stays{fault: fmt.Errorf("%w: disk full", patterns.ErrJournal)}
	var log logBuffer
	c := connect(t, serving(t, logging(&log), func(c *Config) { engine.Engine = c.Engine; c.Engine = engine }))
	for tool, phase := range map[string]string{td: "plan", sv: "worker"} {
		arguments := map[string]string{td: goodCall, sv: startRefund}[tool]
		r := c.call(tool, arguments).result(t)
		s := r.Structured
		if r.IsError || s["status"] != "stopped" || s["stop_reason"] != "journal_unavailable" || s["phase"] != phase || s["run_id"] != nil || nextOf(r)["action"] != "tell_user" {
			t.Errorf("%s: %v", tool, s)
		}
		if strings.Contains(textOf(r), "disk full") {
			t.Errorf("the client is told the cause: %s", textOf(r))
		}
	}
	if faults := log.lines(t, "fault"); len(faults) != 2 || !strings.Contains(fmt.Sprint(faults), "disk full") {
		t.Errorf("the log: %v", faults)
	}
	engine.run = inDoubt(t, patterns.Waiting{Kind: patterns.ForCaller, Phase: "worker", Turn: 2, Argument: "actions", Until: someTime})
	r := c.call(sv, `{"run_id":"`+someRun+`","actions":[{"kind":"final","answer":"x"}]}`).result(t)
	if problems, _ := r.Structured["problems"].([]any); r.Structured["status"] != "waiting" || len(problems) != 1 || problems[0].(map[string]any)["reason"] != "not_taken" {
		t.Errorf("a continuation: %v", r.Structured)
	}
}

// What the record keeps of a result is shown as the result was, also by a server that has none of what it was made from.
func TestKeptResultsLookTheSame(t *testing.T) {
	for name, s := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			c, ended := s.carriedOut(t)
			job := JobOf(c.Spec, modelFunc(nil), true, patterns.Begun{Arguments: c.Arguments, Caller: patterns.Caller{Principal: "p", Client: "c"}, Config: "h"})
			if job.Principal != "p" || job.Config != "h" || job.Equal == "" || job.Size == 0 {
				t.Errorf("the job: %+v", job)
			}
			kept := job.Present(ended, nil)
			run := patterns.Snapshot{RunID: ended.RunID, Pattern: c.Spec.Name, Arguments: c.Arguments, State: patterns.Over, Ended: ended, Spec: c.Spec, Model: "scripted"}
			server := serving(t)
			made := server.stateOf(run)
			run.Kept, run.Spec, run.Ended.Result = kept.Envelope, patterns.Spec{}, patterns.Result{}
			read := server.stateOf(run)
			if kept.Summary != made.Summary || kept.Summary == "" {
				t.Errorf("the summary is %q, want %q", kept.Summary, made.Summary)
			}
			for _, limit := range []int{4096, defaultResultBytes} {
				want, wantText, err := made.Present(limit)
				got, gotText, err2 := read.Present(limit)
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				if made.RawPlan != nil && read.RawPlan == nil { // null is left out
					continue
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("structured content (-made +kept):\n%s", diff)
				}
				if read.Author == made.Author && wantText != gotText {
					t.Errorf("text (-made +kept):\n%s", cmp.Diff(wantText, gotText))
				}
			}
		})
	}
}

// A kept result that is no result is shown as little, and breaks nothing.
func FuzzKeptResult(f *testing.F) {
	f.Add([]byte(`{"status":"ok","summary":"x","next":{"action":"answer_user"},"history":[{"step_no":1,"plan_step":{"id":"a"},"observation":5}],"trace":[{"later":1}]}`))
	f.Add([]byte(`{"status":"stopped","plan":[{"id":1}],"trace":[null,1],"history":null,"expected_statuses":["done"],"problems":[{"got":}]}`))
	s := serving(f)
	f.Fuzz(func(t *testing.T, kept []byte) {
		run := patterns.Snapshot{RunID: someRun, Pattern: "gone", State: patterns.Over, Kept: kept, Ended: patterns.Ended{RunID: someRun}}
		structured, text, err := s.stateOf(run).Present(4096)
		if err == nil && (!json.Valid(structured) || text == "") {
			t.Errorf("%q is shown as %s\n%s", kept, structured, text)
		}
	})
}

// The run of a fault has one id for the fault, for every reader.
func TestFaultIsOne(t *testing.T) {
	spec := builtins(t)[0].Spec
	job := JobOf(spec, offline.New(), false, patterns.Begun{})
	kept := job.Present(patterns.Ended{RunID: someRun, Phase: "execute"}, errors.New("secret"))
	shown := serving(t).stateOf(patterns.Snapshot{RunID: someRun, Pattern: td, State: patterns.Over, Spec: spec, Ended: patterns.Ended{RunID: someRun, Phase: "execute"}})
	if kept.Summary != shown.Summary || !strings.Contains(kept.Summary, runFault(someRun)) || strings.Contains(string(kept.Envelope), "secret") {
		t.Errorf("kept %q, shown %q", kept.Summary, shown.Summary)
	}
}

// Runs that no call waits for are logged when they come to rest and when they go on.
func TestUnattendedRunsAreLogged(t *testing.T) {
	var log logBuffer
	s := serving(t, logging(&log))
	run := inDoubt(t, patterns.Waiting{Kind: patterns.ForSettlement, Effect: "x", Until: someTime})
	s.changed(run, false)
	if n := s.waiting.count(); n != 1 {
		t.Errorf("%d runs wait, want 1", n)
	}
	run.State = patterns.Running
	s.changed(run, false)
	run.RunID = "run_0000000000000000"
	s.changed(run, false)
	run.State, run.Ended.Waiting = patterns.Over, nil
	run.Ended.Result = patterns.Result{StopReason: "cancelled", Phase: "execution"}
	s.changed(run, false)
	s.changed(run, true)
	if n := s.waiting.count(); n != 0 {
		t.Errorf("%d runs wait, want none", n)
	}
	if w := log.lines(t, "run waiting"); len(w) != 1 || w[0]["kind"] != "settlement" || w[0]["expires_at"] != "2026-11-21T09:30:00Z" {
		t.Errorf("waiting: %v", w)
	}
	var from []any
	for _, line := range log.lines(t, "run resumed") {
		from = append(from, line["from"])
	}
	if !slices.Equal(from, []any{"settlement", "record"}) {
		t.Errorf("resumed from %v, want settlement, record", from)
	}
	if e := log.lines(t, "run ended"); len(e) != 1 || e[0]["stop_reason"] != "cancelled" || e[0]["principal"] != run.Principal {
		t.Errorf("ended: %v", e)
	}
}
