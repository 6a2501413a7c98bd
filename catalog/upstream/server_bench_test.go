//go:build unix

package upstream_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/catalog/upstream"
)

// payload is an argument that comes back as a result of 5 KB.
var payload = map[string]any{"text": strings.Repeat("0123456789", 500)}

// BenchmarkServerCall is a supervised call; [BenchmarkDirectCall] is what it is measured against: mcp-go's own client
// with the same child. The aim is at most 1.15 times that.
func BenchmarkServerCall(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	s := upstream.NewServer(upstream.ServerConfig{Name: "child", Who: me,
		Program: &upstream.ProgramConfig{Command: self, Env: []upstream.Variable{{Name: asServer, Text: "1"}}}})
	defer s.Close()
	if err := s.Ensure(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Call(b.Context(), "echo", payload, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDirectCall(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c, err := client.NewStdioMCPClient(self, []string{asServer + "=1"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "bench", Version: "1"}
	if _, err := c.Initialize(b.Context(), hello); err != nil {
		b.Fatal(err)
	}
	var r mcp.CallToolRequest
	r.Params.Name, r.Params.Arguments = "echo", payload
	for b.Loop() {
		if _, err := c.CallTool(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEnsure is what a call pays to know that its server runs and what that declares.
func BenchmarkEnsure(b *testing.B) {
	s := keep(b, "plain", upstream.ServerConfig{})
	if err := s.Ensure(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Ensure(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
