package upstream_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"patterngate/catalog/upstream"
)

// What the child is told to be by its environment.
const (
	asServer   = "UPSTREAM_TEST_SERVER"
	asStubborn = "UPSTREAM_TEST_STUBBORN" // it does not end
	asParent   = "UPSTREAM_TEST_PARENT"   // it starts a program that goes on and has its standard error
)

// TestMain is also the server that the tests start.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asHostile) != "":
		serveHostile(os.Getenv(asHostile))
		return
	case os.Getenv(asParent) != "":
		serveAsParent()
		return
	case os.Getenv(asServer) != "":
		serve()
		return
	}
	if os.Getenv("CI") == "" { // those that are parallel mostly wait, for processes and time limits; in CI the race detector makes them slow
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// serve offers tools that show what a client must stand.
func serve() {
	s := server.NewMCPServer("child", "1")
	add := func(name string, do server.ToolHandlerFunc) {
		s.AddTool(mcp.NewToolWithRawSchema(name, "Tests.", []byte(`{"type":"object"}`)), do)
	}
	add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(r.GetArguments(), "echoed"), nil
	})
	add("environment", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Join(os.Environ(), "\n")), nil
	})
	add("refuses", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("no"), nil
	})
	report := func(ctx context.Context, r mcp.CallToolRequest, line string) error {
		return server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": r.Params.Meta.ProgressToken, "progress": 1, "message": line,
		})
	}
	add("hangs", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = report(ctx, r, "hanging")
		<-ctx.Done()
		return mcp.NewToolResultText("cancelled"), nil
	})
	add("huge number", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(map[string]any{"n": uint64(1) << 60}, "big"), nil
	})
	add("reports", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(report(ctx, r, "half way"))), nil
	})
	fmt.Fprintln(os.Stderr, "child is up")
	_ = server.NewStdioServer(s).Listen(context.Background(), os.Stdin, os.Stdout)
	if os.Getenv(asStubborn) != "" {
		signal.Ignore(syscall.SIGTERM)
		select {}
	}
}

// serveAsParent leaves a program behind.
func serveAsParent() {
	left := exec.Command("sleep", "60")
	left.Stderr = os.Stderr
	if err := left.Start(); err != nil {
		panic(err)
	}
	serve()
}

func start(t *testing.T, p upstream.Program) *upstream.Client {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.Command, p.Env = self, append(p.Env, asServer+"=1")
	c, err := upstream.Start(t.Context(), p, upstream.Identity{Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCalls(t *testing.T) {
	var stderr bytes.Buffer
	c := start(t, upstream.Program{Stderr: &stderr})
	tools, err := c.Tools(t.Context())
	if i := slices.IndexFunc(tools, func(t upstream.Tool) bool { return t.Name == "echo" }); err != nil || i < 0 || string(tools[i].Input) != `{"type":"object"}` {
		t.Errorf("Tools() = %+v, %v; want echo among them with its schema", tools, err)
	}
	reply, err := c.Call(t.Context(), "echo", map[string]any{"n": 1.5}, nil)
	if obj, _ := reply.Structured.(map[string]any); err != nil || obj["n"] != 1.5 || reply.Text != "echoed" || reply.IsError {
		t.Errorf("echo = %+v, %v; want its arguments and the text", reply, err)
	}
	if reply, err := c.Call(t.Context(), "refuses", nil, nil); err != nil || !reply.IsError || reply.Text != "no" {
		t.Errorf("refuses = %+v, %v; want an error reply that says no", reply, err)
	}
	if _, err := c.Call(t.Context(), "absent", nil, nil); err == nil {
		t.Error("a tool that is not there was called")
	}
	if _, err := c.Call(t.Context(), "huge number", nil, nil); err == nil || !strings.Contains(err.Error(), "integer out of range") {
		t.Errorf("a result that is not ours to read: %v, want it refused as out of range", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if stderr.String() != "child is up\n" {
		t.Errorf("the child's stderr is %q", stderr.String())
	}
}

// A child sees what it is given and nothing else, above all no keys of ours.
func TestEnvironmentIsGiven(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	c := start(t, upstream.Program{Env: []string{"GIVEN=yes"}})
	defer c.Close()
	reply, err := c.Call(t.Context(), "environment", nil, nil)
	if err != nil || !strings.Contains(reply.Text, "GIVEN=yes") || strings.Contains(reply.Text, "sk-secret") || strings.Contains(reply.Text, "PATH=") {
		t.Errorf("the child sees %q, %v; want GIVEN=yes and nothing of ours", reply.Text, err)
	}
}

func TestProgress(t *testing.T) {
	c := start(t, upstream.Program{})
	defer c.Close()
	lines := make(chan string, 1)
	if reply, err := c.Call(t.Context(), "reports", nil, func(line string) { lines <- line }); err != nil || reply.Text != "<nil>" {
		t.Fatalf("reports = %+v, %v", reply, err)
	}
	if line := <-lines; line != "half way" {
		t.Errorf("progress %q, want half way", line)
	}
}

// A call that is given up is cancelled at the server, whose word about it is passed on; the session goes on.
func TestGivenUp(t *testing.T) {
	c := start(t, upstream.Program{})
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	result, err := c.CallRaw(ctx, "hangs", []byte(`{}`), func(string) { cancel() })
	if !errors.Is(err, context.Canceled) || result.Text() != "cancelled" {
		t.Errorf("the call ended with %q, %v; want the server's last word and %v", result.Text(), err, context.Canceled)
	}
	if _, err := c.CallRaw(ctx, "echo", []byte(`{}`), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call after the end of its context: %v", err)
	}
	if _, err := c.Call(t.Context(), "echo", nil, nil); err != nil {
		t.Errorf("the session is over: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	if _, err := upstream.Start(t.Context(), upstream.Program{Command: "/nowhere/at/all"}, upstream.Identity{}); err == nil {
		t.Error("a program that is not there was started")
	}
}
