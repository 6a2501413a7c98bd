package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/llm/offline"
	"patterngate/server"
)

// TestOwnPrompt holds that a person fills in a pattern's own arguments, whose texts are read as their schemas want them, and is
// offered the words of which one is wanted.
func TestOwnPrompt(t *testing.T) {
	t.Parallel()
	c := openOwn(t, ownSpec(t, gateway.TaskDecomposition))
	defer c.close()
	var listed struct{ Prompts []mcp.Prompt }
	c.ask(t, "prompts/list", object{}, &listed)
	var names, required []string
	for _, a := range listed.Prompts[0].Arguments {
		if names = append(names, a.Name); a.Required {
			required = append(required, a.Name)
		}
	}
	if !slices.Equal(names, []string{"request", "order_id", "region", "lines", "tags"}) || !slices.Equal(required, []string{"request", "order_id"}) {
		t.Errorf("arguments %v, required %v", names, required)
	}
	var got struct {
		Messages []struct{ Content struct{ Text string } }
	}
	c.ask(t, "prompts/get", object{"name": "desk", "arguments": object{"request": "x", "order_id": "A-1001", "lines": "3", "tags": `["a"]`, "region": ""}}, &got)
	if len(got.Messages) != 1 || !strings.Contains(got.Messages[0].Content.Text, `{"request":"x","order_id":"A-1001","lines":3,"tags":["a"]}`) {
		t.Errorf("prompt %+v", got.Messages)
	}
	for want, arguments := range map[string]object{
		"limit:lines": {"request": "x", "order_id": "A-1001", "lines": "77"}, "missing:order_id": {"request": "x"}, "type:lines": {"request": "x", "order_id": "A-1001", "lines": "three"},
	} {
		if text := c.refused(t, "prompts/get", object{"name": "desk", "arguments": arguments}); !strings.Contains(text, want) {
			t.Errorf("%v: %s, want %s", arguments, text, want)
		}
	}
	var completed struct{ Completion struct{ Values []string } }
	c.ask(t, "completion/complete", object{"ref": object{"type": "ref/prompt", "name": "desk"}, "argument": object{"name": "region", "value": "e"}}, &completed)
	if !slices.Equal(completed.Completion.Values, []string{"EU"}) {
		t.Errorf("completions %v", completed.Completion.Values)
	}
}

// TestOwnInstructions holds that many patterns fit into what clients read of the instructions.
func TestOwnInstructions(t *testing.T) {
	t.Parallel()
	var list []server.Pattern
	for i := range 60 {
		spec := ownSpec(t, gateway.Supervisor)
		spec.Name = "a_pattern_with_a_rather_long_name_" + strings.Repeat("x", i%20) + string(rune('a'+i/20)) + string(rune('a'+i%20))
		list = append(list, server.Pattern{Spec: spec, Title: "T", Description: "D."})
	}
	c := openAll(t, list, offline.New(), time.Hour)
	defer c.close()
	var said struct{ Instructions string }
	c.ask(t, "initialize", object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "test", "version": "1"}}, &said)
	if n := len(said.Instructions); n > 1500 || !strings.Contains(said.Instructions, "a_pattern_with_a_rather_long_name_") || !strings.Contains(said.Instructions, "more for what their descriptions say") {
		t.Errorf("%d characters: %s", n, said.Instructions)
	}
}

// ask is a request whose result is decoded.
func (c *session) ask(t *testing.T, method string, params object, into any) {
	t.Helper()
	reply := c.request(method, params)
	if len(reply.Error) > 0 {
		t.Fatalf("%s: %s", method, reply.Error)
	}
	if err := json.Unmarshal(reply.Result, into); err != nil {
		t.Fatal(err)
	}
}

// refused is a request's error.
func (c *session) refused(t *testing.T, method string, params object) string {
	t.Helper()
	return string(c.request(method, params).Error)
}

// answerTo is a request's result or error, as it came.
type answerTo struct {
	ID            any
	Result, Error json.RawMessage
}

// request sends one and waits for its answer.
func (c *session) request(method string, params object) answerTo {
	c.t.Helper()
	c.calls++
	c.send(object{"id": c.calls, "method": method, "params": params})
	for line := range c.lines {
		var m answerTo
		if err := json.Unmarshal(line, &m); err != nil {
			c.t.Fatalf("the server wrote %q: %v", line, err)
		}
		if m.ID == float64(c.calls) {
			return m
		}
	}
	c.t.Fatal("no answer")
	return answerTo{}
}

// TestOwnPlanning holds that a planning pattern's inputs are judged where a plan is made, kept with it, and given to who works on it.
func TestOwnPlanning(t *testing.T) {
	t.Parallel()
	spec := ownSpec(t, pl)
	spec.Plans, spec.LLM, spec.Envelope, spec.Prompts.Work = "desk", true, patterns.RequireNone, "Work."
	model, sent := scripted(t, llmtest.Content("A note."))
	var list []server.Pattern
	for _, verb := range []string{"decompose", "execute", "replan"} {
		spec.Name = "desk_" + verb
		list = append(list, server.Pattern{Spec: spec, Title: "Desk", Description: "Tests."})
	}
	c := openAll(t, list, model, time.Hour)
	defer c.close()
	plan := object{"subtasks": []any{object{"id": "note", "description": "Write it", "tool": "model"}}}
	refused := func(tool string, arguments object, want string) {
		t.Helper()
		if got := c.call(tool, arguments, false).object; got["stop_reason"] != "invalid_request:"+want {
			t.Errorf("%s(%v): %v, want %s", tool, arguments, got["stop_reason"], want)
		}
	}
	refused("desk_decompose", object{"request": "x", "plan": plan}, "missing:order_id")
	refused("desk_decompose", object{"request": "x", "order_id": "1", "plan": plan}, "limit:order_id")
	refused("desk_execute", object{"plan": plan}, "missing:order_id")
	refused("desk_execute", object{"plan": plan, "order_id": "1"}, "limit:order_id")
	made := c.call("desk_decompose", object{"request": "x", "order_id": "A-1001", "plan": plan}, false).object
	if made["status"] != "ok" {
		t.Fatalf("%v", made)
	}
	refused("desk_execute", object{"plan_id": made["plan_id"], "order_id": "A-1001"}, "mismatch:order_id")
	done := c.call("desk_execute", object{"plan_id": made["plan_id"]}, false).object
	if done["stop_reason"] != "success" {
		t.Fatalf("%v %v", done["stop_reason"], done["summary"])
	}
	if asked := sent(); len(asked) != 1 || !strings.Contains(asked[0], `"input":{"order_id":"A-1001","region":"EU"}`) {
		t.Errorf("the model was asked %q", asked)
	}
}

// TestOwnDryRun holds that a dry run is judged with the inputs that a run would have.
func TestOwnDryRun(t *testing.T) {
	t.Parallel()
	spec := ownSpec(t, gateway.TaskDecomposition)
	var seen []any
	spec.Reviewer = gateway.ReviewerFunc(func(c gateway.Case) gateway.Verdict {
		seen = append(seen, c.Facts.Input["region"])
		return gateway.Verdict{Decision: gateway.Approve, Reason: "ok"}
	})
	c := openOwn(t, spec)
	plan := object{"steps": []any{object{"id": "a", "title": "A", "tool": "look", "args": object{"order_id": "A-1001"}}}}
	result := c.call("desk", object{"request": "x", "order_id": "A-1001", "plan": plan, "dry_run": true}, false).object
	c.close()
	if result["verdict"] != "approve" || len(seen) == 0 || seen[0] != "EU" {
		t.Errorf("%v %v, rules saw %v", result["verdict"], result["stop_reason"], seen)
	}
}
