package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/patterns"
)

// oracleWorld is the catalog and model of a session.
type oracleWorld struct {
	mu       sync.Mutex
	fates    *oracleFate
	running  int
	most     int
	requests []any
}

func (w *oracleWorld) catalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	in, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"id":{"type":"string"},"n":{"type":"integer"},"x":{}},"required":["id"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{"v":{"type":"integer"},"error":{"type":"string"},"success":{"type":"boolean"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	var tools []catalog.Tool
	for _, name := range oracleTools {
		tool := catalog.Tool{Name: name, Title: name, Description: "Does " + name + ".", Effect: catalog.Read, Input: in, Output: out}
		if name[0] == 'i' {
			tool.Effect, tool.Idempotent = catalog.Write, true
		}
		tool.Do = func(ctx context.Context, c catalog.Call) (any, error) { return w.do(ctx, name, c.Args) }
		tools = append(tools, tool)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// busy counts what runs at once, a moment after it began: what was cut has left by then.
func (w *oracleWorld) busy(n int) {
	if n > 0 {
		time.Sleep(time.Microsecond)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running += n
	w.most = max(w.most, w.running)
}

func (w *oracleWorld) do(ctx context.Context, name string, args map[string]any) (any, error) {
	w.mu.Lock()
	f := w.fates.call(name, args)
	w.mu.Unlock()
	w.busy(1)
	defer w.busy(-1)
	select {
	case <-time.After(f.After):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if f.Cause == "executor_error:"+name {
		if args["id"] == "s1" {
			panic("a fault inside the tool")
		}
		return nil, errors.New("a fault inside the tool")
	}
	return f.Result, nil
}

func (w *oracleWorld) Name() string { return "oracle" }

func (w *oracleWorld) Ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	usage := patterns.Usage{Requests: 1, InputTokens: 10, OutputTokens: 5}
	w.mu.Lock()
	var f fate
	var payload map[string]any
	check(json.Unmarshal(q.JSON, &payload))
	delete(payload, "available_tools")
	switch q.Ask {
	case patterns.AskWork:
		f = w.fates.work(payload["subtask"].(map[string]any)["id"].(string))
		f.Text, _ = f.Result.(string)
		f.Text = " " + f.Text + "\n"
	case patterns.AskReplan:
		delete(payload, "reason")
		slices.SortFunc(payload["used_ids"].([]any), func(a, b any) int {
			if a.(string) < b.(string) {
				return -1
			}
			return 1
		})
		f = w.fates.replan(payload)
	case patterns.AskAnswer:
		f = w.fates.answer()
	}
	w.requests = append(w.requests, payload)
	w.mu.Unlock()
	if q.Ask == patterns.AskWork {
		w.busy(1)
		defer w.busy(-1)
	}
	select {
	case <-time.After(f.After):
	case <-ctx.Done():
		return patterns.Answer{Usage: usage}, ctx.Err()
	}
	switch f.Cause {
	case "":
		return patterns.Answer{Text: f.Text, Usage: usage}, nil
	case "llm_empty":
		return patterns.Answer{Text: " ", Usage: usage}, nil
	}
	return patterns.Answer{Usage: usage}, &patterns.ModelFault{Reason: f.Cause}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// seen is an engine's result of plan_execute in the oracle's members.
func seen(e patterns.Ended) object {
	r := e.Result
	o := object{}
	if e.Waiting != nil {
		r = e.Waiting.SoFar
		ready := []any{}
		for _, s := range e.Waiting.Ready {
			args := s.Args
			if args == nil {
				args = object{}
			}
			ready = append(ready, object{"id": s.ID, "description": s.Description, "inputs": s.Inputs, "args": args, "expect": s.Expect})
		}
		o["ready_for_caller"] = ready
	}
	o["stop_reason"], o["phase"], o["answer"] = r.StopReason, r.Phase, r.Answer
	o["view"] = seenView(r.Planned.View)
	o["subtask_results"] = r.Planned.Results
	if r.Planned.Resumable != nil {
		o["resumable"] = *r.Planned.Resumable
	}
	if r.Planned.Open != nil {
		o["open"] = r.Planned.Open
	}
	rows := []any{}
	for _, row := range r.Trace {
		a := row.(patterns.AttemptRow)
		rows = append(rows, object{"revision": a.Revision, "subtask_id": a.SubtaskID, "tool": a.Tool, "attempt": a.Attempt, "ok": a.OK, "stop_reason": a.StopReason, "delayed": a.DelaySeconds != nil})
	}
	o["trace"] = rows
	history := []any{}
	history = append(history, r.History...)
	o["history"] = history
	used := object{}
	for _, name := range []string{"max_tool_calls", "max_llm_calls", "max_tokens", "max_replans"} {
		if b, ok := r.Budget[name]; ok {
			used[name] = b.Used
		}
	}
	o["budget"] = used
	return o
}

func seenView(v *patterns.PlanView) object {
	rows := []any{}
	for _, s := range v.Plan.Subtasks {
		row := object{
			"id": s.ID, "description": s.Description, "dependencies": s.Dependencies, "tool": s.Tool, "args": s.Args, "critical": s.Critical,
			"status": s.Status, "parent": s.Parent, "expect": s.Expect, "attempts": s.Attempts, "source": s.Source, "stop_reason": s.StopReason,
			"reason": s.Reason, "depth": s.Depth,
		}
		if s.BlockedBy != nil {
			row["blocked_by"] = s.BlockedBy
		}
		rows = append(rows, row)
	}
	gone := []any{}
	for _, s := range v.Plan.Removed {
		gone = append(gone, object{"id": s.ID, "description": s.Description, "status": s.Status, "stop_reason": s.StopReason, "revision": s.Revision})
	}
	complete := v.Plan.Metadata.PlanningComplete
	return object{
		"revision": v.Revision, "plan_status": v.Counts, "progress": v.Progress, "replan_count": v.ReplanCount, "rows": rows, "removed": gone, "levels": v.Levels,
		"ready": v.Ready, "waiting": v.Waiting, "failed": v.Failed, "skipped": v.Skipped, "blocked": v.Blocked,
		"iteration": v.Plan.Metadata.Iteration, "planning_complete": complete != nil && *complete,
	}
}

// plain is a value as JSON would give it back; empty members count as absent.
func plain(v any) any {
	b, err := json.Marshal(v)
	check(err)
	var back any
	check(json.Unmarshal(b, &back))
	return without(back)
}

func without(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	case map[string]any:
		for name, m := range v {
			if name != "result" && name != "inputs" && name != "subtask_results" {
				m = without(m)
				v[name] = m
			}
			if m == nil || m == "" {
				delete(v, name)
			} else if obj, ok := m.(map[string]any); ok && len(obj) == 0 && (name == "args" || name == "subtask_results") {
				delete(v, name)
			}
		}
	}
	return v
}
