package gosdk

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	binary  = flag.String("patterngate", "", "the server")
	config  = flag.String("config", "", "its configuration")
	callsIn = flag.String("calls", "../calls.json", "the calls that every client makes")
	driven  = flag.String("driven", os.DevNull, "gets a line for each call that ended as it should")
)

// script is calls.json.
type script struct {
	Tools    []string       `json:"tools"`
	Patterns []string       `json:"patterns"`
	Morning  map[string]any `json:"morning"`
	Ticket   string         `json:"ticket"`
	Misspelt map[string]any `json:"misspelt"`
	Refund   struct {
		Goal     string           `json:"goal"`
		Actions  []map[string]any `json:"actions"`
		Misspelt map[string]any   `json:"misspelt"`
		Paid     float64          `json:"paid"`
	} `json:"refund"`
	Calls []expected `json:"calls"`
}

// expected is a call with what it should come to: Status is ok, stopped, waiting, or refused, which is stopped as an
// error; Holds is a piece of the structured result.
type expected struct {
	Tool   string         `json:"tool"`
	Args   map[string]any `json:"args"`
	Status string         `json:"status"`
	Reason string         `json:"reason"`
	Holds  string         `json:"holds"`
}

func readScript(t *testing.T) script {
	t.Helper()
	text, err := os.ReadFile(*callsIn)
	if err != nil {
		t.Fatal(err)
	}
	var s script
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%s: %v", *callsIn, err)
	}
	return s
}

// drove counts a call that ended as it should.
func drove(t *testing.T, tool string) {
	t.Helper()
	f, err := os.OpenFile(*driven, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\tGo SDK\n", tool)
}

// envelope is what the checks read of a result.
type envelope struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason"`
	RunID      string `json:"run_id"`
	Joined     bool   `json:"joined"`
	Answer     string `json:"answer"`
	Answered   string `json:"answered"`
	DryRun     bool   `json:"dry_run"`
	Verdict    string `json:"verdict"`
	Judged     []any  `json:"judged"`
	Next       struct {
		Action    string           `json:"action"`
		Tool      string           `json:"tool"`
		Arguments map[string]any   `json:"arguments"`
		Changed   []map[string]any `json:"changed"`
		Fill      []string         `json:"fill"`
	} `json:"next"`
	WaitingFor struct {
		Kind string `json:"kind"`
		Turn int    `json:"turn"`
	} `json:"waiting_for"`
	Problems []struct {
		Reason     string `json:"reason"`
		DidYouMean string `json:"did_you_mean"`
	} `json:"problems"`
	Effects []struct {
		Tool   string `json:"tool"`
		Effect string `json:"effect"`
		Status string `json:"status"`
	} `json:"effects"`
}

// read decodes a result's structured content and holds it against the tool's output schema: this client does not by
// itself.
func (s *session) read(t *testing.T, tool string, result *mcp.CallToolResult) (envelope, string) {
	t.Helper()
	if err := s.schemas[tool].Validate(result.StructuredContent); err != nil {
		t.Fatalf("%s: the structured content does not fit the output schema: %v", tool, err)
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatalf("%s: %v in %s", tool, err, text)
	}
	return e, string(text)
}

// expect compares a result, in both of its channels, with what should come.
func (s *session) expect(t *testing.T, result *mcp.CallToolResult, want expected) envelope {
	t.Helper()
	got, structured := s.read(t, want.Tool, result)
	status, reason, isError := want.Status, want.Reason, want.Status == "refused"
	switch status {
	case "refused":
		status = "stopped"
	case "waiting":
		reason = "caller"
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if got.Status != status || got.StopReason != want.Reason || result.IsError != isError {
		t.Fatalf("%s(%v) = %s %s, error %v; want %s %s, error %v\n%s", want.Tool, want.Args, got.Status, got.StopReason,
			result.IsError, status, want.Reason, isError, text)
	}
	begins := strings.ToUpper(status) + " " + reason
	if got.DryRun && got.Judged != nil && status == "ok" {
		begins = wouldBe[got.Verdict]
	}
	if begins += missing[got.Answered]; got.Answered == "no" && status == "ok" {
		begins = "NO RESULT"
	}
	if head := begins + " | " + want.Tool; !strings.HasPrefix(text, head) {
		t.Errorf("the text begins otherwise than %q:\n%s", head, text)
	}
	if !strings.Contains(structured, want.Holds) {
		t.Errorf("%s(%v): no %s in %s", want.Tool, want.Args, want.Holds, structured)
	}
	return got
}

// wouldBe is how the text of a dry run begins, by its verdict; missing is what the first line says of calls without a result.
var (
	wouldBe = map[string]string{
		"block": "WOULD BE BLOCKED", "escalate": "WOULD WAIT for a person", "unknown": "WOULD DEPEND on earlier results",
		"revise": "WOULD BE CHANGED", "approve": "WOULD BE APPROVED",
	}
	missing = map[string]string{"no": ", no call returned a result", "partly": ", some calls returned no result"}
)

// resolved is a tool's output schema, made ready to judge.
func resolved(t *testing.T, tool *mcp.Tool) *jsonschema.Resolved {
	t.Helper()
	text, err := json.Marshal(tool.OutputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatalf("%s: output schema: %v", tool.Name, err)
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: output schema: %v", tool.Name, err)
	}
	return r
}
