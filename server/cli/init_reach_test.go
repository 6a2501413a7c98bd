package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/cli/console"
)

// nearServer is a server on this machine, at a URL.
func nearServer(t *testing.T) *httptest.Server {
	t.Helper()
	near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
	t.Cleanup(near.Close)
	return near
}

// A server on this machine or in a private network goes on to be reached under the gate: its address is named, and no other.
func TestInitAllowsTheAddressItReached(t *testing.T) {
	t.Parallel()
	near := nearServer(t)
	named := strings.Replace(near.URL, "127.0.0.1", "localhost", 1)
	for name, tt := range map[string]struct{ url, note string }{
		"an address": {near.URL, "127.0.0.1 is a loopback address; added 127.0.0.1/32 to allow_networks for it"},
		"a name":     {named, "localhost leads to 127.0.0.1, a loopback address; added 127.0.0.1/32 to allow_networks for it"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newInitHome(t, clientText(t, map[string]any{"crm": map[string]any{"url": tt.url + "/mcp"}, "dup": map[string]any{"url": tt.url + "/mcp"}}))
			path := filepath.Join(h.dir, "pg.yaml")
			out, errs, code := setupRun(t, h.command(t, "init", "--import", "cursor", "-o", path, "--read", "crm/search", "--no-replace"))
			text := readFile(t, path)
			if code != console.ExitDone || !strings.Contains(out, tt.note) || !strings.Contains(text, "# "+tt.note) {
				t.Fatalf("init ends with %d: %s%s%s", code, out, errs, text)
			}
			if diff := cmp.Diff(any([]any{"127.0.0.1/32"}), at(yamlOf(t, text), "catalog", "allow_networks")); diff != "" {
				t.Errorf("the networks, -want +got:\n%s", diff)
			}
			if out, errs, code := setupRun(t, h.command(t, "call", "search", "--config", path)); code != console.ExitDone || !strings.Contains(out, "found") {
				t.Errorf("under the gate the call ends with %d: %s%s", code, out, errs)
			}
		})
	}
}

// What nobody confirmed opens no network: the line stands there to be added.
func TestInitAllowsNoAddressThatNobodyConfirmed(t *testing.T) {
	near := nearServer(t)
	h := newInitHome(t, clientText(t, map[string]any{"crm": map[string]any{"url": near.URL + "/mcp"}, "dup": map[string]any{"url": near.URL + "/mcp"}}))
	path := filepath.Join(h.dir, "pg.yaml")
	out, errs, code := setupRun(t, h.command(t, "init", "--import", "cursor", "-o", path, "--no-replace"))
	text := readFile(t, path)
	const note, line = "127.0.0.1 is a loopback address; add 127.0.0.1/32 to allow_networks", "\n  # allow_networks: [\"127.0.0.1/32\"]   # "
	if code != console.ExitDone || strings.Count(out, note) != 2 || strings.Count(text, "# "+note) != 2 || strings.Count(text, line) != 1 {
		t.Fatalf("init ends with %d: %s%s%s", code, out, errs, text)
	}
	if got := at(yamlOf(t, text), "catalog", "allow_networks"); got != nil {
		t.Errorf("the networks are %v", got)
	}
	// It is what is missing: a line that is taken in, and a tool that is, and calls are made.
	text = strings.Replace(text, "# allow_networks:", "allow_networks:", 1)
	text = strings.Replace(text, "search: {effect: write, enabled: false}", "search: {effect: read}", 1)
	text = strings.Replace(text, "expose: []", "expose: [search]", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"catalog", "accept", "--yes"}, {"call", "search"}} {
		if out, errs, code := setupRun(t, h.command(t, append(args, "--config", path)...)); code != console.ExitDone {
			t.Fatalf("%v ends with %d: %s%s\n%s", args, code, out, errs, text)
		}
	}
}
