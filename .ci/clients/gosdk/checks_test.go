//lint:file-ignore SA1019 what 2026-07-28 deprecates is still served to clients of 2025-11-25

package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

var checks = []struct {
	name string
	run  func(*testing.T, *session, script)
}{
	{"lists the tools", listsTools},
	{"calls every tool with good and bad input", callsTools},
	{"follows next to repair a plan", repairs},
	{"hears progress", hearsProgress},
	{"cancels a run", cancels},
	{"plays a refund action by action", playsRefund},
	{"routes a ticket anew when the specialist declines", reroutes},
	{"starts a run, leaves it and comes back", comesBack},
	{"cancels a run that waits", cancelsWaiting},
	{"is told what is wrong with a continuation", isToldFaults},
	{"hears of changes of a run that it subscribed to", hearsChanges},
	{"reads resources", readsResources},
	{"gets prompts and completions", getsPrompts},
	{"asks for log lines", asksForLog},
}

func TestGoSDK(t *testing.T) {
	in := readScript(t)
	for name, open := range map[string]func(*testing.T, string) *session{"stdio": overStdio, "http": overHTTP} {
		for _, era := range []string{legacy, modern} {
			t.Run(name+" "+era, func(t *testing.T) {
				s := open(t, era)
				for _, c := range checks {
					if !t.Run(c.name, func(t *testing.T) { c.run(t, s, in) }) {
						t.FailNow()
					}
				}
				if err := s.Close(); err != nil {
					t.Errorf("Close() = %v", err)
				}
			})
		}
	}
}

func (s *session) call(t *testing.T, tool string, args any) *mcp.CallToolResult {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s(%v): %v", tool, args, err)
	}
	return result
}

func listsTools(t *testing.T, s *session, in script) {
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.schemas = map[string]*jsonschema.Resolved{}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
		s.schemas[tool.Name] = resolved(t, tool)
		if s.schemas[tool.Name].Validate(map[string]any{"status": 42}) == nil {
			t.Errorf("%s has an output schema that takes anything", tool.Name)
		}
		if tool.Description == "" || tool.Annotations == nil {
			t.Errorf("%s has no description or no annotations", tool.Name)
		}
	}
	if !slices.Equal(names, in.Tools) {
		t.Errorf("tools are %q, want %q", names, in.Tools)
	}
	if got := s.InitializeResult().Instructions; !strings.Contains(got, "You propose calls; Patterngate checks each one") {
		t.Errorf("instructions are %q", got)
	}
}

func callsTools(t *testing.T, s *session, in script) {
	for _, c := range in.Calls {
		s.expect(t, s.call(t, c.Tool, c.Args), c)
		drove(t, c.Tool)
	}
	_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_everything"})
	wantCode(t, err, jsonrpc.CodeInvalidParams)
}

func repairs(t *testing.T, s *session, in script) {
	const tool = "run_task_decomposition"
	refused := s.expect(t, s.call(t, tool, in.Misspelt), expected{Tool: tool, Status: "stopped", Reason: "invalid_plan:tool_not_allowed:fetch_sale_data"})
	next := refused.Next
	if next.Action != "fix_and_retry" || len(next.Changed) != 1 || len(next.Fill) != 0 {
		t.Fatalf("next is %+v, want fix_and_retry with one change and nothing to fill", next)
	}
	s.expect(t, s.call(t, next.Tool, next.Arguments), expected{Tool: tool, Status: "ok", Reason: "success"})
	drove(t, tool)
}

// morning runs the orchestrator, which takes its time, with progress.
func (s *session) morning(ctx context.Context, in script) (*mcp.CallToolResult, error) {
	params := &mcp.CallToolParams{Name: "run_orchestrator", Arguments: own(in.Morning)}
	params.SetProgressToken("morning")
	return s.CallTool(ctx, params)
}

func hearsProgress(t *testing.T, s *session, in script) {
	result, err := s.morning(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	s.expect(t, result, expected{Tool: "run_orchestrator", Status: "ok", Reason: "success"})
	drove(t, "run_orchestrator")
	var words []string
	late := time.After(patience)
	for last := 0.0; len(words) == 0 || !strings.HasSuffix(words[len(words)-1], ": done"); {
		select {
		case p := <-s.progress:
			if p.Progress != last+1 {
				t.Errorf("progress %v after %v, want one more", p.Progress, last)
			}
			last = p.Progress
			words = append(words, p.Message)
		case <-late:
			t.Fatalf("no last progress after %q", words)
		}
	}
	if !slices.Contains(words, "dispatch: payments_worker timed out, attempt 2") {
		t.Errorf("progress is %q, without the worker that timed out", words)
	}
}

func cancels(t *testing.T, s *session, in script) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for p := range s.progress {
			if strings.HasPrefix(p.Message, "dispatch: ") {
				cancel()
				return
			}
		}
	}()
	if _, err := s.morning(ctx, in); !errors.Is(err, context.Canceled) {
		t.Fatalf("the cancelled call returned %v, want context.Canceled", err)
	}
	s.cancelsDetached(t)
	id := s.log.line(t, ` run ended run_id=(run_[0-9a-f]{16}) .*stop_reason=cancelled`)
	if got := s.run(t, id); got.StopReason != "cancelled" {
		t.Errorf("the run's resource says %s %s, want cancelled", got.Status, got.StopReason)
	}
}

func playsRefund(t *testing.T, s *session, in script) {
	const tool = "supervised_refund"
	at := s.expect(t, s.call(t, tool, own(map[string]any{"goal": in.Refund.Goal, "actions": []any{}})), expected{Tool: tool, Status: "waiting"})
	id := at.RunID
	for i, action := range in.Refund.Actions {
		if at.WaitingFor.Kind != "caller" || at.WaitingFor.Turn != i+1 || !slices.Equal(at.Next.Fill, []string{"/actions"}) {
			t.Fatalf("before action %d: waiting for %+v, next %+v", i+1, at.WaitingFor, at.Next)
		}
		at.Next.Arguments["actions"] = []any{action}
		at, _ = s.read(t, tool, s.call(t, at.Next.Tool, at.Next.Arguments))
		drove(t, tool)
	}
	answer := in.Refund.Actions[len(in.Refund.Actions)-1]["answer"]
	if at.Status != "ok" || at.StopReason != "success" || at.RunID != id || at.Answer != answer {
		t.Fatalf("the run ended as %+v, want success of %s with the answer %q", at, id, answer)
	}
	var written []string
	for _, e := range at.Effects {
		if e.Effect == "write" {
			written = append(written, e.Tool+" "+e.Status)
		}
	}
	if want := []string{"issue_refund done", "send_refund_email done"}; !slices.Equal(written, want) {
		t.Errorf("written is %q, want %q", written, want)
	}
	if got := s.run(t, id); got.StopReason != "success" {
		t.Errorf("the run's resource says %s %s, want success", got.Status, got.StopReason)
	}
}

func reroutes(t *testing.T, s *session, in script) {
	const tool = "route_ticket"
	route := func(target string) map[string]any { return map[string]any{"target": target} }
	first := own(map[string]any{"ticket": in.Ticket, "route": route("technical_specialist")})
	next := s.expect(t, s.call(t, tool, first), expected{Tool: tool, Status: "waiting"}).Next
	next.Arguments["route"] = route("billing_specialist")
	s.expect(t, s.call(t, next.Tool, next.Arguments), expected{Tool: tool, Status: "ok", Reason: "success", Holds: `"selected_route":"billing_specialist"`})
	drove(t, tool)
}

func isToldFaults(t *testing.T, s *session, in script) {
	const tool = "supervised_refund"
	at := s.expect(t, s.call(t, tool, own(map[string]any{"goal": in.Refund.Goal, "actions": []any{}})), expected{Tool: tool, Status: "waiting"})
	send := func(action map[string]any) envelope {
		args := map[string]any{"run_id": at.RunID, "turn": 1, "actions": []any{action}}
		return s.expect(t, s.call(t, tool, args), expected{Tool: tool, Status: "waiting"})
	}
	if e := send(in.Refund.Misspelt); e.Next.Action != "fix_and_retry" || len(e.Problems) != 1 || e.Problems[0].DidYouMean != "get_refund_context" {
		t.Errorf("a misspelt action: %+v, want fix_and_retry and the name that was meant", e)
	}
	if e := send(in.Refund.Actions[0]); e.WaitingFor.Turn != 2 {
		t.Errorf("the mended action: %+v, want turn 2", e)
	}
	if e := send(in.Refund.Actions[1]); e.WaitingFor.Turn != 2 || len(e.Problems) != 1 || e.Problems[0].Reason != "not_taken" {
		t.Errorf("an action for a turn that was answered: %+v, want not_taken at turn 2", e)
	}
	other := map[string]any{"run_id": at.RunID, "goal": "Refund user_id=43", "actions": in.Refund.Actions[1:2]}
	s.expect(t, s.call(t, tool, other), expected{Tool: tool, Status: "refused", Reason: "invalid_request:mismatch:goal"})
	drove(t, tool)
}

// hearsChanges knows no 2026-07-28: that era has a stream of its own for it, which mcp-go does not feed.
func hearsChanges(t *testing.T, s *session, in script) {
	if s.era == modern {
		return
	}
	const tool = "supervised_refund"
	at := s.expect(t, s.call(t, tool, own(map[string]any{"goal": in.Refund.Goal, "actions": []any{}})), expected{Tool: tool, Status: "waiting"})
	uri := "patterngate://runs/" + at.RunID
	if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	s.call(t, tool, map[string]any{"run_id": at.RunID, "actions": in.Refund.Actions[:1]})
	drove(t, tool)
	select {
	case got := <-s.updated:
		if got != uri {
			t.Errorf("heard of %s, want %s", got, uri)
		}
	case <-time.After(patience):
		t.Error("heard of no change")
	}
	if err := s.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
		t.Error(err)
	}
}

func readsResources(t *testing.T, s *session, _ script) {
	listed, err := s.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var uris []string
	for _, r := range listed.Resources {
		uris = append(uris, r.URI)
	}
	if want := []string{"patterngate://catalog", "patterngate://stop-reasons"}; !slices.Equal(uris, want) {
		t.Errorf("resources are %q, want %q", uris, want)
	}
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var shapes []string
	for _, r := range templates.ResourceTemplates {
		shapes = append(shapes, r.URITemplate)
	}
	slices.Sort(shapes)
	if want := []string{"patterngate://plans/{plan_id}", "patterngate://runs/{run_id}", "patterngate://runs/{run_id}/trace"}; !slices.Equal(shapes, want) {
		t.Errorf("templates are %q, want %q", shapes, want)
	}
	var catalog struct {
		Tools []struct{ Name string }
	}
	s.readJSON(t, "patterngate://catalog", &catalog)
	var reasons []struct{ Name string }
	s.readJSON(t, "patterngate://stop-reasons", &reasons)
	if len(catalog.Tools) < 10 || len(reasons) < 50 {
		t.Errorf("the catalog has %d tools and the registry %d stop reasons, want more", len(catalog.Tools), len(reasons))
	}
	absent := map[string]int64{legacy: -32002, modern: jsonrpc.CodeInvalidParams}[s.era]
	for _, uri := range []string{"patterngate://nothing", "patterngate://runs/run_0000000000000000"} {
		_, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		wantCode(t, err, absent)
	}
}

func getsPrompts(t *testing.T, s *session, in script) {
	listed, err := s.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range listed.Prompts {
		given := map[string]string{}
		for _, a := range p.Arguments {
			given[a.Name] = "my own " + a.Name
		}
		got, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: given})
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		text := got.Messages[0].Content.(*mcp.TextContent).Text
		for _, want := range given {
			if !slices.Contains(in.Patterns, p.Name) || !strings.Contains(text, want) {
				t.Errorf("the prompt %s does not hold %q:\n%s", p.Name, want, text)
			}
		}
	}
	if len(listed.Prompts) != len(in.Patterns) {
		t.Errorf("%d prompts, want one a pattern", len(listed.Prompts))
	}
	_, err = s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "route_ticket"})
	wantCode(t, err, jsonrpc.CodeInvalidParams)

	region := &mcp.CompleteReference{Type: "ref/prompt", Name: "run_orchestrator"}
	if got := s.complete(t, region, "region", "U"); !slices.Equal(got, []string{"US"}) {
		t.Errorf("regions that begin with U are %q, want US", got)
	}
	runs := s.complete(t, &mcp.CompleteReference{Type: "ref/resource", URI: "patterngate://runs/{run_id}"}, "run_id", "run_")
	if len(runs) == 0 || !regexp.MustCompile(`^run_[0-9a-f]{16}$`).MatchString(runs[0]) {
		t.Errorf("run ids are %q, want the newest", runs)
	}
}

// asksForLog knows no 2026-07-28: logging/setLevel and ping went with the era before.
func asksForLog(t *testing.T, s *session, in script) {
	if s.era == modern {
		return
	}
	if err := s.Ping(t.Context(), nil); err != nil {
		t.Errorf("Ping() = %v", err)
	}
	if err := s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	s.call(t, "route_ticket", map[string]any{"ticket": in.Ticket, "route": map[string]any{"target": "billing_specialist"}})
	drove(t, "route_ticket")
	select {
	case m := <-s.logged:
		if data, _ := json.Marshal(m.Data); m.Logger != "patterngate" || m.Level != "info" || !strings.Contains(string(data), "run ended") {
			t.Errorf("heard %s %s %s, want the run's end from patterngate", m.Logger, m.Level, data)
		}
	case <-time.After(patience):
		t.Error("no log line")
	}
}

// run reads a run's resource.
func (s *session) run(t *testing.T, id string) (e envelope) {
	t.Helper()
	s.readJSON(t, "patterngate://runs/"+id, &e)
	return e
}

func (s *session) readJSON(t *testing.T, uri string, into any) {
	t.Helper()
	got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
	if err := json.Unmarshal([]byte(got.Contents[0].Text), into); err != nil {
		t.Fatalf("%s: %v", uri, err)
	}
}

func (s *session) complete(t *testing.T, ref *mcp.CompleteReference, name, begun string) []string {
	t.Helper()
	got, err := s.Complete(t.Context(), &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: name, Value: begun}})
	if err != nil {
		t.Fatalf("complete %s: %v", name, err)
	}
	return got.Completion.Values
}

// wantCode checks that the server refused a request by a JSON-RPC error.
func wantCode(t *testing.T, err error, want int64) {
	t.Helper()
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Errorf("the error is %v, want code %d", err, want)
	}
}
