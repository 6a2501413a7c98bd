package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
	"patterngate/patterns/local"
	"patterngate/patterns/record"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/recordtext"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings"
)

// modelScene is a file with models by role, each on a server of its own.
type modelScene struct {
	top, small, big *llmtest.Server
	declared        *assembly.Declaration
	engine          *local.Engine
}

const planReply = `{"kind":"plan","steps":[{"id":"s1","title":"read it","tool":"read_order","args":{"order_id":"A-1001"}}]}`

// newModelScene serves the file; more is what stands in the pattern besides.
func newModelScene(t *testing.T, more string, top, small, big []llmtest.Reply) *modelScene {
	t.Helper()
	s := &modelScene{llmtest.NewServer(top...), llmtest.NewServer(small...), llmtest.NewServer(big...), nil, nil}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"note":"sent on Monday","order_id":"A-1001","state":"sent"}`))
	}))
	for _, closes := range []func(){s.top.Close, s.small.Close, s.big.Close, web.Close} {
		t.Cleanup(closes)
	}
	file := fmt.Sprintf(`version: 1
llm:
  provider: openai
  base_url: %q
  api_key: {secret: "env:TOP_KEY"}
  model: top-model
  max_retries: 0
  models:
    plan: {model: small-model, base_url: %q, price: {input_usd: 1, output_usd: 2}, fallback: spare}
    final: {price: {input_usd: 10, output_usd: 20}}
    spare: {model: big-model, base_url: %q, api_key: {secret: "env:BIG_KEY"}, price: {input_usd: 5, output_usd: 5}}
catalog:
  allow_networks: ["127.0.0.1/32"]
  http:
    read_order:
      {description: Reads one order., effect: read, input: {order_id: {type: string}}, request: {method: GET, url: "%s/orders/{order_id}"}}
patterns:
  report: {kind: task_decomposition, title: Report, description: Reports., tools: [read_order]%s}
`, s.top.URL, s.small.URL, s.big.URL, web.URL, more)
	dir := t.TempDir()
	path := filepath.Join(dir, "pg.yaml")
	environ := []string{"XDG_STATE_HOME=" + dir, "TOP_KEY=key-of-top", "BIG_KEY=key-of-big"}
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := assembly.Load(settings.Sources{Path: path, Environ: environ}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.declared, err = assembly.Declare(loaded, environ); err != nil {
		t.Fatal(err)
	}
	if s.engine, err = local.Open(local.Options{Path: filepath.Join(dir, "state.db"), Source: noConfigurations{}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.engine.Close)
	return s
}

func (s *modelScene) run(t *testing.T) patterns.Ended {
	t.Helper()
	job, err := s.declared.Job(patterns.Begun{Pattern: "report", Caller: patterns.Caller{Principal: "local:1"}, Arguments: map[string]any{"goal": "Report"}})
	if err != nil {
		t.Fatal(err)
	}
	job.Principal, job.Wait = "local:1", time.Minute
	job.Task = patterns.Task{Goal: "Report on A-1001", Finalize: true}
	ended, err := s.engine.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

func bearer(r llmtest.Request) string { return r.Header.Get("Authorization") }

// TestModelsByRole checks which model gets which question, with which key, and what each costs: the server of a role without a key of its own gets
// a placeholder, never the key that stands beside another's.
func TestModelsByRole(t *testing.T) {
	t.Parallel()
	s := newModelScene(t, "", []llmtest.Reply{llmtest.Content("It was sent.")}, []llmtest.Reply{llmtest.Content(planReply)}, nil)
	ended := s.run(t)
	if ended.Result.StopReason != patterns.Success || ended.Result.Answer != "It was sent." {
		t.Fatalf("ended in %s with %q", ended.Result.StopReason, ended.Result.Answer)
	}
	if r := s.small.Requests()[0]; r.Model() != "small-model" || bearer(r) != "Bearer none" {
		t.Errorf("decisions are asked of %s with %q", r.Model(), bearer(r))
	}
	if r := s.top.Requests()[0]; r.Model() != "top-model" || bearer(r) != "Bearer key-of-top" {
		t.Errorf("texts are asked of %s with %q", r.Model(), bearer(r))
	}
	want := []patterns.ModelUsage{
		{Model: "small-model", Usage: patterns.Usage{Requests: 1, InputTokens: 21, OutputTokens: 9, CostUSD: 0.000039}},
		{Model: "top-model", Usage: patterns.Usage{Requests: 1, InputTokens: 21, OutputTokens: 9, CostUSD: 0.00039}},
	}
	if diff := cmp.Diff(want, ended.Result.Models); diff != "" {
		t.Errorf("models:\n%s", diff)
	}
	if got := ended.Result.Usage.CostUSD; got != 0.000429 {
		t.Errorf("it cost %v", got)
	}
}

// TestFallbackIsRecorded holds that the record says which model answered, and that statistics charge each its own.
func TestFallbackIsRecorded(t *testing.T) {
	t.Parallel()
	s := newModelScene(t, "", []llmtest.Reply{llmtest.Content("It was sent.")}, []llmtest.Reply{llmtest.Status(503)}, []llmtest.Reply{llmtest.Content(planReply)})
	ended := s.run(t)
	if ended.Result.StopReason != patterns.Success || patterns.Answerers(ended.Result.Models) != "small-model, big-model, top-model" {
		t.Fatalf("ended in %s, by %v", ended.Result.StopReason, ended.Result.Models)
	}
	if r := s.big.Requests()[0]; r.Model() != "big-model" || bearer(r) != "Bearer key-of-big" {
		t.Errorf("the spare is asked for %s with %q", r.Model(), bearer(r))
	}
	events, _, err := s.engine.Operator().Record(ended.RunID)
	if err != nil {
		t.Fatal(err)
	}
	if text := recordtext.Timeline(record.Read(events), 160); !strings.Contains(text, "asked the model for the plan: answered (asked small-model, then big-model)") {
		t.Errorf("the timeline does not say who answered:\n%s", text)
	}
	var out bytes.Buffer
	stats := func(args ...string) error {
		out.Reset()
		a := &app{Invocation: &invocation.Invocation{Console: console.Console{Out: &out, Err: &out}}, opens: func() (statefile.Runs, func(), error) {
			return statefile.RunsOf(s.engine, ""), func() {}, nil
		}}
		root := a.root()
		root.SetArgs(append([]string{"runs", "stats"}, args...))
		return root.ExecuteContext(t.Context())
	}
	for by, want := range map[string]string{
		"model": `MODEL          RUNS   CALLS    TOKENS IN   TOKENS OUT      COST USD
top-model         1       1           21            9      0.000390
big-model         1       1           21            9      0.000150
small-model       1       1            0            0             -
all               1       3           42           18      0.000540
`,
		"pattern": `PATTERN    RUNS   CALLS    TOKENS IN   TOKENS OUT      COST USD
report        1       3           42           18      0.000540
all           1       3           42           18      0.000540
`,
	} {
		if err := stats("--by", by); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("by %s:\n%s", by, diff)
		}
	}
	if err := stats("--by", "run", "--json"); err != nil || !strings.Contains(out.String(), `"run_id": "`+ended.RunID) {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := stats("--by", "day", "--since", time.Now().Add(time.Hour).Format(time.RFC3339)); err != nil || strings.Contains(out.String(), "report") || !strings.Contains(out.String(), "all       0 ") {
		t.Errorf("of nothing: %v\n%s", err, out.String())
	}
}

// TestQuestionsAreCutBeforeTheyCost holds that a question that is estimated beyond its budget is never sent, and what is said then.
func TestQuestionsAreCutBeforeTheyCost(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ budget, reason, phase, words string }{
		"tokens":              {"max_tokens: 1000", "max_tokens", patterns.PhasePlan, "The question was estimated at 1,5"},
		"tokens that are few": {"max_tokens: 1580", "max_tokens", patterns.PhaseFinalize, "; 1,550 are left."},
		"money":               {"max_cost_usd: 0.002", "max_cost_usd", patterns.PhasePlan, "USD; 0.002000 are left."},
		"money for the text":  {"max_cost_usd: 0.01", "max_cost_usd", patterns.PhaseFinalize, "USD; 0.009961 are left."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newModelScene(t, ", budget: {"+row.budget+"}", []llmtest.Reply{llmtest.Content("never")}, []llmtest.Reply{llmtest.Content(planReply)}, nil)
			r := s.run(t).Result
			if r.StopReason != row.reason || r.Phase != row.phase || !strings.Contains(r.Estimated, row.words) {
				t.Errorf("ended in %s in %s: %q", r.StopReason, r.Phase, r.Estimated)
			}
			if asked := len(s.top.Requests()); asked > 0 {
				t.Errorf("the text was asked for %d times", asked)
			}
			if asked := len(s.small.Requests()); asked != r.Usage.Requests || (asked == 0) != (row.phase == patterns.PhasePlan) {
				t.Errorf("the plan was asked for %d times", asked)
			}
		})
	}
}

// TestModelsThatMisbehave holds what a run ends in whose model does anything but what it is asked.
func TestModelsThatMisbehave(t *testing.T) {
	t.Parallel()
	tools := `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"delete_all","arguments":"{}"}}]}}]}`
	for name, row := range map[string]struct {
		reply  llmtest.Reply
		reason string
	}{
		"ignores the schema":         {llmtest.Content(`{"answer":"fine"}`), "invalid_plan:bad_kind"},
		"writes prose":               {llmtest.Content("Sure, I will."), "invalid_plan:non_json"},
		"calls tools of its own":     {llmtest.Raw(200, "application/json", tools), "llm_empty"},
		"says null":                  {llmtest.NullContent(), "llm_empty"},
		"says nothing":               {llmtest.Content(" \n"), "llm_empty"},
		"refuses":                    {llmtest.Refusal("I will not."), "llm_error:refused"},
		"gives no choice":            {llmtest.NoChoices(), "llm_error:no_choices"},
		"never comes to an end":      {llmtest.Huge(9 << 20), "llm_error:server"},
		"sends a page":               {llmtest.Raw(200, "text/html", "<html>"), "llm_error:server"},
		"nests without end":          {llmtest.Content(strings.Repeat("[", 100)), "invalid_plan:non_json"},
		"names a member twice":       {llmtest.Content(`{"kind":"plan","kind":"plan","steps":[]}`), "invalid_plan:non_json"},
		"sends more than a decision": {llmtest.Content(strings.Repeat(" ", 2<<20) + planReply), "invalid_plan:non_json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newModelScene(t, "", nil, []llmtest.Reply{row.reply, row.reply}, nil)
			r := s.run(t).Result
			if r.StopReason != row.reason || r.Phase != patterns.PhasePlan || len(r.Ledger) > 0 {
				t.Errorf("ended in %s in %s after %d calls, want %s", r.StopReason, r.Phase, len(r.Ledger), row.reason)
			}
		})
	}
}
