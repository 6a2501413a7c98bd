package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Every handshake that mcp-go knows, and no handshake at all.
func TestHandshakeEra(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			c := connect(t, serving(t))
			c.send(strings.Replace(initialize, "2025-11-25", version, 1), initialized)
			var got struct {
				ProtocolVersion, Instructions string
				Capabilities                  map[string]map[string]bool
				ServerInfo                    map[string]string
			}
			m := c.next()
			if err := json.Unmarshal(m.Result, &got); err != nil {
				t.Fatalf("initialize: %v: %s", err, m.line)
			}
			if got.ProtocolVersion != version || got.Instructions == "" {
				t.Errorf("initialize: version %q, instructions %q", got.ProtocolVersion, got.Instructions)
			}
			want := map[string]map[string]bool{"tools": {"listChanged": true}, "prompts": {"listChanged": true},
				"resources": {"subscribe": true, "listChanged": true}, "completions": {}, "logging": {}}
			if diff := cmp.Diff(want, got.Capabilities); diff != "" {
				t.Errorf("initialize: capabilities (-want +got):\n%s", diff)
			}
			if got.ServerInfo["name"] != "patterngate" || got.ServerInfo["title"] != "Patterngate" || got.ServerInfo["version"] != "1.2.3" {
				t.Errorf("initialize: server %v", got.ServerInfo)
			}
			if r := c.call(td, goodCall).result(t); r.Structured["status"] != "ok" || r.ResultType != "" {
				t.Errorf("a call ended with %v", r)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if r := connect(t, serving(t)).call(td, goodCall).result(t); r.Structured["status"] != "ok" {
			t.Errorf("a call ended with %v", r)
		}
	})
}

func TestStatelessEra(t *testing.T) {
	c := connect(t, serving(t))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`)
	if m := c.next(); !strings.Contains(m.line, `"2026-07-28"`) || !strings.Contains(m.line, `"instructions":"Patterngate runs`) {
		t.Errorf("server/discover: %s", m.line)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + modernMeta + `}}`)
	if m := c.next(); strings.Count(m.line, `"inputSchema"`) != 9 {
		t.Errorf("tools/list: %.300s", m.line)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{` + modernMeta + `,"name":"` + td + `","arguments":` + goodCall + `}}`)
	if r := c.next().result(t); r.Structured["status"] != "ok" || r.ResultType != "complete" {
		t.Errorf("a call ended with %v", r)
	}
	c.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{` + modernMeta + `,"name":"` + td + `","arguments":{}}}`)
	if r := c.next().result(t); !r.IsError || r.Structured["stop_reason"] != "invalid_request:missing:goal" {
		t.Errorf("a call without a goal ended with %v", r)
	}
}

// Both channels are there, for results and for refusals.
func TestBothChannels(t *testing.T) {
	c := connect(t, serving(t))
	for name, tt := range map[string]struct {
		arguments, status, reason string
		isError                   bool
	}{
		"ok":              {goodCall, "ok", "success", false},
		"stopped":         {`{"goal":"x","plan":{"steps":[]}}`, "stopped", "invalid_plan:missing_steps", false},
		"an array":        {`{"goal":"x","plan":[]}`, "stopped", "invalid_plan:not_object", false},
		"refused":         {`{"goal":"x","plan":1}`, "stopped", "invalid_request:type:plan", true},
		"beyond doubles":  {`{"goal":-1e400,"plan":"1e400"}`, "stopped", "invalid_request:limit:goal", true},
		"several at once": {`{"gaol":"x"}`, "stopped", "invalid_request:unknown_field:gaol", true},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.call(td, tt.arguments).result(t)
			if r.Structured["status"] != tt.status || r.Structured["stop_reason"] != tt.reason || r.IsError != tt.isError {
				t.Errorf("%s ended with %v, error %v; want %s %s, error %v", tt.arguments, r.Structured, r.IsError, tt.status, tt.reason, tt.isError)
			}
			if len(r.Content) != 1 || r.Content[0]["type"] != "text" || !strings.Contains(fmt.Sprint(r.Content[0]["text"]), tt.reason) {
				t.Errorf("%s: content %v, want one text that says %s", tt.arguments, r.Content, tt.reason)
			}
		})
	}
}

// Lines that are no request of a known tool: each gets its answer, or none, and the server lives on.
func TestBadLines(t *testing.T) {
	parse, invalid := "<nil> -32700", "<nil> -32600"
	tests := map[string]struct {
		lines string
		want  []string // id and code of each answer
	}{
		"not JSON":             {`{`, []string{parse}},
		"prose":                {`hello`, []string{parse}},
		"two documents":        {`{} {}`, []string{parse}},
		"batch":                {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, []string{invalid}},
		"scalar":               {`5`, []string{invalid}},
		"null":                 {`null`, []string{invalid}},
		"empty object":         {`{}`, []string{invalid}},
		"pretty-printed":       {"{\n \"jsonrpc\": \"2.0\",\n \"id\": 1, \"method\": \"ping\"\n}", []string{parse, parse, parse, parse}},
		"control character":    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\x01\"}", []string{parse}},
		"blank lines":          {"\n \t\n\r", nil},
		"carriage return":      {`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", []string{"1 0"}},
		"id null":              {`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"` + td + `","arguments":` + goodCall + `}}`, []string{invalid}},
		"id an object":         {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, []string{invalid}},
		"id a truth":           {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, []string{invalid}},
		"id that would change": {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, []string{invalid}},
		"id a fraction":        {`{"jsonrpc":"2.0","id":1.50,"method":"ping"}`, []string{"1.5 0"}},
		"id a text":            {`{"jsonrpc":"2.0","id":"a<\u00e9\"","method":"ping"}`, []string{`a<é" 0`}},
		"no version":           {`{"id":1,"method":"ping"}`, []string{"1 -32600"}},
		"other version":        {`{"jsonrpc":2.0,"id":1,"method":"ping"}`, []string{"1 -32600"}},
		"no method":            {`{"jsonrpc":"2.0","id":1}`, []string{"1 -32600"}},
		"method a number":      {`{"jsonrpc":"2.0","id":1,"method":3}`, []string{"1 -32600"}},
		"unknown method":       {`{"jsonrpc":"2.0","id":1,"method":"tools/burn"}`, []string{"1 -32601"}},
		"unknown notification": {`{"jsonrpc":"2.0","method":"notifications/burn"}`, nil},
		"an answer":            {`{"jsonrpc":"2.0","id":1,"result":{}}`, nil},
		"an error":             {`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, nil},
		"request and answer":   {`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, nil},
		"params an array":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, []string{"1 -32600"}},
		"params of a cancel":   {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, nil},
		"call without params":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, []string{"1 -32602"}},
		"unknown tool":         {callLine(1, "rm", `{}`), []string{"1 -32602"}},
		"tool name is exact":   {callLine(1, "Route_Ticket", `{}`), []string{"1 -32602"}},
		"call as notification": {`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"` + td + `","arguments":` + goodCall + `}}`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var log logBuffer
			c := connect(t, serving(t, logging(&log)))
			c.send(tt.lines)
			c.send(callLine("last", td, `{}`))
			var got []string
			for {
				m := c.next()
				if m.ID == "last" {
					break
				}
				code := 0
				if m.Error != nil {
					code = m.Error.Code
				}
				got = append(got, fmt.Sprint(m.ID, " ", code))
			}
			// Answers to other requests than calls may come after the last call's.
			for _, m := range c.rest() {
				code := 0
				if m.Error != nil {
					code = m.Error.Code
				}
				got = append(got, fmt.Sprint(m.ID, " ", code))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%.200s: answers %q, want %q", tt.lines, got, tt.want)
			}
			if runs := log.lines(t, "run ended"); len(runs) > 0 {
				t.Errorf("%.200s: a run took place: %v", tt.lines, runs)
			}
		})
	}
}

// longLine is a reader of one line of n bytes that was never in memory, and then of more.
func longLine(n int64, more string) io.Reader {
	return io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":"`),
		io.LimitReader(letters{}, n), strings.NewReader("\"}}\n"+more))
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A line of 64 MiB gets a protocol error, costs no memory worth the name, and the server lives.
func TestLineLimit(t *testing.T) {
	s := serving(t)
	var out strings.Builder
	more := callLine(2, td, goodCall) + "\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := s.ServeStdio(t.Context(), longLine(64<<20, more), &out); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 24<<20 {
		t.Errorf("a line of 64 MiB allocated %d MiB", grown>>20)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d answers, want 2: %.500s", len(lines), out.String())
	}
	if m := parseMessage(lines[0]); m.ID != nil || m.Error == nil || m.Error.Code != -32700 {
		t.Errorf("the long line was answered by %s", m.line)
	}
	if r := parseMessage(lines[1]).result(t); r.Structured["status"] != "ok" {
		t.Errorf("the call after it ended with %v", r)
	}
}

// A line just within the limit is taken, and its arguments are judged.
func TestLineWithinLimit(t *testing.T) {
	c := connect(t, serving(t))
	line := callLine(7, td, `{"goal":"`+strings.Repeat("x", longestLine-200)+`"}`)
	c.send(line)
	if r := c.next().result(t); !r.IsError || r.Structured["stop_reason"] != "invalid_request:too_large:arguments" {
		t.Errorf("a call of %d bytes ended with %v", len(line), r)
	}
}

// An id may be used again when its request is answered, not before; and what was cancelled once is not cancelled twice.
func TestIDsInUse(t *testing.T) {
	h := newHolding()
	c := connect(t, serving(t, h.with(t)))
	c.send(callLine(7, td, holdCall))
	wait(t, h.begun, "the call begins")
	c.send(callLine(7, td, holdCall))
	if m := c.next(); m.ID != nil || m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a second call of the same id was answered by %s", m.line)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if m := c.next(); m.ID != 7.0 || m.result(t).Structured["stop_reason"] != "cancelled" {
		t.Errorf("the cancelled call was answered by %s", m.line)
	}
	close(h.let)
	if r := c.call(td, holdCall).result(t); r.Structured["status"] != "ok" {
		t.Errorf("the call after it ended with %v", r)
	}
}

// More calls than the queue holds wait outside; none is lost, and the reading loop never runs one.
func TestMoreCallsThanQueue(t *testing.T) {
	h := newHolding()
	c := connect(t, serving(t, h.with(t)))
	const n = queued + 200
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range n {
			if _, err := io.WriteString(c.in, callLine(i, td, heldCall(i))+"\n"); err != nil {
				return
			}
		}
	}()
	for range workers {
		wait(t, h.begun, "the workers are busy")
	}
	close(h.let)
	seen := map[any]bool{}
	for range n {
		m := c.next()
		seen[m.ID] = true
		if m.result(t).Structured["status"] != "ok" {
			t.Fatalf("answer %s", m.line)
		}
	}
	wait(t, sent, "all calls are taken")
	if len(seen) != n {
		t.Errorf("%d of %d calls answered", len(seen), n)
	}
}

// A stream that only listens does not hold the end up.
func TestListenDoesNotHoldTheEnd(t *testing.T) {
	c := connect(t, serving(t, func(c *Config) { c.Grace = patience * 2 }))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + modernMeta + `,"notifications":{"toolsListChanged":true}}}`)
	if m := c.next(); m.Method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("listen was answered by %s", m.line)
	}
	c.send(callLine(2, td, goodCall))
	if r := c.next().result(t); r.Structured["status"] != "ok" {
		t.Errorf("a call beside it ended with %v", r)
	}
	c.in.Close()
	if err := c.ended(); err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// A client that does not read cannot keep the server from ending.
func TestBlockedOutput(t *testing.T) {
	fromClient, in := io.Pipe()
	_, out := io.Pipe() // nobody reads
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{})
	s := serving(t, func(c *Config) { c.Grace = time.Millisecond })
	go func() {
		defer close(served)
		_ = s.ServeStdio(ctx, fromClient, out)
	}()
	if _, err := io.WriteString(in, callLine(1, td, goodCall)+"\n"+`{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	wait(t, served, "the server ends")
}

// A client that is gone ends the server, which says so.
func TestBrokenOutput(t *testing.T) {
	fromClient, in := io.Pipe()
	fromServer, out := io.Pipe()
	fromServer.CloseWithError(errors.New("nobody there"))
	go io.WriteString(in, callLine(1, td, goodCall)+"\n")
	err := serving(t).ServeStdio(t.Context(), fromClient, out)
	if err == nil || !strings.Contains(err.Error(), "writing: nobody there") {
		t.Errorf("ServeStdio: %v, want the cause", err)
	}
}

// An input that breaks is the end of it, and said.
func TestBrokenInput(t *testing.T) {
	fromClient, in := io.Pipe()
	var out strings.Builder
	go func() {
		io.WriteString(in, callLine(1, td, goodCall)+"\n")
		in.CloseWithError(errors.New("cable cut"))
	}()
	err := serving(t).ServeStdio(t.Context(), fromClient, &out)
	if err == nil || !strings.Contains(err.Error(), "reading: cable cut") {
		t.Errorf("ServeStdio: %v, want the cause", err)
	}
	if r := parseMessage(out.String()).result(t); r.Structured["status"] != "ok" {
		t.Errorf("the call before it ended with %v", r)
	}
}

// MCP tasks are not offered: a call that asks for one is an ordinary call.
func TestTaskIsAnOrdinaryCall(t *testing.T) {
	c := connect(t, serving(t))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + td + `","task":{"ttl":1000},"arguments":` + goodCall + `}}`)
	if r := c.next().result(t); r.Structured["status"] != "ok" {
		t.Errorf("a call with a task ended with %v", r)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tasks/list"}`)
	if m := c.next(); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("tasks/list was answered by %s", m.line)
	}
}

// An answer to a question that was never asked approves nothing.
func TestInputResponsesAreIgnored(t *testing.T) {
	c := connect(t, serving(t))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + modernMeta + `,"name":"` + sv + `","requestState":"approved",` +
		`"inputResponses":{"approve":{"action":"accept","content":{"ok":true}}},"arguments":{"goal":"x","actions":[` +
		`{"kind":"tool","name":"get_refund_context","args":{"user_id":42}},` +
		`{"kind":"tool","name":"issue_refund","args":{"user_id":42,"amount_usd":1200,"reason":"asked"}}]}}}`)
	m := c.next()
	for strings.Contains(m.line, `"notifications/prompts/list_changed"`) { // nobody asked for it; on a busy machine it may come first
		m = c.next()
	}
	if r := m.result(t); r.Structured["stop_reason"] != "human_rejected" {
		t.Errorf("a refund of 1200 ended with %v", r.Structured["stop_reason"])
	}
}
