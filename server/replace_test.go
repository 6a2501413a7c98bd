package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/patterns"
	"patterngate/server/arguments"
)

const (
	toolsChanged   = "notifications/tools/list_changed"
	promptsChanged = "notifications/prompts/list_changed"
)

// listedNames are the names in an answer to tools/list or prompts/list.
func listedNames(t testing.TB, m message) []string {
	t.Helper()
	var listed struct{ Tools, Prompts []struct{ Name string } }
	if m.Error != nil || json.Unmarshal(m.Result, &listed) != nil {
		t.Fatalf("no list: %s", m.line)
	}
	names := []string{}
	for _, one := range slices.Concat(listed.Tools, listed.Prompts) {
		names = append(names, one.Name)
	}
	return names
}

// replaced is what is served before and after in these tests: the built-ins, then calls of somebody's own tools.
func replaced(t testing.TB, s *Server, change ...func(*Config)) {
	t.Helper()
	c := s.newest().config
	for _, f := range change {
		f(&c)
	}
	if err := s.Replace(c); err != nil {
		t.Fatal(err)
	}
}

// What is served is another at once: tools, prompts, the catalog and its resource, stop reasons, instructions.
func TestReplace(t *testing.T) {
	s := serving(t)
	c := connect(t, s)
	c.send(initialize, initialized)
	if m := c.next(); !strings.Contains(m.line, "supervised_refund") {
		t.Fatalf("instructions before: %s", m.line)
	}
	replaced(t, s, overOrders(t))
	told := map[string]int{}
	for range 2 { // one change of each list
		told[c.next().Method]++
	}
	if diff := cmp.Diff(map[string]int{toolsChanged: 1, promptsChanged: 1}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	ask := func(line string) message {
		t.Helper()
		c.send(line)
		return c.next()
	}
	want := append([]string{"read_order", "refund", "wipe"}, ownTools...)
	if diff := cmp.Diff(want, listedNames(t, ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`))); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if got := listedNames(t, ask(`{"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{}}`)); len(got) > 0 {
		t.Errorf("prompts %v", got)
	}
	if m := ask(`{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"route_ticket","arguments":{"ticket":"x"}}}`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("a prompt that went: %s", m.line)
	}
	if m := ask(callLine(4, "route_ticket", `{"ticket":"x"}`)); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("a tool that went: %s", m.line)
	}
	if got := namesIn(c.call(arguments.CatalogTool, `{}`).result(t)); !slices.Equal(got, []string{"pay_back", "read_order", "wipe"}) {
		t.Errorf("the catalog shows %v", got)
	}
	for uri, text := range map[string]string{catalogURI: `\"name\":\"pay_back\"`, reasonsURI: `\"patterns\":[\"read_order\",\"refund\",\"wipe\"]`} {
		m := ask(`{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"` + uri + `"}}`)
		if !strings.Contains(m.line, text) || strings.Contains(m.line, "route_ticket") {
			t.Errorf("%s: %.400s", uri, m.line)
		}
	}
	if r := c.call("read_order", `{"order_id":"A-1234"}`).result(t); r.Structured["status"] != "ok" {
		t.Errorf("a new tool: %v", r.Structured)
	}
	for era, line := range map[string]string{
		"legacy": strings.Replace(initialize, `"id":0`, `"id":6`, 1), "modern": modernLine(6, "server/discover", ""),
	} {
		if m := ask(line); !strings.Contains(m.line, "read_order, refund, wipe for one checked call each") || strings.Contains(m.line, "supervised_refund") {
			t.Errorf("%s: instructions after: %s", era, m.line)
		}
	}
	if n := len(s.Tools()); n != len(want) {
		t.Errorf("Tools lists %d, want %d", n, len(want))
	}
}

// Who listens is told, in every era and by every transport, after the new lists are in force.
func TestReplaceTells(t *testing.T) {
	wants := `"notifications":{"toolsListChanged":true,"promptsListChanged":true}`
	heard := func(t *testing.T, next func() message) {
		t.Helper()
		told := map[string]int{}
		for range 2 {
			told[next().Method]++
		}
		if diff := cmp.Diff(map[string]int{toolsChanged: 1, promptsChanged: 1}, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	}
	t.Run("stdio 2025-11-25", func(t *testing.T) {
		s := serving(t)
		c := connect(t, s)
		c.send(initialize, initialized)
		c.next()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`) // what came before is done
		c.next()
		replaced(t, s, overOrders(t))
		heard(t, c.next)
	})
	t.Run("stdio 2026-07-28", func(t *testing.T) {
		s := serving(t)
		c := connect(t, s)
		c.send(modernLine(5, listenMethod, wants))
		if m := c.next(); m.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("listen was answered by %s", m.line)
		}
		replaced(t, s, overOrders(t))
		heard(t, c.next)
	})
	s := serving(t)
	h := listening(t, s)
	legacy := h.connect(false, nil)
	streams := map[string]*bufio.Reader{"http 2025-11-25": bufio.NewReader(h.open(legacy))}
	response, err := h.request(t.Context(), "POST", "/mcp", modernHead(listenMethod, ""), modernLine(5, listenMethod, wants))
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("listen: %v, %v", response, err)
	}
	defer response.Body.Close()
	streams["http 2026-07-28"] = bufio.NewReader(response.Body)
	if m := nextEvent(t, streams["http 2026-07-28"]); m.Method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("listen was answered by %s", m.line)
	}
	replaced(t, s, overOrders(t))
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) { heard(t, func() message { return nextEvent(t, stream) }) })
	}
	a := h.post(legacy.head("tools/list", ""), `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{}}`)
	if got := listedNames(t, a.last()); !slices.Contains(got, "read_order") || slices.Contains(got, "route_ticket") {
		t.Errorf("listed after: %v", got)
	}
}

// A configuration at fault changes nothing.
func TestReplaceRefuses(t *testing.T) {
	s := serving(t)
	before := s.Tools()
	good := s.config
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"twice":        {func(c *Config) { c.Patterns = []Pattern{good.Patterns[0], good.Patterns[0]} }, "declared twice"},
		"reserved":     {func(c *Config) { c.Patterns = []Pattern{single(orders(t), "run_wait", "read_order")} }, "taken"},
		"other engine": {func(c *Config) { c.Engine = EngineFor(t, func() Config { return good }) }, errOtherEngine.Error()},
		"result bytes": {func(c *Config) { c.ResultBytes = -1 }, "result bytes"},
		"two of a name": {func(c *Config) {
			c.Patterns = []Pattern{single(orders(t), "a", "read_order")}
			other, err := catalog.New(foreign(t, "read_order", "Another.", `{"type":"object"}`))
			if err != nil {
				t.Fatal(err)
			}
			c.Catalog = other
		}, "two tools have this name"},
	} {
		t.Run(name, func(t *testing.T) {
			c := good
			tt.change(&c)
			if err := s.Replace(c); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Replace: %v, want %q", err, tt.want)
			}
			if s.newest() != s || len(s.Tools()) != len(before) {
				t.Error("something has changed")
			}
		})
	}
	if err := s.Replace(Config{Patterns: good.Patterns}); err != nil {
		t.Errorf("what is not said stays: %v", err)
	}
	if now := s.newest().config; now.Version != good.Version || now.Model != good.Model || now.Engine != good.Engine {
		t.Errorf("what is not said has changed: %+v", now)
	}
	if errors.Is(s.Replace(Config{}), errOtherEngine) {
		t.Error("no engine is taken for another")
	}
}

// A call that is under way ends as it began, though its tool went meanwhile; the run is known on.
func TestReplaceUnderWay(t *testing.T) {
	held := newHolding()
	s := serving(t, held.with(t))
	c := connect(t, s)
	td := s.tools[0].Spec.Name
	c.send(callLine(1, td, holdCall))
	<-held.begun
	replaced(t, s, overOrders(t))
	close(held.let)
	var answer message
	for range 3 { // with the news of both lists, in any order
		if m := c.next(); m.ID == 1.0 {
			answer = m
		}
	}
	r := answer.result(t).Structured
	if r["status"] != "ok" {
		t.Fatalf("the call ended with %v", r)
	}
	if seen := c.call(arguments.StatusTool, `{}`).result(t).Structured; seen["run_id"] != r["run_id"] || seen["status"] != "ok" || seen["pattern"] != td {
		t.Errorf("the run is shown as %v", seen)
	}
}

// Limits are those of the newest configuration.
func TestReplaceLimits(t *testing.T) {
	s := serving(t)
	c := connect(t, s)
	replaced(t, s, func(c *Config) { c.ConcurrentRuns = -1 })
	for { // of the lists that were changed
		c.send(callLine(1, arguments.StatusTool, `{}`))
		if m := c.next(); m.ID == 1.0 {
			if m.Error == nil || m.Error.Code != -32000 {
				t.Errorf("with no slot: %s", m.line)
			}
			return
		}
	}
}

// versioned is a configuration whose one tool says which version it is of.
func versioned(t testing.TB, of Config, version int) Config {
	t.Helper()
	own := foreign(t, "look", "Looks.", `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)
	own.Effect = catalog.Read
	own.Do = func(_ context.Context, c catalog.Call) (any, error) {
		return map[string]any{"n": c.Args["n"], "version": hashOfVersion(version)}, nil
	}
	all, err := catalog.New(own)
	if err != nil {
		t.Fatal(err)
	}
	of.Patterns = append(slices.Clone(of.Patterns), single(all, "look", "look"))
	of.ConfigHash = hashOfVersion(version)
	return of
}

func hashOfVersion(version int) string { return fmt.Sprintf("%064x", version) }

// Many calls while all is replaced again and again: each is answered once, by one of the configurations and not by a mixture.
func TestReplaceUnderLoad(t *testing.T) {
	const calls, changes, callers = 200, 20, 20
	s := serving(t)
	h := listening(t, s)
	plain := s.config
	if err := s.Replace(versioned(t, plain, 0)); err != nil {
		t.Fatal(err)
	}
	listed := len(s.Tools())
	var seen sync.Map // versions
	call := func(i int, c *client) {
		switch i % 4 {
		case 0, 1:
			m := c.call(i, "look", fmt.Sprintf(`{"n":%d}`, i), "").last()
			r := m.result(t).Structured
			got, _ := r["observation"].(map[string]any)
			id, _ := r["run_id"].(string)
			began := startOf(t, s, id)
			if m.ID != float64(i) || got["n"] != float64(i) || began.Config != got["version"] {
				t.Errorf("call %d, begun under %s, was answered by %s", i, began.Config, m.line)
			}
			seen.Store(got["version"], true)
		case 2:
			m := c.call(i, "run_task_decomposition", goodCall, "").last()
			if got := m.result(t).Structured; m.ID != float64(i) || got["status"] != "ok" {
				t.Errorf("call %d was answered by %s", i, m.line)
			}
		case 3:
			a := h.post(c.head("tools/list", ""), c.request(i, "tools/list"))
			if got := listedNames(t, a.last()); len(got) != listed || !slices.Contains(got, "look") || got[len(got)-1] != arguments.ListTool {
				t.Errorf("list %d shows %v", i, got)
			}
		}
	}
	var all sync.WaitGroup
	next := make(chan int)
	for n := range callers {
		all.Go(func() {
			c := h.connect(n%2 == 0, nil)
			for i := range next {
				call(i, c)
			}
		})
	}
	for i := range calls { // a change for each ten calls, while those before are under way
		if next <- i; i%(calls/changes) == 0 {
			if err := s.Replace(versioned(t, plain, i+1)); err != nil {
				t.Error(err)
			}
		}
	}
	close(next)
	all.Wait()
	versions := 0
	seen.Range(func(any, any) bool { versions++; return true })
	if versions < 2 {
		t.Errorf("only %d version was ever called", versions)
	}
}

// startOf is what a run's record says of its begin.
func startOf(t testing.TB, s *Server, id string) patterns.StartBody {
	events, err := s.config.Engine.Events(s.principal, id)
	if err != nil || len(events) == 0 {
		t.Errorf("run %q: %d events, %v", id, len(events), err)
		return patterns.StartBody{}
	}
	body, err := patterns.DecodeBody(events[0])
	start, ok := body.(*patterns.StartBody)
	if err != nil || !ok {
		t.Errorf("run %q begins with %v, %v", id, body, err)
		return patterns.StartBody{}
	}
	return *start
}

// request is any request of this client's era.
func (c *client) request(id any, method string) string {
	if c.modern {
		return modernLine(id, method, "")
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{}}`, mustJSON(id), method)
}
