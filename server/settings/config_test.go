package settings_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server"
	"patterngate/server/settings"
	"patterngate/server/settings/rules"
)

// The embedded default is the one of spec/config.md; its figures are those of the gateway.
func TestEmbeddedDefault(t *testing.T) {
	loaded, warnings, err := read(settings.Sources{})
	if err != nil || len(warnings) > 0 || loaded.Path != "" {
		t.Fatalf("Load() = path %q, warnings %v, error %v; want the embedded default", loaded.Path, warnings, err)
	}
	want := settings.Config{
		LLM:  settings.LLM{Provider: "auto", Model: "gpt-4.1-mini", Timeout: time.Minute, MaxRetries: 2},
		Demo: demo.Config{DelayFactor: 1}, DemoEnabled: "auto",
		Log:    settings.Log{Format: "text"},
		Limits: settings.Limits{Grace: 5 * time.Second, ResultBytes: 32768, ConcurrentRuns: 2000, ParkedRuns: 1000},
		HTTP:   settings.HTTP{BodyBytes: 4 << 20, SessionIdle: 2 * time.Hour},
		Wait:   settings.Wait{Caller: 30 * time.Minute, Default: 45 * time.Second, Max: 4 * time.Minute, Join: 10 * time.Minute}, Results: map[string]server.Channel{"claude-code": server.StructuredOnly},
		Policies: loaded.Policies, StateUsual: true, Inbox: "127.0.0.1:8766", Notify: settings.Notify{Mode: "auto"},
	}
	tools := [][]string{demo.DecompositionTools, demo.OrchestratorWorkers, demo.Specialists, demo.RefundTools, nil}
	kinds := []gateway.Kind{gateway.TaskDecomposition, gateway.Orchestrator, gateway.Routing, gateway.Supervisor, gateway.Planning}
	for i, name := range settings.BuiltinPatterns {
		p := settings.Pattern{
			Name: name, Kind: kinds[i], Enabled: true, Budget: gateway.DefaultBudget(kinds[i]),
			Policy: tools[i], Execution: tools[i], Tools: tools[i], Goal: "goal",
			Approver: patterns.Approver{Kind: patterns.InboxApprover, CapUSD: 800, Expires: 24 * time.Hour, Least: gateway.UserAssurance},
		}
		p.Title, p.Description, p.Input = loaded.Patterns[i].Title, loaded.Patterns[i].Description, loaded.Patterns[i].Input
		if name == "route_ticket" {
			p.Goal = "ticket"
		}
		if name == "supervised_refund" {
			p.Budget.PerTool = map[string]gateway.CallLimit{"get_refund_context": {MaxCalls: 3, MaxSameCall: 2}}
			p.Judge, p.Params = rules.Demo, refundLimits(1000, 2000, 14)
		}
		if name == "plan" {
			p.Planning, p.Tools = settings.Planning{Require: patterns.RequireNone}, demo.ReadTools
		}
		want.Patterns = append(want.Patterns, p)
	}
	if diff := sameConfig(want, loaded.Config); diff != "" {
		t.Errorf("the embedded default (-want +got):\n%s", diff)
	}
	if got := loaded.LLM.Resolved(); got != "rules" {
		t.Errorf("provider in force %q, want rules", got)
	}
}

// Scalars replace, mappings merge, lists replace whole, null resets, enabled: false removes (spec/config.md section 8).
func TestLoadConfigLaysOver(t *testing.T) {
	const file = `version: 1.0
x-limits: &short {max_seconds: 2.5, max_tool_calls: 0}
llm: {model: null, max_retries: 0, base_url: "http://127.0.0.1:9/v1"}
demo:
log: {level: debug}
limits: {grace_seconds: 1e-05}
wait: {caller_seconds: 0.5}
results: {"Visual Studio Code": text, claude-code: both, other: null}
patterns:
  run_task_decomposition:
    budget: {<<: *short, max_plan_steps: 3.0, max_tokens: 20000}
    allow: {policy: [], execution: [fetch_sales_data]}
  run_orchestrator: {kind: orchestrator, enabled: false}
  route_ticket: {budget: *short}
  supervised_refund:
    params: {auto_refund_limit_usd: 0, max_refund_per_run_usd: 999.995}
    approver: {kind: simulated}
`
	loaded, _, err := readText(t, file)
	if err != nil {
		t.Fatal(err)
	}
	got := loaded.Config
	var want settings.Config
	if err := want.Embed(nil); err != nil {
		t.Fatal(err)
	}
	want.LLM.MaxRetries, want.LLM.BaseURL, want.StateUsual = 0, "http://127.0.0.1:9/v1", true
	want.Log.Level, want.Limits.Grace = "debug", 10*time.Microsecond
	want.Wait.Caller = 500 * time.Millisecond
	want.Results = map[string]server.Channel{"Visual Studio Code": server.TextOnly, "claude-code": server.BothChannels}
	plan, tasks, route, refund := &want.Patterns[0], &want.Patterns[1], &want.Patterns[2], &want.Patterns[3]
	plan.Budget.MaxTime, plan.Budget.MaxToolCalls = 2500*time.Millisecond, 0
	plan.Budget.MaxPlanSteps, plan.Budget.MaxTokens = 3, 20000
	plan.Policy, plan.Execution = nil, []string{"fetch_sales_data"}
	tasks.Enabled = false
	route.Budget.MaxTime, route.Budget.MaxToolCalls = 2500*time.Millisecond, 0
	refund.Params = refundLimits(0, 999.995, 14)
	refund.Approver.Kind = patterns.SimulatedApprover
	for _, i := range []int{0, 1, 2, 4} {
		want.Patterns[i].Approver.Kind = patterns.InboxApprover
	}
	if diff := sameConfig(want, got); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
	if got := loaded.LLM.Resolved(); got != "openai" {
		t.Errorf("provider in force with a base URL is %q, want openai", got)
	}
}

// JSON is accepted as it is, also where YAML would not have it.
func TestLoadConfigReadsJSON(t *testing.T) {
	const file = "{\n\t\"version\"\t: 1,\n\t\"llm\" :\t{\"model\"\n:\"a\\/b\\u00e9\\ud83d\\ude00\",\"timeout_seconds\":6E+1}\t}\n\t\n"
	loaded, _, err := readText(t, file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := loaded.LLM.Model, "a/bé😀"; got != want {
		t.Errorf("model %q, want %q", got, want)
	}
	if got := loaded.LLM.Timeout; got != time.Minute {
		t.Errorf("time-out %v, want 1m0s", got)
	}
	const bad = "{\"version\": 1,\n\t\"llm\":\t{\"temprature\": 1},\n \"llm\": 2}"
	want := "pg.yaml:2:10: llm.temprature: unknown key; did you mean temperature?\npg.yaml:3:2: llm: repeated key, first at line 2"
	if _, _, err := readText(t, bad); err == nil || err.Error() != want {
		t.Errorf("Load(%q)\n got %v\nwant %s", bad, err, want)
	}
}

// Flag over environment over file over default (spec/config.md section 9).
func TestLoadConfigPrecedence(t *testing.T) {
	const file = "version: 1\nllm: {provider: rules, model: from-file, base_url: \"http://file/v1\", timeout_seconds: 7}\nlog: {level: error, format: json}\n"
	tests := map[string]struct {
		file    string
		environ []string
		flags   settings.Sources
		want    string
	}{
		"default":                       {want: "auto gpt-4.1-mini  1m0s  text"},
		"file":                          {file: file, want: "rules from-file http://file/v1 7s error json"},
		"environment":                   {file: file, environ: []string{"PATTERNGATE_LLM_PROVIDER=auto", "OPENAI_MODEL=1", "OPENAI_BASE_URL=https://env", "OPENAI_TIMEOUT_SECONDS=0.5", "PATTERNGATE_LOG_LEVEL=info", "PATTERNGATE_LOG_FORMAT=text"}, want: "auto 1 https://env 500ms info text"},
		"environment without a file":    {environ: []string{"OPENAI_MODEL=null", "PATTERNGATE_LOG_LEVEL=info"}, want: "auto null  1m0s info text"},
		"an empty variable is unset":    {file: file, environ: []string{"OPENAI_MODEL=", "PATTERNGATE_LLM_PROVIDER=", "OPENAI_TIMEOUT_SECONDS=", "PATTERNGATE_LOG_LEVEL="}, want: "rules from-file http://file/v1 7s error json"},
		"the last of two counts":        {environ: []string{"OPENAI_MODEL=a", "OPENAI_MODEL=b"}, want: "auto b  1m0s  text"},
		"flag over environment":         {file: file, environ: []string{"PATTERNGATE_LOG_LEVEL=info", "PATTERNGATE_LOG_FORMAT=json"}, flags: settings.Sources{LogLevel: "debug", LogFormat: "text"}, want: "rules from-file http://file/v1 7s debug text"},
		"flag over file":                {file: file, flags: settings.Sources{LogLevel: "debug"}, want: "rules from-file http://file/v1 7s debug json"},
		"lower-case names are not ours": {environ: []string{"openai_model=x"}, want: "auto gpt-4.1-mini  1m0s  text"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := tt.flags
			in.Environ = tt.environ
			if tt.file != "" {
				in.Path = writeConfig(t, tt.file)
			}
			loaded, _, err := read(in)
			if err != nil {
				t.Fatal(err)
			}
			c := loaded.Config
			got := fmt.Sprintf("%s %s %s %v %s %s", c.LLM.Provider, c.LLM.Model, c.LLM.BaseURL, c.LLM.Timeout, c.Log.Level, c.Log.Format)
			if got != tt.want {
				t.Errorf("Load(%+v)\n got %s\nwant %s", in, got, tt.want)
			}
		})
	}
}

// What a variable or flag holds is judged like the key it stands for, and the fault names it.
func TestLoadConfigRefusesVariables(t *testing.T) {
	tests := map[string]struct {
		in   settings.Sources
		want string
	}{
		"words for seconds":   {settings.Sources{Environ: []string{"OPENAI_TIMEOUT_SECONDS=abc"}}, `OPENAI_TIMEOUT_SECONDS: llm.timeout_seconds: got "abc"; write a number of seconds from 0 to 3600`},
		"odd number":          {settings.Sources{Environ: []string{"OPENAI_TIMEOUT_SECONDS=1_0"}}, `OPENAI_TIMEOUT_SECONDS: llm.timeout_seconds: got 1_0; write 10, or "1_0" for text`},
		"negative seconds":    {settings.Sources{Environ: []string{"OPENAI_TIMEOUT_SECONDS=-1"}}, `OPENAI_TIMEOUT_SECONDS: llm.timeout_seconds: got -1; write a number of seconds from 0 to 3600`},
		"unknown provider":    {settings.Sources{Environ: []string{"PATTERNGATE_LLM_PROVIDER=rule"}}, `PATTERNGATE_LLM_PROVIDER: llm.provider: got "rule"; write auto, openai or rules; did you mean rules?`},
		"openai without key":  {settings.Sources{Environ: []string{"PATTERNGATE_LLM_PROVIDER=openai"}}, `PATTERNGATE_LLM_PROVIDER: llm.provider: openai needs OPENAI_API_KEY or llm.base_url`},
		"password in a URL":   {settings.Sources{Environ: []string{"OPENAI_BASE_URL=https://me:secret@host"}}, `OPENAI_BASE_URL: llm.base_url: a user or password in a URL; remove it; the key comes from OPENAI_API_KEY`},
		"blank model":         {settings.Sources{Environ: []string{"OPENAI_MODEL= "}}, `OPENAI_MODEL: llm.model: blank; write a model's name: gpt-4.1-mini`},
		"key with a line end": {settings.Sources{Environ: []string{"OPENAI_API_KEY=sk-secret\n"}}, `OPENAI_API_KEY: contains white space or characters beyond ASCII; write the key exactly as the provider shows it`},
		"log level flag":      {settings.Sources{LogLevel: "loud"}, `--log-level: log.level: got "loud"; write debug, info, warn or error`},
		"log format flag":     {settings.Sources{LogFormat: "jsn"}, `--log-format: log.format: got "jsn"; write text or json; did you mean json?`},
		"relative XDG path":   {settings.Sources{Environ: []string{"XDG_CONFIG_HOME=conf", "HOME=/home/ann"}}, `XDG_CONFIG_HOME: got "conf"; write an absolute path`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, _, err := read(tt.in); err == nil || err.Error() != tt.want {
				t.Errorf("Load(%+v)\n got %v\nwant %s", tt.in, err, tt.want)
			}
		})
	}
}

// What is shown loads to the same, and holds no secret.
func TestConfigShows(t *testing.T) {
	const key = "sk-very-secret"
	loaded, _, err := readText(t, `version: 1
llm: {provider: openai, model: "yes"}
patterns: {run_orchestrator: {enabled: false, budget: {max_tool_calls: 9}}, route_ticket: {allow: {policy: ["1", "null"], execution: []}}}
`, "OPENAI_API_KEY="+key)
	if err != nil {
		t.Fatal(err)
	}
	shown := string(loaded.YAML())
	for _, line := range []string{"  provider: openai  # in force: openai; api_key: *** from OPENAI_API_KEY\n", "  model: yes\n", "      policy: [\"1\", \"null\"]\n", "      execution: []\n", "      max_llm_calls: null\n"} {
		if !strings.Contains(shown, line) {
			t.Errorf("YAML() lacks %q:\n%s", line, shown)
		}
	}
	again, _, err := readText(t, shown, "OPENAI_API_KEY="+key)
	if err != nil {
		t.Fatalf("what YAML() shows does not load: %v", err)
	}
	if diff := sameConfig(loaded.Config, again.Config); diff != "" {
		t.Errorf("what YAML() shows loads to something else (-want +got):\n%s", diff)
	}
	if !ijson.Equal(loaded.Value(), again.Value()) {
		t.Errorf("a snapshot keeps another value of the same configuration: %v and %v", loaded.Value(), again.Value())
	}
	text := loaded.JSON()
	if !json.Valid(text) || !bytes.Contains(text, []byte(`"secret": "env:OPENAI_API_KEY"`)) {
		t.Errorf("JSON() is not JSON, or has no reference to the key:\n%s", text)
	}
	printed := ""
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%q", "%x"} {
		printed += fmt.Sprintf(verb, loaded) + fmt.Sprintf(verb, loaded.LLM.APIKey)
	}
	for what, text := range map[string]string{"YAML": shown, "JSON": string(text), "fmt": printed} {
		if strings.Contains(text, key) {
			t.Errorf("%s holds the key:\n%s", what, text)
		}
	}
	if got := loaded.LLM.OpenAI().APIKey; got != key {
		t.Errorf("the adapter gets the key %q, want %q", got, key)
	}
}
