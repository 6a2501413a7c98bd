package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// engineFunc is an engine made of a function.
type engineFunc func(ctx context.Context, job patterns.Job) (patterns.Ended, error)

func (f engineFunc) Start(ctx context.Context, job patterns.Job) (patterns.Ended, error) {
	return f(ctx, job)
}

// modelFunc is a model made of a function.
type modelFunc func(q patterns.Question) (patterns.Answer, error)

func (modelFunc) Name() string { return "scripted" }

func (f modelFunc) Ask(_ context.Context, q patterns.Question) (patterns.Answer, error) { return f(q) }

const secret = "s3cret-cause"

var faultID = regexp.MustCompile(`f_[0-9a-f]{8}`)

// A fault of ours gives the client an opaque id and the log its cause: within a run as a result, outside as a protocol
// error.
func TestFaults(t *testing.T) {
	began := time.Now()
	inside := patterns.Ended{RunID: "run_0123456789abcdef", Phase: "execute", Began: began, Ended: began}
	tests := map[string]struct {
		engine  engineFunc
		isError bool // of the protocol
	}{
		"engine panics": {func(context.Context, patterns.Job) (patterns.Ended, error) { panic(secret) }, true},
		"engine refuses": {func(context.Context, patterns.Job) (patterns.Ended, error) {
			return patterns.Ended{}, &patterns.Fault{Cause: errors.New(secret)}
		}, true},
		"fault in a run": {func(context.Context, patterns.Job) (patterns.Ended, error) {
			return inside, &patterns.Fault{RunID: inside.RunID, Cause: errors.New(secret)}
		}, false},
		"other error in a run": {func(context.Context, patterns.Job) (patterns.Ended, error) {
			return inside, errors.New(secret)
		}, false},
		"result that is no JSON": {func(context.Context, patterns.Job) (patterns.Ended, error) {
			ended := inside
			ended.Result = patterns.Result{StopReason: patterns.Success, Trace: []any{}, History: []any{func() string { return secret }}}
			return ended, nil
		}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var log logBuffer
			c := connect(t, serving(t, logging(&log), func(c *Config) { c.Engine = tt.engine }))
			m := c.call(td, `{"goal":"x"}`)
			id := faultID.FindString(m.line)
			faults := log.lines(t, "fault")
			if len(faults) != 1 || faults[0]["id"] != id || faults[0]["level"] != "ERROR" {
				t.Fatalf("the client was told %s, the log has %v", m.line, faults)
			}
			if name != "result that is no JSON" && !strings.Contains(fmt.Sprint(faults[0]["cause"]), secret) {
				t.Errorf("the log does not say the cause: %v", faults)
			}
			if strings.Contains(m.line, secret) {
				t.Errorf("the client was told the cause: %s", m.line)
			}
			if tt.isError {
				if m.Error == nil || m.Error.Code != -32603 || m.Error.Message != "internal fault "+id {
					t.Errorf("answered by %s", m.line)
				}
			} else if r := m.result(t); r.IsError || r.Structured["stop_reason"] != "internal_error" || r.Structured["run_id"] != inside.RunID || r.Structured["phase"] != "execute" {
				t.Errorf("answered by %s", m.line)
			}
			c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			if m := c.next(); m.ID != 2.0 || m.Error != nil {
				t.Errorf("after it a ping was answered by %s", m.line)
			}
		})
	}
}

// Tools and models that break are contained by the engine; nothing of what they said gets out.
func TestFaultyTools(t *testing.T) {
	tests := map[string]struct {
		do   catalog.Func
		want string
	}{
		"error":    {func(context.Context, catalog.Call) (any, error) { return nil, errors.New(secret) }, "tool_error:bad"},
		"panic":    {func(context.Context, catalog.Call) (any, error) { panic(secret) }, "tool_error:bad"},
		"no JSON":  {func(context.Context, catalog.Call) (any, error) { return make(chan int), nil }, "tool_bad_result:bad"},
		"megabyte": {func(context.Context, catalog.Call) (any, error) { return strings.Repeat("x", 1<<20), nil }, "success"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			input, err := catalog.CompileSchema([]byte(`{"type":"object"}`))
			if err != nil {
				t.Fatal(err)
			}
			p := builtins(t, catalog.Tool{Name: "bad", Effect: catalog.Read, Input: input, Do: tt.do})[0]
			p.Spec.Policy, p.Spec.Budget.MinPlanSteps = []string{"bad"}, 1
			p.Spec.Execution = p.Spec.Policy
			c := connect(t, serving(t, func(c *Config) { c.Patterns = []Pattern{p} }))
			m := c.call(td, `{"goal":"x","plan":{"steps":[{"id":"a","title":"Try","tool":"bad"}]}}`)
			if got := m.result(t).Structured["stop_reason"]; got != tt.want {
				t.Errorf("stop reason %v, want %s", got, tt.want)
			}
			if strings.Contains(m.line, secret) || len(m.line) > 80<<10 {
				t.Errorf("answered by %d bytes: %.300s", len(m.line), m.line)
			}
		})
	}
}

func TestFaultyModel(t *testing.T) {
	for name, tt := range map[string]struct {
		model modelFunc
		want  string
	}{
		"panic": {func(patterns.Question) (patterns.Answer, error) { panic(secret) }, "llm_error:server"},
		"error": {func(patterns.Question) (patterns.Answer, error) { return patterns.Answer{}, errors.New(secret) }, "llm_unreachable"},
		"its reason": {func(patterns.Question) (patterns.Answer, error) {
			return patterns.Answer{}, &patterns.ModelFault{Reason: "llm_timeout"}
		}, "llm_timeout"},
		"nothing": {func(patterns.Question) (patterns.Answer, error) { return patterns.Answer{}, nil }, "llm_empty"},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, serving(t, func(c *Config) { c.Model, c.Configured = tt.model, true }))
			m := c.call(td, `{"goal":"x"}`)
			if got := m.result(t).Structured["stop_reason"]; got != tt.want || strings.Contains(m.line, secret) {
				t.Errorf("stop reason %v, want %s: %s", got, tt.want, m.line)
			}
		})
	}
}

// usage.model names who proposed and wrote: the model, or the caller where none was asked.
func TestUsageNamesTheModel(t *testing.T) {
	model := modelFunc(func(q patterns.Question) (patterns.Answer, error) {
		if q.Ask == patterns.AskAnswer {
			return patterns.Answer{Text: "Done."}, nil
		}
		return patterns.Answer{Text: `{"kind":"final","answer":"x"}`}, nil
	})
	c := connect(t, serving(t, func(c *Config) { c.Model, c.Configured = model, true }))
	for name, tt := range map[string]struct{ tool, arguments, want string }{
		"a plan and no text":   {td, strings.Replace(goodCall, `{"goal"`, `{"finalize":false,"goal"`, 1), "caller"},
		"a plan and a text":    {td, goodCall, "scripted"},
		"a plan that is wrong": {td, `{"goal":"x","plan":{}}`, "caller"},
		"no plan":              {td, `{"goal":"x"}`, "scripted"},
		"actions":              {sv, `{"goal":"x","actions":[]}`, "caller"},
	} {
		t.Run(name, func(t *testing.T) {
			usage, _ := c.call(tt.tool, tt.arguments).result(t).Structured["usage"].(map[string]any)
			if usage["model"] != tt.want {
				t.Errorf("usage %v, want model %s", usage, tt.want)
			}
		})
	}
}

// A caller's actions that have run out end the run where nobody may be waited for.
func TestActionsRunOut(t *testing.T) {
	c := connect(t, serving(t, func(c *Config) { c.Engine = &local.Engine{Waits: local.Waits{CallerWait: -1}} }))
	for name, arguments := range map[string]string{
		"none":      `{"goal":"x","actions":[]}`,
		"none left": `{"goal":"x","actions":[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if r := c.call(sv, arguments).result(t); r.Structured["stop_reason"] != "caller_expired" || r.IsError {
				t.Errorf("ended with %v", r.Structured)
			}
		})
	}
}

// The log has a line for each run with all its fields, and never what was asked or found.
func TestLogLines(t *testing.T) {
	var log logBuffer
	c := connect(t, serving(t, logging(&log)))
	c.send(initialize, initialized)
	c.next()
	c.call(td, strings.Replace(goodCall, "April report", secret, 1))
	c.send(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{` + modernMeta + `,"name":"` + td + `","arguments":{"goal":"` + secret + `","plan":{"steps":[]}}}}`)
	c.next()
	c.call(td, `{"goal":"`+secret+`","plan":"`+secret+`"}`)
	c.rest()

	if serving := log.lines(t, "serving"); len(serving) != 1 || serving[0]["transport"] != "stdio" || serving[0]["tools"] != 9.0 {
		t.Errorf("serving: %v", serving)
	}
	runs := log.lines(t, "run ended")
	if len(runs) != 2 {
		t.Fatalf("%d runs in the log, want 2", len(runs))
	}
	for name, want := range map[string][2]any{
		"pattern": {td, td}, "status": {"ok", "stopped"}, "stop_reason": {"success", "invalid_plan:missing_steps"}, "phase": {"", "plan"},
		"waited_ms": {0.0, 0.0}, "llm_calls": {0.0, 0.0}, "tool_calls": {3.0, 0.0}, "level": {"INFO", "INFO"},
		"principal": {fmt.Sprint("local:", os.Getuid()), fmt.Sprint("local:", os.Getuid())},
		"client":    {"legacy/1", "modern/2"}, "era": {"2025-11-25", "2026-07-28"},
	} {
		for i, run := range runs {
			if run[name] != want[i] {
				t.Errorf("run %d: %s is %v, want %v", i, name, run[name], want[i])
			}
		}
	}
	if id := fmt.Sprint(runs[0]["run_id"]); !regexp.MustCompile(`^run_[0-9a-f]{16}$`).MatchString(id) {
		t.Errorf("run_id %s", id)
	}
	if _, ok := runs[0]["duration_ms"].(float64); !ok {
		t.Errorf("duration_ms %v", runs[0]["duration_ms"])
	}
	refused := log.lines(t, "request refused")
	if len(refused) != 1 || refused[0]["level"] != "DEBUG" || refused[0]["tool"] != td || refused[0]["stop_reason"] != "invalid_request:type:plan" {
		t.Errorf("request refused: %v", refused)
	}
	if stopping := log.lines(t, "stopping"); len(stopping) != 1 || stopping[0]["running"] != 0.0 || stopping[0]["waiting"] != 0.0 {
		t.Errorf("stopping: %v", stopping)
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("the log tells what was asked:\n%s", log.String())
	}
}

// Continue, Rehearse, Run, RunIDs and Watch make it an engine whose runs never wait and are never looked at.
func (f engineFunc) Continue(context.Context, patterns.Continuation) (patterns.Ended, error) {
	return patterns.Ended{}, patterns.ErrNoRun
}

func (f engineFunc) Rehearse(context.Context, patterns.Job) (patterns.Rehearsal, error) {
	return patterns.Rehearsal{}, &patterns.Fault{Cause: errors.New("no dry runs here")}
}

func (f engineFunc) Run(string, string) (patterns.Snapshot, bool) { return patterns.Snapshot{}, false }

func (f engineFunc) RunIDs(string) []string { return nil }

func (f engineFunc) Wait(context.Context, string, string, patterns.Mark) (patterns.Snapshot, bool) {
	return patterns.Snapshot{}, false
}

func (f engineFunc) List(patterns.Filter) (patterns.Page, error) { return patterns.Page{}, nil }

func (f engineFunc) Newest(string) (string, bool) { return "", false }

func (f engineFunc) Cancel(context.Context, string, string, patterns.Note) (patterns.Snapshot, error) {
	return patterns.Snapshot{}, patterns.ErrNoRun
}

func (f engineFunc) Delivered(string, string) {}

func (f engineFunc) Events(string, string) ([]patterns.Event, error) { return nil, patterns.ErrNoRun }

func (f engineFunc) Watch(func(patterns.Snapshot, bool)) {}

func (f engineFunc) Plan(string, string, string) (patterns.PlanState, error) {
	return patterns.PlanState{}, patterns.ErrNoPlan
}

func (f engineFunc) ListPlans(patterns.PlanFilter) (patterns.PlanPage, error) {
	return patterns.PlanPage{}, nil
}
