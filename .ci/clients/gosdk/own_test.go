package gosdk

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var ownIn = flag.String("own", "", "the calls of tools behind the gate; the configuration names other people's servers")

// ownScript is own.json: Absent are tools that are not behind the gate, Never a text that no result may hold.
type ownScript struct {
	Tools  []string   `json:"tools"`
	Absent []string   `json:"absent"`
	Never  string     `json:"never"`
	Calls  []expected `json:"calls"`
}

// TestOwnTools makes every call of tools that are other people's servers, in both eras, over stdio and HTTP.
func TestOwnTools(t *testing.T) {
	if *ownIn == "" {
		t.Skip("needs servers from npm; .ci/own-tools installs them and sets -own")
	}
	text, err := os.ReadFile(*ownIn)
	if err != nil {
		t.Fatal(err)
	}
	var in ownScript
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatalf("%s: %v", *ownIn, err)
	}
	for name, open := range map[string]func(*testing.T, string) *session{"stdio": overStdio, "http": overHTTP} {
		for _, era := range []string{legacy, modern} {
			t.Run(name+" "+era, func(t *testing.T) { drivesOwn(t, open(t, era), in) })
		}
	}
}

func drivesOwn(t *testing.T, s *session, in ownScript) {
	listsTools(t, s, script{Tools: in.Tools})
	gated := in.Tools[:slices.Index(in.Tools, "describe_catalog")]
	for _, c := range in.Calls {
		args := c.Args
		if slices.Contains(gated, c.Tool) {
			args = own(args) // not the result of an equal call before it
		}
		result := s.call(t, c.Tool, args)
		s.expect(t, result, c)
		if all, err := json.Marshal(result); err != nil || strings.Contains(string(all), in.Never) {
			t.Errorf("%s holds a variable that no server was given, %v: %s", c.Tool, err, all)
		}
		drove(t, c.Tool)
	}
	for _, name := range in.Absent {
		_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
		wantCode(t, err, jsonrpc.CodeInvalidParams)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}
