package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog/upstream"
	"patterngate/gateway"
)

// hostileEnds is how a call of a server's or service's tool ends: what its look and its act, which writes, come to.
type hostileEnds struct{ look, act string }

// seconds is how long a call may take: what ends by no time limit must not reach it on a machine that is busy.
func (e hostileEnds) seconds() int {
	if e.look == "timeout" {
		return 2
	}
	return 15
}

// hostileServers are MCP servers by their manners.
var hostileServers = map[string]hostileEnds{
	"gone":   {"unavailable", "unavailable"}, // since it was accepted, it ends before it says a word
	"absent": {"unavailable", "unavailable"}, // it has no such tools, so that nobody could accept them
	"dies":   {"error", "in_doubt"},
	"hangs":  {"timeout", "late"},
	"floods": {"timeout", "late"},
	"huge":   {"bad_result", "in_doubt"},
	"lies":   {"bad_result", "bad_result"},
	"raves":  {"bad_result", "in_doubt"},
}

// hostileServices are HTTP services by their manners.
var hostileServices = map[string]hostileEnds{
	"redirects": {"error", "in_doubt"},
	"slow":      {"timeout", "late"},
	"cut":       {"bad_result", "in_doubt"},
	"picture":   {"bad_result", "in_doubt"},
	"loses":     {"error", "in_doubt"},
	"inner":     {"unavailable", "unavailable"}, // its address is one that nobody allowed
	"refuses":   {"unavailable", "unavailable"}, // nobody listens
}

// serveManners answers as its path says.
func serveManners(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, "/") {
	case "redirects":
		http.Redirect(w, r, "/fine", http.StatusFound)
	case "slow":
		_, _ = io.Copy(io.Discard, r.Body) // else its end is not seen
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	case "cut":
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"ok":`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "picture":
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, "\x89PNG")
	case "loses":
		panic(http.ErrAbortHandler)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	}
}

// hostileScene is the program before servers and services of all manners, and a client of it.
type hostileScene struct {
	t      *testing.T
	dir    string
	state  string
	client *upstream.Client
}

// hostileKinds are the patterns by the tool that runs them.
var hostileKinds = map[gateway.Kind]string{
	gateway.TaskDecomposition: "run_task_decomposition", gateway.Orchestrator: "run_orchestrator", gateway.Routing: "route_ticket",
	gateway.Supervisor: "supervised_refund", gateway.Planning: "plan_execute", gateway.Call: "",
}

// serveHostiles writes the configuration, accepts what the servers declare but for those that nobody should, and serves.
func serveHostiles(t *testing.T, state string) *hostileScene {
	t.Helper()
	s := &hostileScene{t: t, dir: t.TempDir(), state: state}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(serveManners))
	t.Cleanup(web.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := closed.Addr().String()
	closed.Close()

	var accepts []string
	tools := map[gateway.Kind][]string{}
	servers, http := map[string]any{}, map[string]any{}
	of := slices.Collect(maps.Keys(hostileKinds)) // who may call what comes
	tool := func(name, effect string, more map[string]any) map[string]any {
		for _, kind := range of {
			tools[kind] = append(tools[kind], name)
		}
		v := map[string]any{"effect": effect}
		for key, member := range more {
			v[key] = member
		}
		return v
	}
	server := func(name, manners string, declared map[string]any) {
		servers[name] = map[string]any{
			"stdio":   map[string]any{"command": self, "env": map[string]any{asHostileServer: manners, hostileMark: s.file("accepted")}},
			"breaker": map[string]any{"failures": 1000, "open_seconds": 1}, "timeout_seconds": hostileServers[manners].seconds(), "tools": declared,
		}
	}
	for _, name := range []string{"fine", "moody", "poisoned"} {
		as := func(what string) map[string]any { return map[string]any{"as": name + "_" + what} }
		act := as("act")
		act["once"] = `"order-1"`
		server(name, name, map[string]any{"look": tool(name+"_look", "read", as("look")), "act": tool(name+"_act", "write", act), "turn": tool(name+"_turn", "read", as("turn"))})
		if name != "poisoned" {
			accepts = append(accepts, name)
		}
	}
	for kind := range hostileKinds { // each kind has its own: one that fails many times is left alone for a while
		of = []gateway.Kind{kind}
		for manners := range hostileServers {
			name := hostileName(manners, kind)
			as := func(what string) map[string]any { return map[string]any{"as": name + "_" + what} }
			if manners == "absent" {
				server(name, manners, map[string]any{"none": tool(name+"_look", "read", as("look")), "nothing": tool(name+"_act", "write", as("act"))})
				continue
			}
			server(name, manners, map[string]any{"look": tool(name+"_look", "read", as("look")), "act": tool(name+"_act", "write", as("act"))})
			accepts = append(accepts, name)
		}
		for manners := range hostileServices {
			name, url := hostileName(manners, kind), web.URL+"/"+manners
			switch manners {
			case "inner":
				url = strings.Replace(url, "127.0.0.1", "127.0.0.2", 1)
			case "refuses":
				url = "http://" + refusing + "/"
			}
			for what, method := range map[string]string{"look": "GET", "act": "POST"} {
				effect := map[string]string{"look": "read", "act": "write"}[what]
				http[name+"_"+what] = tool(name+"_"+what, effect, map[string]any{
					"description": "Tests.", "request": map[string]any{"method": method, "url": url, "timeout_seconds": hostileServices[manners].seconds()},
					"input": map[string]any{"n": map[string]any{"type": "integer", "optional": true}},
				})
			}
		}
	}
	patterns := map[string]any{}
	for kind, name := range hostileKinds {
		if kind != gateway.Call {
			patterns[strings.TrimSuffix(name, "_execute")] = map[string]any{"tools": tools[kind]}
		}
	}
	patterns["run_orchestrator"] = map[string]any{
		"tools": tools[gateway.Orchestrator], "budget": map[string]any{"task_timeout_seconds": 20, "max_retries_per_task": 0},
	}
	text, err := json.Marshal(map[string]any{
		"version": 1, "inbox": "off", "notify": "off", "patterns": patterns,
		"catalog": map[string]any{"allow_networks": []string{"127.0.0.1/32"}, "servers": servers, "http": http, "expose": tools[gateway.Call]},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file("config.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	accepting := program(t, append([]string{"--config", s.file("config.yaml"), "--state", s.file("accepting.db"), "catalog", "accept", "--yes"}, accepts...)...)
	if out, err := accepting.CombinedOutput(); err != nil {
		t.Fatalf("catalog accept: %v\n%s", err, out)
	}
	if err := os.WriteFile(s.file("accepted"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.serve()
	return s
}

// hostileName is the server, and the beginning of the tools, that a kind has of those manners.
func hostileName(manners string, kind gateway.Kind) string { return manners + "_" + string(kind) }

func (s *hostileScene) file(name string) string { return filepath.Join(s.dir, name) }

func (s *hostileScene) program(args ...string) *exec.Cmd {
	return program(s.t, append([]string{"--config", s.file("config.yaml"), "--state", s.state}, args...)...)
}

func (s *hostileScene) serve() {
	s.t.Helper()
	cmd := s.program("serve", "--log-level", "error")
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stderr = s.t.Output()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	if s.client, err = upstream.Over(s.t.Context(), out, in, upstream.Identity{Name: "hostile", Version: "1"}); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // nothing else reports it
		_ = s.client.Close()
	})
}

// run has a pattern call tools, one after the other, and returns its result.
func (s *hostileScene) run(t *testing.T, kind gateway.Kind, n int, tools ...string) map[string]any {
	t.Helper()
	args := map[string]any{}
	if isKnown(tools[0]) {
		args["n"] = n
	}
	var list []any
	for kind == gateway.TaskDecomposition && len(tools) < 3 { // a plan has so many steps
		tools = append(slices.Clone(tools), "moody_turn")
	}
	for i, tool := range tools {
		id, args := string(rune('a'+i)), args
		if isKnown(tool) {
			args = map[string]any{"n": n + i}
		}
		switch kind {
		case gateway.TaskDecomposition:
			list = append(list, map[string]any{"id": id, "title": id, "tool": tool, "args": args})
		case gateway.Orchestrator:
			list = append(list, map[string]any{"id": id, "worker": tool, "args": args, "critical": false})
		case gateway.Supervisor:
			list = append(list, map[string]any{"kind": "tool", "name": tool, "args": args})
		case gateway.Planning:
			list = append(list, map[string]any{"id": id, "description": id, "tool": tool, "args": args})
		}
	}
	name, sent := hostileKinds[kind], map[string]any{}
	switch kind {
	case gateway.TaskDecomposition:
		sent = map[string]any{"goal": "g", "finalize": false, "plan": map[string]any{"kind": "plan", "steps": list}}
	case gateway.Orchestrator:
		sent = map[string]any{"goal": "g", "report_date": "2026-02-26", "region": "US", "finalize": false, "plan": map[string]any{"kind": "plan", "tasks": list}}
	case gateway.Routing:
		sent = map[string]any{"ticket": "t", "finalize": false, "route": map[string]any{"kind": "route", "target": tools[0], "args": args}}
	case gateway.Supervisor:
		sent = map[string]any{"goal": "g", "actions": append(list, map[string]any{"kind": "final", "answer": "done"})}
	case gateway.Planning:
		sent = map[string]any{"plan": map[string]any{"kind": "plan", "subtasks": list}}
	case gateway.Call:
		name, sent = tools[0], args
	}
	sent["idempotency_key"] = fmt.Sprintf("%s/%d/%s", kind, n, strings.Join(tools, "/")) // equal calls are not joined
	text, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	result, err := s.client.CallRaw(ctx, name, text, nil)
	if err != nil {
		t.Fatalf("%s of %v: %v", kind, tools, err)
	}
	var v map[string]any
	if err := json.Unmarshal(result.Structured, &v); err != nil {
		t.Fatalf("%s of %v: %v: %s", kind, tools, err, result.Text())
	}
	return v
}

// isKnown reports whether anybody knows which arguments a tool has.
func isKnown(tool string) bool {
	return !strings.HasPrefix(tool, "absent_") && !strings.HasPrefix(tool, "poisoned_")
}
