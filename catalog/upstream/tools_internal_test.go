package upstream

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// A client keeps of a server's tools what the last whole list declares, not all that was ever declared.
func TestToolsAreForgotten(t *testing.T) {
	behind := server.NewMCPServer("http", "1", server.WithToolCapabilities(true), server.WithPaginationLimit(2))
	var broken atomic.Bool
	inner := server.NewStreamableHTTPServer(behind)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer h.Close()
	e, err := ParseEndpoint(h.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Dial(t.Context(), e, Identity{"test", "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for round := range 5 {
		var tools []server.ServerTool
		for i := range 3 {
			tools = append(tools, server.ServerTool{Tool: mcp.NewToolWithRawSchema(fmt.Sprintf("t%d-%d", round, i), "Tests.", []byte(`{"type":"object"}`))})
		}
		behind.SetTools(tools...)
		all, err := c.Definitions(t.Context())
		if err != nil || len(all) != 3 {
			t.Fatalf("%d tools, %v", len(all), err)
		}
		broken.Store(true)
		if _, err := c.Definitions(t.Context()); err == nil {
			t.Fatal("a broken server has a list")
		}
		broken.Store(false)
		if _, err := c.Declarations(t.Context()); err != nil { // of which nothing is called
			t.Fatal(err)
		}
		c.mu.Lock()
		_, last := c.known[fmt.Sprintf("t%d-2", round)]
		if len(c.known) != 3 || !last {
			t.Errorf("round %d: %d tools are known, the last of them: %v", round, len(c.known), last)
		}
		c.mu.Unlock()
	}
}
