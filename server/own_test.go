package server_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/llm/offline"
	"patterngate/patterns/llm/openai"
	"patterngate/server"
)

// inputSchemaOf compiles what a file says of a pattern's inputs.
func inputSchemaOf(t testing.TB, text string) *catalog.Schema {
	t.Helper()
	s, _, faults := catalog.CompileArguments(json.RawMessage(text))
	if s == nil {
		t.Fatalf("%s: %v", text, faults)
	}
	return s
}

const deskInput = `{"order_id": {"type": "string", "pattern": "^A-[0-9]{4}$", "description": "The order."},
	"region": {"type": "string", "enum": ["EU", "US"], "default": "EU"}, "lines": {"type": "integer", "minimum": 1, "maximum": 9, "optional": true},
	"tags": {"type": "array", "items": {"type": "string"}, "optional": true}}`

// ownSpec declares a kind as a file would, over two tools of a user's own: look, and note, which writes.
func ownSpec(t testing.TB, kind gateway.Kind) patterns.Spec {
	t.Helper()
	tool := func(name string, effect catalog.Effect) catalog.Tool {
		return catalog.Tool{
			Name: name, Description: "Does " + name + ".", Effect: effect, Server: "orders", Input: inputSchemaOf(t, `{"order_id": {"type": "string"}, "lines": {"type": "integer", "optional": true}}`),
			Do: func(_ context.Context, c catalog.Call) (any, error) {
				return map[string]any{"order": c.Args["order_id"], "state": "sent"}, nil
			},
		}
	}
	all, err := catalog.New(tool("look", catalog.Read), tool("note", catalog.Write))
	if err != nil {
		t.Fatal(err)
	}
	s := patterns.Spec{
		Name: "desk", Kind: kind, Catalog: all, Tools: all.Names(), Policy: all.Names(), Execution: all.Names(),
		Budget: gateway.DefaultBudget(kind), Goal: "request", Input: inputSchemaOf(t, deskInput),
		Prompts: patterns.Prompts{Decide: "Decide.", Answer: "Answer."},
	}
	s.Budget.MinPlanSteps, s.Budget.MaxTime = 1, time.Minute
	return s
}

// callOwn calls a declared pattern with a model that gives the replies; it returns the result and what the model was sent.
func callOwn(t *testing.T, spec patterns.Spec, arguments object, replies ...llmtest.Reply) (object, []string) {
	t.Helper()
	model, sent := scripted(t, replies...)
	c := open(t, spec, model, time.Hour)
	defer c.close()
	answer := c.call(spec.Name, arguments, false)
	if answer.object == nil {
		t.Fatalf("%s(%v): no result", spec.Name, arguments)
	}
	return answer.object, sent()
}

// TestOwnInputsAreJudged holds that inputs are held to their schema, in the contract's classes and order.
func TestOwnInputsAreJudged(t *testing.T) {
	t.Parallel()
	good := object{"request": "x", "order_id": "A-1001"}
	tests := map[string]struct {
		change   object // nil values are left out
		problems []string
	}{
		"none given":           {object{"request": nil, "order_id": nil}, []string{"missing:request /request", "missing:order_id /order_id"}},
		"blank":                {object{"order_id": " "}, []string{"missing:order_id /order_id"}},
		"unknown":              {object{"ordr_id": 1}, []string{"unknown_field:ordr_id /ordr_id order_id"}},
		"the kind's goal":      {object{"goal": "x"}, []string{"unknown_field:goal /goal"}},
		"another type":         {object{"lines": "3", "order_id": 7}, []string{"type:order_id /order_id", "type:lines /lines"}},
		"outside":              {object{"lines": 10, "order_id": "B-1"}, []string{"limit:order_id /order_id", "limit:lines /lines"}},
		"no word of it":        {object{"region": "us"}, []string{"limit:region /region US"}},
		"a part of it":         {object{"tags": []any{"a", 1}}, []string{"type:tags /tags/1"}},
		"a list as text":       {object{"tags": "[1]"}, []string{"type:tags /tags/0"}},
		"no list as text":      {object{"tags": "["}, []string{"type:tags /tags"}},
		"too long":             {object{"tags": []any{strings.Repeat("x", 17<<10)}}, []string{"too_large:tags /tags"}},
		"all in class order":   {object{"request": 5, "lines": 0, "x": 1, "order_id": nil}, []string{"unknown_field:x /x", "missing:order_id /order_id", "type:request /request", "limit:lines /lines"}},
		"a fraction":           {object{"lines": 1.5}, []string{"type:lines /lines"}},
		"continued, no inputs": {object{"run_id": "run_0123456789abcdef", "order_id": nil, "request": nil}, []string{"not_found:run_id /run_id"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := object{}
			for _, from := range []object{good, tt.change} {
				for k, v := range from {
					if arguments[k] = v; v == nil {
						delete(arguments, k)
					}
				}
			}
			result, _ := callOwn(t, ownSpec(t, gateway.Routing), arguments)
			var got []string
			for _, p := range result["problems"].([]any) {
				p := p.(object)
				near, _ := p["did_you_mean"].(string)
				got = append(got, strings.TrimSpace(p["reason"].(string)+" "+p["pointer"].(string)+" "+near))
			}
			if !reflect.DeepEqual(got, tt.problems) || result["stop_reason"] != "invalid_request:"+strings.Fields(tt.problems[0])[0] {
				t.Errorf("%v: %v, problems %q, want %q", arguments, result["stop_reason"], got, tt.problems)
			}
		})
	}
}

// TestOwnSchema holds what a declared pattern's tool takes and returns, as clients see it.
func TestOwnSchema(t *testing.T) {
	t.Parallel()
	for kind, want := range map[gateway.Kind]struct{ properties, required []string }{
		td: {[]string{"request", "order_id", "region", "lines", "tags", "plan", "finalize", "max_wait_seconds", "idempotency_key", "dry_run"}, []string{"request", "order_id"}},
		or: {[]string{"request", "order_id", "region", "lines", "tags", "plan", "finalize", "max_wait_seconds", "idempotency_key", "dry_run"}, []string{"request", "order_id"}},
		rt: {[]string{"request", "order_id", "region", "lines", "tags", "route", "finalize", "run_id", "turn", "continue_with", "max_wait_seconds", "idempotency_key", "dry_run"}, nil},
		sv: {[]string{"request", "order_id", "region", "lines", "tags", "actions", "run_id", "turn", "continue_with", "max_wait_seconds", "idempotency_key", "dry_run"}, nil},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			spec := ownSpec(t, kind)
			spec.Answer = inputSchemaOf(t, `{"state": {"type": "string", "enum": ["open", "sent"]}}`)
			tool := declaredTool(t, spec)
			input, err := catalog.CompileSchema(tool.RawInputSchema)
			if err != nil {
				t.Fatalf("%s: %v", tool.RawInputSchema, err)
			}
			var names, required []string
			for _, p := range input.Properties() {
				if names = append(names, p.Name); p.Required {
					required = append(required, p.Name)
				}
			}
			if !slices.Equal(names, want.properties) || !slices.Equal(required, want.required) {
				t.Errorf("takes %v, required %v, want %v, %v", names, required, want.properties, want.required)
			}
			if wrong := input.Check(object{"request": "x", "order_id": "A-1001", "lines": 3.0}); len(wrong) > 0 {
				t.Errorf("a good call: %v", wrong)
			}
			if wrong := input.Check(object{"request": "x", "order_id": "1001"}); len(wrong) != 1 {
				t.Errorf("the pattern of order_id is not published: %v", wrong)
			}
			for _, demos := range []string{"report_date", "specialist", "customer", "ticket"} {
				if strings.Contains(string(tool.RawInputSchema), demos) {
					t.Errorf("the schema speaks of %s: %s", demos, tool.RawInputSchema)
				}
			}
			output, err := catalog.CompileSchema(tool.RawOutputSchema)
			if err != nil {
				t.Fatalf("%s: %v", tool.RawOutputSchema, err)
			}
			if wrong := output.Check(object{"status": "ok", "answer": object{"state": "sent"}}); len(wrong) > 0 {
				t.Errorf("an answer that fits: %v", wrong)
			}
			if wrong := output.Check(object{"status": "ok", "answer": "sent"}); len(wrong) == 0 {
				t.Errorf("a text is an answer: %s", tool.RawOutputSchema)
			}
		})
	}
}

// TestOwnRun holds what a declared pattern's model is told and what its caller gets: inputs with their defaults, the owner's
// words, and an answer that is an object.
func TestOwnRun(t *testing.T) {
	t.Parallel()
	plan := say(object{"kind": "plan", "steps": []any{object{"id": "s1", "title": "Look", "tool": "look", "args": object{"order_id": "A-1001"}}}})
	spec := ownSpec(t, gateway.TaskDecomposition)
	answering(&spec)
	calls := 0
	spec.Instructions = func(in patterns.Inputs) (string, error) {
		calls++
		return "Order " + in["order_id"].(string) + ".", nil
	}
	result, sent := callOwn(t, spec, object{"request": "Where is it?", "order_id": "A-1001", "lines": 2, "tags": `["a"]`}, plan, say(object{"text": "On its way.", "state": "sent"}))
	if want := (object{"state": "sent", "text": "On its way."}); result["status"] != "ok" || !reflect.DeepEqual(result["answer"], want) {
		t.Fatalf("%v %v, answer %v, want %v", result["status"], result["stop_reason"], result["answer"], want)
	}
	if len(sent) != 2 || calls != 1 {
		t.Fatalf("%d questions, instructions made %d times", len(sent), calls)
	}
	for _, q := range sent {
		for _, part := range []string{`"goal":"Where is it?"`, `"input":{"lines":2,"order_id":"A-1001","region":"EU","tags":["a"]}`, "Order A-1001."} {
			if !strings.Contains(q, part) {
				t.Errorf("%s is missing in %s", part, q)
			}
		}
	}
}

// TestOwnInstructionsTooLong holds that a question whose words cannot be made is not asked.
func TestOwnInstructionsTooLong(t *testing.T) {
	t.Parallel()
	spec := ownSpec(t, gateway.Routing)
	spec.Instructions = func(patterns.Inputs) (string, error) { return "", context.DeadlineExceeded }
	result, sent := callOwn(t, spec, object{"request": "x", "order_id": "A-1001"}, say(object{"kind": "route", "target": "look", "args": object{}}))
	if result["stop_reason"] != "llm_error:bad_request" || result["phase"] != "route" || len(sent) > 0 {
		t.Errorf("%v in %v, %d questions", result["stop_reason"], result["phase"], len(sent))
	}
}

// TestOwnContinuation holds that a run goes on with its own goal and inputs, and no others.
func TestOwnContinuation(t *testing.T) {
	t.Parallel()
	spec := ownSpec(t, gateway.Supervisor)
	c := openOwn(t, spec)
	defer c.close()
	first := c.call("desk", object{"request": "x", "order_id": "A-1001", "actions": []any{}}, false).object
	if first["status"] != "waiting" {
		t.Fatalf("%v", first)
	}
	run := first["run_id"]
	for name, tt := range map[string]struct {
		more object
		want string
	}{
		"another goal":    {object{"request": "y"}, "invalid_request:mismatch:request"},
		"another input":   {object{"order_id": "A-1002"}, "invalid_request:mismatch:order_id"},
		"another default": {object{"region": "US"}, "invalid_request:mismatch:region"},
		"no input":        {object{"lines": 2}, "invalid_request:mismatch:lines"},
	} {
		more := object{"run_id": run, "actions": []any{object{"kind": "final", "answer": "x"}}}
		for k, v := range tt.more {
			more[k] = v
		}
		if got := c.call("desk", more, false).object; got["stop_reason"] != tt.want {
			t.Errorf("%s: %v, want %s", name, got["stop_reason"], tt.want)
		}
	}
	last := c.call("desk", object{"run_id": run, "request": "x", "region": "EU", "actions": []any{
		object{"kind": "tool", "name": "look", "args": object{"order_id": "A-1001"}}, object{"kind": "final", "answer": "Done."},
	}}, false).object
	if last["status"] != "ok" || last["answer"] != "Done." {
		t.Errorf("the same again: %v", last)
	}
}

// TestOwnHands holds that results use the pattern's names for what it calls, and effects the tools' own.
func TestOwnHands(t *testing.T) {
	t.Parallel()
	spec := ownSpec(t, gateway.Routing)
	tool, _ := spec.Catalog.Tool("look")
	tool.Name, tool.Of, tool.Description = "finder", "look", "Finds an order."
	declining := tool
	declining.Name = "decliner"
	spec.Catalog = viewOf(spec.Catalog, tool, declining)
	spec.Tools = []string{"finder", "decliner"}
	spec.Policy, spec.Execution = spec.Tools, spec.Tools
	spec.Reroute = map[string]func(any) bool{"decliner": func(o any) bool { return o.(object)["state"] == "sent" }, "finder": func(any) bool { return false }}
	c := openOwn(t, spec)
	defer c.close()
	result := c.call("desk", object{"request": "x", "order_id": "A-1001", "finalize": false, "route": object{"target": "decliner"}}, false).object
	if result["status"] != "waiting" {
		t.Fatalf("a route that declined: %v", result)
	}
	result = c.call("desk", object{"run_id": result["run_id"], "route": object{"target": "finder"}}, false).object
	if result["status"] != "ok" || result["selected_route"] != "finder" {
		t.Fatalf("%v", result)
	}
	var effects, targets []string
	for _, e := range result["effects"].([]any) {
		effects = append(effects, e.(object)["tool"].(string))
	}
	for _, row := range result["trace"].([]any) {
		targets = append(targets, row.(object)["target"].(string))
	}
	if !slices.Equal(effects, []string{"look", "look"}) || !slices.Equal(targets, []string{"decliner", "finder"}) {
		t.Errorf("effects %v, targets %v", effects, targets)
	}
	described := c.call("describe_catalog", object{}, false).object
	row := described["patterns"].([]any)[0].(object)
	routes, _ := json.Marshal(row["routes"])
	if want := `[{"description":"Finds an order.","name":"finder","tool":"look"},{"description":"Finds an order.","name":"decliner","tool":"look"}]`; !jsonEqual(routes, want) {
		t.Errorf("routes %s, want %s", routes, want)
	}
	for _, tool := range described["tools"].([]any) {
		if name := tool.(object)["name"]; name == "finder" || name == "decliner" {
			t.Errorf("describe_catalog lists %v as a tool", name)
		}
	}
}

func jsonEqual(got []byte, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}

// scripted is a model server that gives the replies, and what it was sent: the messages' texts.
func scripted(t *testing.T, replies ...llmtest.Reply) (patterns.Model, func() []string) {
	t.Helper()
	fake := llmtest.NewServer(replies...)
	t.Cleanup(fake.Close)
	model, err := openai.New(openai.Config{BaseURL: fake.URL, APIKey: "test", Model: "test", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return model, func() []string {
		var texts []string
		for _, r := range fake.Requests() {
			var body struct{ Messages []struct{ Content string } }
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, m := range body.Messages {
				text += m.Content + "\n"
			}
			texts = append(texts, text)
		}
		return texts
	}
}

// openOwn serves a declared pattern without a model of its own.
func openOwn(t *testing.T, spec patterns.Spec) *session {
	t.Helper()
	return open(t, spec, offline.New(), time.Hour)
}

// declaredTool is a pattern as tools/list shows it.
func declaredTool(t *testing.T, spec patterns.Spec) mcp.Tool {
	t.Helper()
	s, err := server.New(server.Config{
		Patterns: []server.Pattern{{Spec: spec, Title: "Desk", Description: "Tests."}}, Engine: server.EngineFor(t, func() server.Config { return server.Config{} }),
		Model: offline.New(), Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Tools()[0]
}

// TestOwnPlanLacksCritical checks the refusal of a plan without a task for a critical worker.
func TestOwnPlanLacksCritical(t *testing.T) {
	t.Parallel()
	spec := ownSpec(t, gateway.Orchestrator)
	spec.Critical = []string{"note"}
	c := openOwn(t, spec)
	defer c.close()
	plan := object{"tasks": []any{object{"id": "a", "worker": "look", "args": object{"order_id": "A-1001"}}}}
	result := c.call("desk", object{"request": "x", "order_id": "A-1001", "plan": plan}, false).object
	summary, _ := result["summary"].(string)
	if result["stop_reason"] != "critical_task_failed" || result["phase"] != "dispatch" || result["effects"] != nil || !strings.Contains(summary, "the plan has no task for a critical worker: note") {
		t.Errorf("%v in %v: %s", result["stop_reason"], result["phase"], summary)
	}
	problem := result["problems"].([]any)[0].(object)
	if problem["pointer"] != "/plan/tasks" || !strings.Contains(problem["want"].(string), "note") {
		t.Errorf("problem %v", problem)
	}
	filled, _ := json.Marshal(result["filled"])
	if !strings.Contains(string(filled), "/plan/tasks/0/critical") {
		t.Errorf("filled %s", filled)
	}
}
