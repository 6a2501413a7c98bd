package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Each server answers a client of the SDK, and says so where it has nothing.
func TestServers(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"days.json":    `{"2026-11-20": {"sales": {"orders": 2, "gross_cents": 900}, "refunds": {"refunds": 1, "refunded_cents": 100}, "stock": {"sold_out": 3, "low": 4}}}`,
		"parcels.json": `{"A-1001": {"state": "on its way", "place": "Bremen"}}`,
		"A-1001.json":  `{"order_id": "A-1001", "customer": "Ann", "total_cents": 900, "state": "sent"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ server, path, tool, args, want, fault string }{
		{"sales", "days.json", "day_sales", `{"day":"2026-11-20"}`, `{"gross_cents":900,"orders":2}`, ""},
		{"sales", "days.json", "day_sales", `{"day":"2026-11-21"}`, "", "no sales figures of 2026-11-21"},
		{"refunds", "days.json", "day_refunds", `{"day":"2026-11-20"}`, `{"refunded_cents":100,"refunds":1}`, ""},
		{"stock", "days.json", "day_stock", `{"day":"2026-11-20"}`, `{"low":4,"sold_out":3}`, ""},
		{"stock", "none.json", "day_stock", `{"day":"2026-11-20"}`, "", "cannot be read"},
		{"parcels", "parcels.json", "track_parcel", `{"order_id":"A-1001"}`, `{"order_id":"A-1001","place":"Bremen","state":"on its way"}`, ""},
		{"parcels", "parcels.json", "track_parcel", `{"order_id":"A-1002"}`, `{"order_id":"A-1002","place":"","state":"unknown"}`, ""},
		{"orders", "", "list_orders", `{}`, `{"count":1,"orders":"A-1001"}`, ""},
		{"orders", "", "read_order", `{"order_id":"A-1001"}`, `{"customer":"Ann","order_id":"A-1001","state":"sent","total_cents":900}`, ""},
		{"orders", "", "read_order", `{"order_id":"../A-1001"}`, "", "there is no such order"},
		{"orders", "", "note_order", `{"order_id":"A-1002","text":"late"}`, "", "there is no such order"},
		{"orders", "", "note_order", `{"order_id":"A-1001","text":"late\n again"}`, `{"notes":1,"order_id":"A-1001"}`, ""},
		{"orders", "", "note_order", `{"order_id":"A-1001","text":"here"}`, `{"notes":2,"order_id":"A-1001"}`, ""},
	} {
		r := call(t, tt.server, filepath.Join(dir, tt.path), tt.tool, tt.args)
		text, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		said := r.Content[0].(*mcp.TextContent).Text
		if r.IsError != (tt.fault != "") || !strings.Contains(said, tt.fault) || !r.IsError && string(text) != tt.want {
			t.Errorf("%s %s: %s, %q; want %s%s", tt.tool, tt.args, text, said, tt.want, tt.fault)
		}
	}
	if notes, err := os.ReadFile(filepath.Join(dir, "A-1001.notes")); err != nil || string(notes) != "late again\nhere\n" {
		t.Errorf("the notes are %q, %v", notes, err)
	}
}

// call calls a tool of one of the servers.
func call(t *testing.T, server, path, tool, args string) *mcp.CallToolResult {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: server, Version: "1"}, nil)
	servers[server](s, path)
	near, far := mcp.NewInMemoryTransports()
	if _, err := s.Connect(t.Context(), far, nil); err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"sales"}, {"money", "x"}} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("run(%q) = %v, want the usage", args, err)
		}
	}
}
