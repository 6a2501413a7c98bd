package assembly

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"patterngate/ijson"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
)

// A catalog comes back from its snapshot as it was, its schemas in the order of the file. Names are sorted there.
func TestSnapshotKeepsCatalogs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "config", "orders.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := binaries(t, "sh", "prog")
	environ := []string{path, "PAY_TOKEN=hunter2"}
	same := func(t interface {
		Fatalf(string, ...any)
	}, loaded Loaded) {
		again, err := reloaded(loaded, environ...)
		if err != nil {
			t.Fatalf("the snapshot does not load: %v\n%s", err, loaded.Snapshot())
		}
		again.Catalog.FindCommands(environ)
		if again.Hash() != loaded.Hash() {
			t.Fatalf("another hash:\n%s\n%s", loaded.Snapshot(), again.Snapshot())
		}
		if diff := sameConfig(sorted(determining(loaded)), sorted(determining(again))); diff != "" {
			t.Fatalf("a round trip changes what runs go by (-want +got):\n%s", diff)
		}
		if strings.Contains(string(loaded.Snapshot()), "hunter2") {
			t.Fatalf("the snapshot holds a secret")
		}
	}
	loaded, _, err := loadText(t, string(text), environ...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, loaded)
	file := filepath.Join(t.TempDir(), "pg.yaml")
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawnCatalog(t)
		if err := os.WriteFile(file, drawn, 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, _, err := Load(settings.Sources{Path: file, Environ: environ}, LoadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", drawn, err)
		}
		same(t, loaded)
	})
}

// sorted has what stands under names in their order.
func sorted(c settings.Config) settings.Config {
	by := func(a, b string) int { return strings.Compare(a, b) }
	c.Patterns, c.Catalog.Servers, c.Catalog.HTTP = slices.Clone(c.Patterns), slices.Clone(c.Catalog.Servers), slices.Clone(c.Catalog.HTTP)
	slices.SortFunc(c.Patterns, func(a, b settings.Pattern) int { return by(a.Name, b.Name) })
	slices.SortFunc(c.Catalog.Servers, func(a, b tools.Server) int { return by(a.Name, b.Name) })
	slices.SortFunc(c.Catalog.HTTP, func(a, b tools.HTTPTool) int { return by(a.Name, b.Name) })
	for i := range c.Catalog.Servers {
		s := &c.Catalog.Servers[i]
		s.Tools = slices.Clone(s.Tools)
		slices.SortFunc(s.Tools, func(a, b tools.ServerTool) int { return by(a.Upstream, b.Upstream) })
		for j := range s.Tools {
			s.Tools[j].Fix = slices.Clone(s.Tools[j].Fix)
			slices.SortFunc(s.Tools[j].Fix, func(a, b tools.Fixed) int { return by(a.Name, b.Name) })
		}
		if s.HTTP != nil {
			endpoint := *s.HTTP
			endpoint.Headers = slices.Clone(endpoint.Headers)
			slices.SortFunc(endpoint.Headers, func(a, b tools.Header) int { return by(a.Name, b.Name) })
			s.HTTP = &endpoint
		}
	}
	return c
}

// drawnCatalog makes a file with a server and a request that load.
func drawnCatalog(t *rapid.T) []byte {
	maybe := func(in map[string]any, name string, value any) {
		if rapid.Bool().Draw(t, "has "+name) {
			in[name] = value
		}
	}
	pick := func(values ...any) any { return rapid.SampledFrom(values).Draw(t, "value") }
	tool := map[string]any{"effect": pick("read", "write", "destructive")}
	maybe(tool, "idempotent", true)
	maybe(tool, "title", "Title: \"é\"")
	maybe(tool, "phrase", "looking at {id}")
	maybe(tool, "rate", map[string]any{"calls": 2.0, "per_seconds": pick(0.5, 60.0)})
	maybe(tool, "retry", map[string]any{"max_retries": 3.0})
	maybe(tool, "once", "args.id")
	maybe(tool, "redact", []any{"/args/id"})
	maybe(tool, "as", "other")
	maybe(tool, "timeout_seconds", pick(0.0, 0.25, 3600.0))
	maybe(tool, "fix", map[string]any{"a": pick(nil, 1.5, "x", true, []any{1.0, "y"}), "token": map[string]any{"secret": "env:PAY_TOKEN"}})
	maybe(tool, "bound", map[string]any{"z": map[string]any{"type": "string"}, "a": map[string]any{"enum": []any{"1", "2"}}})
	server := map[string]any{"tools": map[string]any{"look": tool}}
	if rapid.Bool().Draw(t, "over http") {
		server["http"] = map[string]any{"url": "https://a.example/mcp", "headers": map[string]any{"Cookie": map[string]any{"secret": "env:PAY_TOKEN", "prefix": "a="}}}
	} else {
		server["stdio"] = map[string]any{
			"command": "prog", "args": []any{"-x", map[string]any{"secret": "env:PAY_TOKEN"}},
			"env": pick([]any{"HOME"}, map[string]any{"HOME": true, "LEVEL": "3"}),
		}
	}
	maybe(server, "max_parallel", 1.0)
	request := map[string]any{"method": pick("GET", "POST", "DELETE"), "url": "https://a.example/{id}"}
	if request["method"] != "GET" {
		maybe(request, "body", pick("none", "args", map[string]any{"x": "{id}", "y": 1.0}))
	}
	maybe(request, "body_format", pick("json", "form"))
	maybe(request, "query", map[string]any{"q": "{id}"})
	maybe(request, "success", []any{200.0, "3xx"})
	send := map[string]any{"description": "Sends.", "effect": pick("read", "write"), "request": request, "input": map[string]any{"id": map[string]any{"type": "string"}}}
	maybe(send, "output", map[string]any{"x": "response.body.x"})
	catalog := map[string]any{"servers": map[string]any{"crm": server}, "http": map[string]any{"send": send}}
	maybe(catalog, "expose", []any{"send"})
	maybe(catalog, "allow_networks", []any{"10.0.0.0/8", "::1/128"})
	patterns := map[string]any{}
	maybe(patterns, "send_it", map[string]any{"kind": "call", "tool": "send", "budget": map[string]any{"max_tool_calls": 3.0}})
	maybe(patterns, "plan", map[string]any{"tools": []any{"send"}})
	return ijson.Canonical(map[string]any{"version": 1.0, "catalog": catalog, "patterns": patterns})
}
