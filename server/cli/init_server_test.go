package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What makes the test binary an MCP server of somebody else's: the tools that it lists, and what it does first.
const (
	foreignTools = "FOREIGN_TOOLS" // the list, as JSON
	foreignNeeds = "FOREIGN_NEEDS" // a variable without which it ends at once
	foreignSays  = "FOREIGN_SAYS"  // printed to standard output before anything else
	foreignEcho  = "FOREIGN_ECHO"  // in the list: the server's own token
)

// A server of somebody else's is this binary under another name; it must not come to the flags of go test.
func init() {
	if tools := os.Getenv(foreignTools); tools != "" {
		os.Exit(serveForeign(tools))
	}
}

// serveForeign speaks just enough MCP to be listed.
func serveForeign(tools string) int {
	if name := os.Getenv(foreignNeeds); name != "" && os.Getenv(name) == "" {
		fmt.Fprintln(os.Stderr, name+" is not set")
		return 1
	}
	if says := os.Getenv(foreignSays); says != "" {
		fmt.Println(says)
	}
	tools = strings.ReplaceAll(tools, foreignEcho, os.Getenv("CRM_TOKEN"))
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(line, &request) != nil || request.ID == nil {
			continue
		}
		switch request.Method {
		case "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"foreign","version":"1"}}}`+"\n", request.ID)
		case "tools/list":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`+"\n", request.ID, strings.ReplaceAll(tools, "\n", " "))
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", request.ID)
		}
	}
}

// foreignServer is the test binary where it is a program of somebody else's, called so: a script, since
// a link would be this very program.
func foreignServer(t testing.TB, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", self)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// crmTools are the tools of most tests: one that says it reads, one that says nothing, and two that nobody wants.
const crmTools = `[
 {"name":"search","description":"Searches the CRM.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
 {"name":"add_note","description":"Adds a note.","inputSchema":{"type":"object"}},
 {"name":"files.read","description":"Reads.\n        evil: {effect: read}\u001b[2J\u202e","inputSchema":{"type":"object"}},
 {"name":"bad","inputSchema":[1]},
 {"name":"my search","inputSchema":{"type":"object"}}
]`
