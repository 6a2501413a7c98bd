package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// token is what the client shows the server over HTTP.
const token = "example-token-of-the-client"

// connect starts patterngate and connects to it: as a program of the client's own, or over HTTP. It prints the tools that the
// client sees, which are these and those that look after runs.
func (s *stage) connect(tools ...string) {
	if s.err != nil {
		return
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "play", Version: "1"}, nil)
	var transport mcp.Transport
	if s.options.http {
		s.serve()
		transport = &mcp.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: bearer(token)}}
	} else {
		cmd := s.command("patterngate", "serve", "--inbox", "off")
		cmd.Stderr = s.log
		transport = &mcp.CommandTransport{Command: cmd}
	}
	if s.err != nil {
		return
	}
	var err error
	if s.client, err = client.Connect(s.ctx, transport, nil); err != nil {
		s.fail("connect: %w", err)
		return
	}
	list, err := s.client.ListTools(s.ctx, nil)
	if err != nil {
		s.fail("tools/list: %w", err)
		return
	}
	var names []string
	for _, t := range list.Tools {
		if !slices.Contains([]string{"describe_catalog", "run_status", "run_wait", "run_cancel", "list_runs"}, t.Name) {
			names = append(names, t.Name)
			fmt.Fprintf(s.out, "tool %s: %s\n", t.Name, t.Title)
		}
	}
	if !slices.Equal(names, tools) {
		s.fail("the client sees the tools %q, want %q", names, tools)
	}
}

// serve starts patterngate over HTTP. It wants a token, so that it serves on every system.
func (s *stage) serve() {
	if s.err != nil {
		return
	}
	tokens := filepath.Join(s.dir, "tokens")
	s.must(os.WriteFile(tokens, []byte("play: "+token+"\n"), 0o600))
	cmd := s.command("patterngate", "serve", "--http", "127.0.0.1:0", "--token-file", tokens, "--inbox", "off", "--color", "never")
	log, err := cmd.StderrPipe()
	s.must(err)
	s.url = "http://" + s.start(cmd, log, `serving transport=http address=(\S+)`) + "/mcp"
}

// bearer sends a token with each request.
type bearer string

// RoundTrip sends it.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// result is what the stories read of a tool's structured result.
type result struct {
	members map[string]json.RawMessage // all of it

	Status     string `json:"status"`
	StopReason string `json:"stop_reason"`
	RunID      string `json:"run_id"`
	PlanID     string `json:"plan_id"`
	Aggregate  struct {
		Health string `json:"health"`
	} `json:"aggregate"`
	WaitingFor struct {
		Kind       string `json:"kind"`
		ApprovalID string `json:"approval_id"`
		Digest     string `json:"digest"`
	} `json:"waiting_for"`
}

// end is how the call ended, in two words: "ok success", "stopped human_rejected", "waiting approval".
func (r result) end() string {
	if r.StopReason == "" {
		return strings.TrimSpace(r.Status + " " + r.WaitingFor.Kind)
	}
	return r.Status + " " + r.StopReason
}

// call calls a tool with arguments written as JSON, prints what the client's model reads, and checks how it ended.
func (s *stage) call(tool, want, arguments string) (r result) {
	if s.err != nil {
		return r
	}
	fmt.Fprintf(s.out, "> %s %s\n", tool, lineStart.ReplaceAllString(arguments, "\n    "))
	answer, err := s.client.CallTool(s.ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		s.fail("%s: %w", tool, err)
		return r
	}
	for _, c := range answer.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			fmt.Fprintln(s.out, indented("< ", cut(strings.TrimRight(text.Text, "\n"))))
		}
	}
	text, err := json.Marshal(answer.StructuredContent)
	s.must(err)
	s.must(json.Unmarshal(text, &r))
	s.must(json.Unmarshal(text, &r.members))
	if r.end() != want {
		s.fail("%s: %s, want %s", tool, r.end(), want)
	}
	return r
}

// member prints a member of the structured result, which the text above does not show.
func (s *stage) member(r result, name string) {
	switch text, ok := r.members[name]; {
	case s.err != nil:
	case !ok:
		s.fail("the result has no %s", name)
	default:
		fmt.Fprintf(s.out, "= %s %s\n", name, text)
	}
}

// lineStart matches a line break after which the arguments of a call continue.
var lineStart = regexp.MustCompile(`\n\t*`)

// widest is how much of a line is shown; the client gets all of it.
const widest = 240

// cut is a text whose long lines are shown by their beginnings.
func cut(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if all := []rune(line); len(all) > widest {
			head := string(all[:widest])
			if end := strings.LastIndexAny(head, " ,"); end > 0 { // an id is shown whole or not at all
				head = head[:end]
			}
			lines[i] = head + " ..."
		}
	}
	return strings.Join(lines, "\n")
}

// wait has the client wait for a run that waited for a person.
func (s *stage) wait(r result, want string) result {
	return s.call("run_wait", want, fmt.Sprintf(`{"run_id": %q}`, r.RunID))
}

// approve is the person: they look at what waits, of which the first lines are shown, and say yes to exactly that.
func (s *stage) approve(r result, lines int) {
	s.head("approvals show "+r.WaitingFor.ApprovalID, lines)
	s.run("approvals approve " + r.WaitingFor.ApprovalID + " --digest " + r.WaitingFor.Digest)
}
