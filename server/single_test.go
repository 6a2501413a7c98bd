package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
)

// orders are tools of somebody's own: one that reads, one that writes, and one that has arguments by the names of ours.
func orders(t testing.TB) *catalog.Catalog {
	t.Helper()
	tool := func(name, title, description string, effect catalog.Effect, schema string, do catalog.Func) catalog.Tool {
		input, err := catalog.CompileSchema([]byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		return catalog.Tool{Name: name, Title: title, Description: description, Effect: effect, Server: "orders", Input: input, Do: do}
	}
	echo := func(_ context.Context, c catalog.Call) (any, error) { return map[string]any{"got": c.Args}, nil }
	c, err := catalog.New(
		tool("read_order", "Read an order", "Reads one order by its number.", catalog.Read,
			`{"type":"object","properties":{"order_id":{"type":"string","pattern":"^A-[0-9]{4}$","description":"As on the invoice."},"lines":{"type":"integer"}},`+
				`"required":["order_id"],"additionalProperties":false}`, echo),
		tool("pay_back", "", "Pays an order back.", catalog.Write,
			`{"type":"object","properties":{"order_id":{"type":"string"},"cents":{"type":"integer"}},"required":["order_id","cents"],"additionalProperties":false}`,
			func(_ context.Context, c catalog.Call) (any, error) {
				if c.Args["order_id"] == "lost" {
					return nil, errors.New("no such order")
				}
				return map[string]any{"paid": c.Args["cents"]}, nil
			}),
		tool("wipe", "", "", catalog.Destructive,
			`{"type":"object","properties":{"idempotency_key":{"type":"integer"},"max_wait_seconds":{"type":"string"},"x":{"type":"string","x-mcp-header":"Bad Name"}},`+
				`"required":["idempotency_key"],"additionalProperties":false}`, echo),
	)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// single is a pattern of kind call.
func single(c *catalog.Catalog, name, tool string) Pattern {
	return Pattern{Spec: patterns.Spec{
		Name: name, Kind: gateway.Call, Tool: tool, Catalog: c, Tools: []string{tool}, Policy: []string{tool}, Execution: []string{tool},
		Budget: gateway.DefaultBudget(gateway.Call),
	}}
}

// overOrders serves one call of each of somebody's own tools, and nothing else.
func overOrders(t testing.TB) func(*Config) {
	c := orders(t)
	return func(config *Config) {
		config.Catalog = c
		config.Patterns = []Pattern{single(c, "read_order", "read_order"), single(c, "refund", "pay_back"), single(c, "wipe", "wipe")}
	}
}

// The tool's own words and schema are listed, with the arguments about the call where their names are free.
func TestSingleListed(t *testing.T) {
	s := serving(t, overOrders(t))
	tools := map[string]map[string]any{}
	for _, declared := range s.Tools() {
		text, err := json.Marshal(declared)
		if err != nil {
			t.Fatal(err)
		}
		v := map[string]any{}
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		tools[declared.Name] = v
	}
	wait := map[string]any{"type": "number", "maximum": 240.0, "default": 45.0}
	key := map[string]any{"type": "string"}
	dry := map[string]any{"type": "boolean"}
	for name, want := range map[string]map[string]any{
		"read_order": {
			"title": "Read an order", "description": "Reads one order by its number.",
			"annotations": map[string]any{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true},
			"inputSchema": map[string]any{"type": "object", "required": []any{"order_id"}, "additionalProperties": false, "properties": map[string]any{
				"order_id":         map[string]any{"type": "string", "pattern": "^A-[0-9]{4}$", "description": "As on the invoice."},
				"lines":            map[string]any{"type": "integer"},
				"max_wait_seconds": wait, "idempotency_key": key, "dry_run": dry,
			}},
		},
		"refund": {
			"title": "pay_back", "description": "Pays an order back.",
			"annotations": map[string]any{"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true},
			"inputSchema": map[string]any{"type": "object", "required": []any{"order_id", "cents"}, "additionalProperties": false, "properties": map[string]any{
				"order_id": map[string]any{"type": "string"}, "cents": map[string]any{"type": "integer"}, "max_wait_seconds": wait, "idempotency_key": key, "dry_run": dry,
			}},
		},
		"wipe": {
			"title": "wipe", "description": "Calls wipe once, behind the gate.",
			"annotations": map[string]any{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true},
			"inputSchema": map[string]any{"type": "object", "required": []any{"idempotency_key"}, "additionalProperties": false, "properties": map[string]any{
				"idempotency_key": map[string]any{"type": "integer"}, "max_wait_seconds": map[string]any{"type": "string"}, "dry_run": dry, "x": map[string]any{"type": "string"},
			}},
		},
	} {
		got := tools[name]
		for member, v := range want {
			if diff := cmp.Diff(v, got[member]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, member, diff)
			}
		}
		if diff := cmp.Diff(map[string]any{"type": "object", "required": []any{"status"}, "properties": map[string]any{
			"status": map[string]any{"type": "string"}, "next": map[string]any{"type": "object"}, "dry_run": map[string]any{"type": "boolean"}}}, got["outputSchema"]); diff != "" {
			t.Errorf("%s: outputSchema (-want +got):\n%s", name, diff)
		}
		var whole struct{ Properties map[string]any }
		if err := json.Unmarshal(s.Outputs()[name], &whole); err != nil {
			t.Fatal(err)
		}
		output := whole.Properties
		for _, member := range []string{"observation", "effects", "budget", "human_approval"} {
			if output[member] == nil {
				t.Errorf("%s: no member %s in the whole output schema", name, member)
			}
		}
		for _, member := range []string{"trace", "history", "usage", "answer", "plan", "raw_plan"} {
			if output[member] != nil {
				t.Errorf("%s: member %s in the whole output schema", name, member)
			}
		}
	}
	if n := len(s.Tools()); n != 3+len(ownTools) {
		t.Errorf("%d tools are listed, want the three and ours", n)
	}
}

// One call over both eras and both transports: the result holds what the tool returned and no rows.
func TestSingleCall(t *testing.T) {
	s := serving(t, overOrders(t))
	const arguments = `{"order_id":"A-1234","lines":null,"max_wait_seconds":10}`
	check := func(t *testing.T, r result) {
		t.Helper()
		want := map[string]any{"got": map[string]any{"order_id": "A-1234"}}
		if diff := cmp.Diff(want, r.Structured["observation"]); diff != "" || r.IsError || r.Structured["status"] != "ok" {
			t.Errorf("%v; observation (-want +got):\n%s", r.Structured, diff)
		}
		for _, member := range []string{"trace", "history", "usage", "filled", "answer"} {
			if _, there := r.Structured[member]; there {
				t.Errorf("there is a member %s", member)
			}
		}
		effects, _ := r.Structured["effects"].([]any)
		if next := r.Structured["next"].(map[string]any); len(effects) != 1 || next["action"] != envelope.ActionAnswer || r.Structured["budget"] == nil {
			t.Errorf("effects %v, next %v, budget %v", effects, next, r.Structured["budget"])
		}
		if text := textOf(r); !strings.Contains(text, `call read_order {"order_id":"A-1234"} -> {"got":{"order_id":"A-1234"}}`) {
			t.Errorf("the text says %q", text)
		}
	}
	c := connect(t, s)
	for era, meta := range map[string]string{"legacy": "", "modern": modernMeta + ","} {
		t.Run("stdio "+era, func(t *testing.T) {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `"name":"read_order","arguments":` + arguments + `}}`)
			check(t, c.next().result(t))
		})
	}
	h := listening(t, s)
	inBothEras(t, func(t *testing.T, modern bool) {
		check(t, h.connect(modern, nil).call(1, "read_order", arguments, "").last().result(t))
	})
}

// What does not fit the tool's schema is the gate's to say, with the repaired call; what is about the call itself is not.
func TestSingleRefusals(t *testing.T) {
	c := connect(t, serving(t, overOrders(t)))
	for name, tt := range map[string]struct {
		tool, arguments string
		reason, phase   string
		next            string
		isError         bool
	}{
		"unknown":        {"read_order", `{"order":"A-1234"}`, "tool_bad_args:read_order", "call", envelope.ActionFix, false},
		"missing":        {"read_order", `{}`, "tool_bad_args:read_order", "call", envelope.ActionFix, false},
		"null required":  {"read_order", `{"order_id":null}`, "tool_bad_args:read_order", "call", envelope.ActionFix, false},
		"type":           {"refund", `{"order_id":"a","cents":"5"}`, "tool_bad_args:pay_back", "call", envelope.ActionFix, false},
		"pattern":        {"read_order", `{"order_id":"1234"}`, "tool_bad_args:read_order", "call", envelope.ActionFix, false},
		"failed write":   {"refund", `{"order_id":"lost","cents":5}`, "tool_error:pay_back", "call", envelope.ActionTell, false},
		"wait":           {"read_order", `{"order_id":"A-1234","max_wait_seconds":"soon"}`, "invalid_request:type:max_wait_seconds", "request", envelope.ActionFix, true},
		"wait too long":  {"read_order", `{"order_id":"A-1234","max_wait_seconds":241}`, "invalid_request:limit:max_wait_seconds", "request", envelope.ActionFix, true},
		"key":            {"read_order", `{"order_id":"A-1234","idempotency_key":""}`, "invalid_request:limit:idempotency_key", "request", envelope.ActionFix, true},
		"no object":      {"read_order", `[]`, "invalid_request:type:arguments", "request", envelope.ActionFix, true},
		"name not free":  {"wipe", `{"idempotency_key":"k"}`, "tool_bad_args:wipe", "call", envelope.ActionFix, false},
		"a run_id of no": {"read_order", `{"order_id":"A-1234","run_id":"run_0123456789abcdef"}`, "tool_bad_args:read_order", "call", envelope.ActionFix, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.call(tt.tool, tt.arguments).result(t)
			next, _ := r.Structured["next"].(map[string]any)
			if r.Structured["stop_reason"] != tt.reason || r.Structured["phase"] != tt.phase || next["action"] != tt.next || r.IsError != tt.isError {
				t.Errorf("%v in %v, next %v, isError %v; want %+v", r.Structured["stop_reason"], r.Structured["phase"], next, r.IsError, tt)
			}
			for _, member := range []string{"trace", "history"} {
				if _, there := r.Structured[member]; there {
					t.Errorf("there is a member %s", member)
				}
			}
		})
	}
	r := c.call("refund", `{"order_id":"a","cents":"5"}`).result(t)
	next := r.Structured["next"].(map[string]any)
	want := map[string]any{"order_id": "a", "cents": 5.0}
	if diff := cmp.Diff(want, next["arguments"]); diff != "" {
		t.Errorf("the repaired call (-want +got):\n%s", diff)
	}
}

// Names that the tool has itself are the tool's, and all of the call's arguments make calls different.
func TestSingleHandles(t *testing.T) {
	c := connect(t, serving(t, overOrders(t)))
	r := c.call("wipe", `{"idempotency_key":7,"max_wait_seconds":"0"}`).result(t)
	want := map[string]any{"got": map[string]any{"idempotency_key": 7.0, "max_wait_seconds": "0"}}
	if diff := cmp.Diff(want, r.Structured["observation"]); diff != "" {
		t.Errorf("what came to the tool (-want +got):\n%s\n%v", diff, r.Structured)
	}
	first := c.call("read_order", `{"order_id":"A-0001","idempotency_key":"k"}`).result(t).Structured
	again := c.call("read_order", `{"order_id":"A-0001","idempotency_key":"k","max_wait_seconds":3}`).result(t).Structured
	if first["run_id"] != again["run_id"] || again["joined"] != true {
		t.Errorf("the same key is run %v and run %v, joined %v", first["run_id"], again["run_id"], again["joined"])
	}
	other := c.call("read_order", `{"order_id":"A-0002","idempotency_key":"k"}`).result(t)
	if other.Structured["stop_reason"] != "invalid_request:reused:idempotency_key" || !other.IsError {
		t.Errorf("the key for another order: %v", other.Structured["stop_reason"])
	}
	calls := map[string]bool{}
	for _, args := range []map[string]any{{"a": 1.0}, {"a": 1.0, arguments.WaitName: 3.0}, {"a": nil}, {}} {
		calls[arguments.Fingerprint(single(orders(t), "x", "wipe").Spec, args)] = true
	}
	if len(calls) != 4 {
		t.Errorf("of 4 calls of wipe %d are different", len(calls))
	}
}

// The tools about runs show a call as any run, and one step in full.
func TestSingleRuns(t *testing.T) {
	big, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 20_000)
	read, err := catalog.New(catalog.Tool{Name: "read_all", Description: "Reads all.", Effect: catalog.Read, Input: big,
		Do: func(context.Context, catalog.Call) (any, error) { return map[string]any{"text": text}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, serving(t, func(config *Config) { config.Patterns = []Pattern{single(read, "all", "read_all")} }))
	r := c.call("all", `{}`).result(t).Structured
	shown, _ := r["observation"].(map[string]any)
	if shown["truncated"] != true || len(shown["head"].(string)) != 1024 {
		t.Fatalf("a long result is shown as %.200v", shown)
	}
	id := r["run_id"].(string)
	for tool, arguments := range map[string]string{arguments.StatusTool: `{}`, arguments.WaitTool: `{"run_id":"` + id + `"}`} {
		seen := c.call(tool, arguments).result(t).Structured
		if seen["run_id"] != id || seen["pattern"] != "all" || !cmp.Equal(seen["observation"], r["observation"]) || seen["trace"] != nil {
			t.Errorf("%s shows %.300v", tool, seen)
		}
	}
	key := r["effects"].([]any)[0].(map[string]any)["key"].(string)
	step := c.call(arguments.StatusTool, `{"run_id":"`+id+`","step":`+arguments.JSONText(key)+`}`).result(t).Structured["step"].(map[string]any)
	if whole, _ := step["observation"].(map[string]any); whole["text"] != text {
		t.Errorf("the step in full is %.200v", step)
	}
	rows := c.call(arguments.ListTool, `{"pattern":"all"}`).result(t).Structured["runs"].([]any)
	if row := rows[0].(map[string]any); len(rows) != 1 || row["run_id"] != id || row["status"] != "ok" {
		t.Errorf("the list shows %v", rows)
	}
}

// A call that is not waited for goes on; it is shown as running, then as it ended, with words about the one tool.
func TestSingleGoesOn(t *testing.T) {
	begun, let := make(chan struct{}), make(chan struct{})
	schema, err := catalog.CompileSchema([]byte(`{"type":"object","properties":{},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	slow, err := catalog.New(catalog.Tool{Name: "slow", Description: "Takes long.", Effect: catalog.Read, Input: schema,
		Do: func(ctx context.Context, _ catalog.Call) (any, error) {
			close(begun)
			select {
			case <-let:
				return map[string]any{"done": true}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, serving(t, func(config *Config) { config.Patterns = []Pattern{single(slow, "slow_call", "slow")} }))
	r := c.call("slow_call", `{"max_wait_seconds":0}`).result(t).Structured
	if r["status"] != "running" || r["trace"] != nil || r["next"].(map[string]any)["tool"] != arguments.WaitTool {
		t.Fatalf("got %v", r)
	}
	<-begun
	c.send(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"run_wait","arguments":{"run_id":"` + r["run_id"].(string) + `"}}}`)
	m := c.next()
	if m.Method != "notifications/progress" || m.Params["message"] != "call: calling slow" {
		t.Errorf("progress: %s", m.line)
	}
	close(let)
	for m.ID != 8.0 {
		m = c.next()
	}
	if r := m.result(t).Structured; r["status"] != "ok" || !cmp.Equal(r["observation"], map[string]any{"done": true}) {
		t.Errorf("it ended as %v", r)
	}
}

// JobOf makes the job of a recorded call as the call that began it did.
func TestSingleJob(t *testing.T) {
	s := serving(t, overOrders(t))
	arguments := map[string]any{"order_id": "A-1234", "max_wait_seconds": 3.0, "idempotency_key": "k"}
	j := JobOf(s.tools[0].Spec, s.config.Model, false, patterns.Begun{RunID: "run_1", Pattern: "read_order", Arguments: arguments})
	if diff := cmp.Diff(map[string]any{"order_id": "A-1234"}, j.Task.Args); diff != "" || j.ByKey != "k" {
		t.Errorf("key %q, arguments of the tool (-want +got):\n%s", j.ByKey, diff)
	}
	c, problems := s.tools[0].take(ijson.Canonical(arguments), "p")
	if made := s.tools[0].job(c, s.config.Model, false); len(problems) > 0 || made.Equal != j.Equal || !cmp.Equal(made.Task.Args, j.Task.Args) {
		t.Errorf("the call's own job differs: %v, %v", made.Equal, j.Equal)
	}
	p := j.Present(patterns.Ended{RunID: "run_1", Result: patterns.Result{StopReason: "success", Observation: map[string]any{"x": 1.0}}}, nil)
	e, ok := envelope.Kept(patterns.Snapshot{RunID: "run_1", Pattern: "read_order", Spec: j.Spec, Arguments: arguments, Kept: p.Envelope})
	if !ok || e.Trace != nil || e.Observation == nil || !cmp.Equal(*e.Observation, any(map[string]any{"x": 1.0})) {
		t.Errorf("what is kept reads as %+v", e)
	}
}

// A tool's objects and arrays are also taken as texts that hold their JSON: the gate judges what they hold, and both are one
// call. What is declared as a text stays one.
func TestSingleTakesTexts(t *testing.T) {
	many := foreign(t, "many", "Takes many.", `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object",`+
		`"properties":{"name":{"type":"string"}},"required":["name"]}},"how":{"type":"object"},"text":{"type":"string"}},"required":["rows"]}`)
	many.Do = func(_ context.Context, c catalog.Call) (any, error) { return map[string]any{"got": c.Args}, nil }
	c := connect(t, serving(t, func(c *Config) {
		all, err := catalog.New(many)
		if err != nil {
			t.Fatal(err)
		}
		c.Catalog, c.Patterns = all, []Pattern{single(all, "many", "many")}
	}))
	r := c.call("many", `{"rows":"[{\"name\":\"x\"}]","how":"{\"deep\":[1]}","text":"[1]","idempotency_key":"k"}`).result(t)
	want := map[string]any{"got": map[string]any{
		"rows": []any{map[string]any{"name": "x"}}, "how": map[string]any{"deep": []any{1.0}}, "text": "[1]",
	}}
	if diff := cmp.Diff(want, r.Structured["observation"]); diff != "" {
		t.Errorf("what came to the tool (-want +got):\n%s\n%v", diff, r.Structured)
	}
	same := c.call("many", `{"rows":[{"name":"x"}],"how":{"deep":[1]},"text":"[1]","idempotency_key":"k"}`).result(t)
	if same.Structured["run_id"] != r.Structured["run_id"] {
		t.Errorf("the same call in values is another run: %v", same.Structured)
	}
	for arguments, fill := range map[string]string{
		`{"rows":"[{\"nme\":\"x\"}]"}`: "/rows/0/name", `{"rows":"{}"}`: "/rows", `{"rows":"[1"}`: "/rows", `{"rows":"[]","how":"[]"}`: "/how",
	} {
		r := c.call("many", arguments).result(t)
		next, _ := r.Structured["next"].(map[string]any)
		if r.Structured["stop_reason"] != "tool_bad_args:many" || !cmp.Equal(next["fill"], []any{fill}) {
			t.Errorf("%s: %v, next %v", arguments, r.Structured["stop_reason"], next)
		}
	}
}
