package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file that does not load ends with 1, as a text and as JSON.
func TestInitOfAFaultyFile(t *testing.T) {
	for _, json := range []bool{false, true} {
		for _, faulty := range []bool{false, true} {
			want := map[bool]int{false: exitDone, true: exitFault}[faulty]
			a := &app{out: io.Discard, err: io.Discard, json: json}
			if code := a.exit(t.Context(), a.tellInit(initReport{File: "pg.yaml", faulty: faulty})); code != want {
				t.Errorf("faulty %t, as JSON %t: it ends with %d, want %d", faulty, json, code, want)
			}
		}
	}
}

// Servers are told of one at a time, whether they start or cannot.
func TestInitTellsOneAtATime(t *testing.T) {
	servers := make([]importedServer, 100)
	for i := range servers {
		servers[i].problem = map[bool]string{true: "it is off"}[i%2 == 1]
	}
	var inside atomic.Int32
	told, together := 0, false
	(&app{}).startServers(t.Context(), servers, func(importedServer) {
		together = inside.Add(1) != 1 || together
		told++
		for range 100 {
			runtime.Gosched()
		}
		inside.Add(-1)
	})
	if told != len(servers) || together {
		t.Errorf("told of %d servers, two at once: %t; want %d, false", told, together, len(servers))
	}
}

// A server on this machine or in a private network goes on to be reached under the gate: its address is named, and no other.
func TestInitAllowsTheAddressItReached(t *testing.T) {
	serve := func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"foreign","version":"1"}}`,
			"tools/list": `{"tools":` + strings.ReplaceAll(crmTools, "\n", "") + `}`,
			"tools/call": `{"content":[{"type":"text","text":"found"}]}`,
		}[request.Method]
		if result == "" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, request.ID)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result)
	}
	near := httptest.NewServer(http.HandlerFunc(serve))
	defer near.Close()
	named := strings.Replace(near.URL, "127.0.0.1", "localhost", 1)
	for name, tt := range map[string]struct{ url, note string }{
		"an address": {near.URL, "127.0.0.1 is a loopback address; allow_networks names it, and no other"},
		"a name":     {named, "localhost leads to 127.0.0.1, a loopback address; allow_networks names it, and no other"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newInitHome(t, clientText(t, map[string]any{"crm": map[string]any{"url": tt.url + "/mcp"}, "dup": map[string]any{"url": tt.url + "/mcp"}}))
			path := filepath.Join(h.dir, "pg.yaml")
			out, errs, code := setupRun(t, h.command(t, "init", "--import", "cursor", "-o", path, "--read", "crm/search", "--no-replace"))
			text := readFile(t, path)
			if code != exitDone || !strings.Contains(out, tt.note) || !strings.Contains(text, "# "+tt.note) {
				t.Fatalf("init ends with %d: %s%s%s", code, out, errs, text)
			}
			if diff := cmp.Diff(any([]any{"127.0.0.1/32"}), at(yamlOf(t, text), "catalog", "allow_networks")); diff != "" {
				t.Errorf("the networks, -want +got:\n%s", diff)
			}
			if out, errs, code := setupRun(t, h.command(t, "call", "search", "--config", path)); code != exitDone || !strings.Contains(out, "found") {
				t.Errorf("under the gate the call ends with %d: %s%s", code, out, errs)
			}
		})
	}
}
