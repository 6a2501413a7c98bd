package settings_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// What a file is as a whole (spec/config.md sections 2, 3, 9 and 11).
func TestLoadConfigRefusesKeys(t *testing.T) {
	testFaults(t, map[string]faultCase{
		"no version": {
			"llm: {model: x}\n",
			"pg.yaml:1:1: version: missing; write version: 1",
		},
		"null version": {
			"version: null\n",
			"pg.yaml:1:1: version: missing; write version: 1",
		},
		"version 2": {
			"version: 2\n",
			"pg.yaml:1:10: version: got 2; this program reads 1",
		},
		"version as text": {
			"version: \"1\"\n",
			`pg.yaml:1:10: version: got "1"; this program reads 1`,
		},
		"unknown key at the top": {
			"version: 1\nlimit: {grace_seconds: 5}\n",
			"pg.yaml:2:1: limit: unknown key; did you mean limits?",
		},
		"unknown key with nothing near": {
			"version: 1\nzebra: 1\n",
			"pg.yaml:2:1: zebra: unknown key; write version, llm, demo, log, limits, http, wait, results, state, inbox, notify, redact, policies, catalog, offer or patterns",
		},
		"key of a later version": {
			"version: 1\ninputs: {}\n",
			"pg.yaml:2:1: inputs: unknown key; write version, llm, demo, log, limits, http, wait, results, state, inbox, notify, redact, policies, catalog, offer or patterns",
		},
		"odd key": {
			"version: 1\n\"a.b\\nc\": 1\n",
			"pg.yaml:2:1: \"a.b\\nc\": unknown key; write version, llm, demo, log, limits, http, wait, results, state, inbox, notify, redact, policies, catalog, offer or patterns",
		},
		"offer, one name": {
			"version: 1\noffer: run_wait\n",
			`pg.yaml:2:8: offer: got "run_wait"; write a list: [run_wait]`,
		},
		"offer, empty": {
			"version: 1\noffer: []\n",
			"pg.yaml:2:8: offer: no tool is offered; write the names of the tools that clients see, or remove offer to offer all",
		},
		"offer, misspelt and twice": {
			"version: 1\noffer: [run_orchestratr, run_wait, run_wait]\n",
			"pg.yaml:2:9: offer[0]: no tool run_orchestratr; did you mean run_orchestrator?\n" +
				"pg.yaml:2:36: offer[2]: run_wait is listed twice; remove one",
		},
		"offer, nothing near": {
			"version: 1\noffer: [look]\npatterns: {run_orchestrator: {enabled: false}, plan: {enabled: false}, route_ticket: {enabled: false}}\n",
			"pg.yaml:2:9: offer[0]: no tool look; write one of run_status, run_wait, run_cancel, list_runs, describe_catalog, run_task_decomposition, supervised_refund",
		},
		"offer, a catalog tool": {
			"version: 1\noffer: [issue_refund, run_wait, run_status]\npatterns: {run_orchestrator: {enabled: false}, plan: {enabled: false}, route_ticket: {enabled: false}}\n",
			"pg.yaml:2:9: offer[0]: no tool issue_refund; write one of run_status, run_wait, run_cancel, list_runs, describe_catalog, run_task_decomposition, supervised_refund",
		},
		"offer, disabled": {
			"version: 1\noffer: [route_ticket, run_wait, run_status]\npatterns: {route_ticket: {enabled: false}}\n",
			"pg.yaml:2:9: offer[0]: the pattern route_ticket is disabled; remove the tool here, or set patterns.route_ticket.enabled to true",
		},
		"offer, no way to read a run": {
			"version: 1\noffer: [list_runs, route_ticket, run_status]\n",
			"pg.yaml:2:20: offer[1]: results of route_ticket tell clients to call run_wait; add it",
		},
		"offer, a wait without a status": {
			"version: 1\noffer: [run_wait]\n",
			"pg.yaml:2:9: offer[0]: results of run_wait tell clients to call run_status; add it",
		},
		"offer, some of planning": {
			"version: 1\noffer: [plan_execute, run_wait, plan_status, run_status]\n",
			"pg.yaml:2:9: offer[0]: results of plan_execute tell clients to call plan_decompose, plan_replan and describe_catalog; add all of them",
		},
		"text for a mapping": {
			"version: 1\nllm: openai\n",
			`pg.yaml:2:6: llm: got "openai"; write a mapping with provider, model, base_url, timeout_seconds, max_retries, temperature, role, response_format, repair_turns, models or api_key`,
		},
		"seconds as text": {
			"version: 1\nllm: {timeout_seconds: \"60s\"}\n",
			`pg.yaml:2:24: llm.timeout_seconds: got "60s"; write a number of seconds: 60`,
		},
		"seconds with a unit": {
			"version: 1\nllm: {timeout_seconds: 2m}\n",
			`pg.yaml:2:24: llm.timeout_seconds: got "2m"; write a number of seconds: 120`,
		},
		"seconds as words": {
			"version: 1\nllm: {timeout_seconds: soon}\n",
			`pg.yaml:2:24: llm.timeout_seconds: got "soon"; write a number of seconds from 0 to 3600`,
		},
		"negative seconds": {
			"version: 1\nllm: {timeout_seconds: -1}\n",
			"pg.yaml:2:24: llm.timeout_seconds: got -1; write a number of seconds from 0 to 3600",
		},
		"too many seconds": {
			"version: 1\nllm: {timeout_seconds: 3601}\n",
			"pg.yaml:2:24: llm.timeout_seconds: got 3601; write a number of seconds from 0 to 3600",
		},
		"fraction for a count": {
			"version: 1\nllm: {max_retries: 1.5}\n",
			"pg.yaml:2:20: llm.max_retries: got 1.5; write a whole number from 0 to 10",
		},
		"too many retries": {
			"version: 1\nllm: {max_retries: 11}\n",
			"pg.yaml:2:20: llm.max_retries: got 11; write a whole number from 0 to 10",
		},
		"list for a number": {
			"version: 1\nllm: {max_retries: [1]}\n",
			"pg.yaml:2:20: llm.max_retries: got a list; write a whole number from 0 to 10",
		},
		"boolean for a number": {
			"version: 1\nllm: {max_retries: true}\n",
			"pg.yaml:2:20: llm.max_retries: got true; write a whole number from 0 to 10",
		},
		"unknown provider": {
			"version: 1\nllm: {provider: opnai}\n",
			`pg.yaml:2:17: llm.provider: got "opnai"; write auto, openai or rules; did you mean openai?`,
		},
		"number as provider": {
			"version: 1\nllm: {provider: 1}\n",
			"pg.yaml:2:17: llm.provider: got 1; write auto, openai or rules",
		},
		"openai without a key": {
			"version: 1\nllm: {provider: openai}\n",
			"pg.yaml:2:17: llm.provider: openai needs OPENAI_API_KEY or llm.base_url",
		},
		"blank model": {
			"version: 1\nllm: {model: \" \"}\n",
			"pg.yaml:2:14: llm.model: blank; write a model's name: gpt-4.1-mini",
		},
		"number as model": {
			"version: 1\nllm: {model: 4.1}\n",
			"pg.yaml:2:14: llm.model: got 4.1; write text in quotes",
		},
		"relative URL": {
			"version: 1\nllm: {base_url: localhost/v1}\n",
			"pg.yaml:2:17: llm.base_url: not an absolute http or https URL; write an absolute URL: https://host/v1",
		},
		"URL of another scheme": {
			"version: 1\nllm: {base_url: \"ftp://host/v1\"}\n",
			"pg.yaml:2:17: llm.base_url: not an absolute http or https URL; write an absolute URL: https://host/v1",
		},
		"password in the URL": {
			"version: 1\nllm: {base_url: \"https://me:secret@host/v1\"}\n",
			"pg.yaml:2:17: llm.base_url: a user or password in a URL; remove it; the key comes from OPENAI_API_KEY",
		},
		"query in the URL": {
			"version: 1\nllm: {base_url: \"https://host/v1?key=secret\"}\n",
			"pg.yaml:2:17: llm.base_url: a query or fragment in the base URL; write an absolute URL: https://host/v1",
		},
		"key in the file": {
			"version: 1\nllm: {api_key: sk-secret}\n",
			"pg.yaml:2:16: llm.api_key: a secret in plain text; write {secret: \"env:OPENAI_API_KEY\"}",
		},
		"delay factor": {
			"version: 1\ndemo: {delay_factor: 101}\n",
			"pg.yaml:2:22: demo.delay_factor: got 101; write a number from 0 to 100",
		},
		"log level": {
			"version: 1\nlog: {level: warning}\n",
			`pg.yaml:2:14: log.level: got "warning"; write debug, info, warn or error`,
		},
		"log format": {
			"version: 1\nlog: {format: yaml}\n",
			`pg.yaml:2:15: log.format: got "yaml"; write text or json`,
		},
		"channels and waits": {
			"version: 1\nresults: {cursor: txt, \" \": both}\nwait: {caller_seconds: -1}\n",
			"pg.yaml:2:19: results.cursor: got \"txt\"; write text, structured or both; did you mean text?\n" +
				"pg.yaml:2:24: results.\" \": not a client's name; write 1 to 256 bytes, as in clientInfo.name\n" +
				"pg.yaml:3:24: wait.caller_seconds: got -1; write a number of seconds from 0 to 86400",
		},
		"grace": {
			"version: 1\nlimits: {grace_seconds: 61}\n",
			"pg.yaml:2:25: limits.grace_seconds: got 61; write a number of seconds from 0 to 60",
		},
		"small results": {
			"version: 1\nlimits: {result_bytes: 4095}\n",
			"pg.yaml:2:24: limits.result_bytes: got 4095; write a whole number from 4096 to 1048576",
		},
	})
}

// The lines of spec/config.md section 11, at their places.
func TestLoadConfigNamesEveryFaultByPlace(t *testing.T) {
	const file = `version: 1
llm: {timeout_seconds: "60s", provider: opnai}
patterns:
  route_ticket: {budget: {max_delegatoins: 3}}
  run_orchestrator:
    budget: {max_parallel: 0}
    budget: {max_parallel: 3}
log: {level: loud}
`
	want := `pg.yaml:2:24: llm.timeout_seconds: got "60s"; write a number of seconds: 60
pg.yaml:2:41: llm.provider: got "opnai"; write auto, openai or rules; did you mean openai?
pg.yaml:4:27: patterns.route_ticket.budget.max_delegatoins: unknown key; did you mean max_delegations?
pg.yaml:6:28: patterns.run_orchestrator.budget.max_parallel: got 0; write a whole number from 1 to 256
pg.yaml:7:5: patterns.run_orchestrator.budget: repeated key, first at line 6
pg.yaml:8:14: log.level: got "loud"; write debug, info, warn or error
PATTERNGATE_LOG_FORMAT: log.format: got "xml"; write text or json`
	_, _, err := readText(t, file, "PATTERNGATE_LOG_FORMAT=xml")
	if err == nil || err.Error() != want {
		t.Errorf("Load gives\n%v\nwant\n%s", err, want)
	}
}

func TestConfigErrorStopsAtFifty(t *testing.T) {
	var file strings.Builder
	file.WriteString("version: 1\n")
	for range 62 {
		file.WriteString("? x\n: y\n")
	}
	_, _, err := readText(t, file.String())
	faults, ok := errors.AsType[*yamldoc.Error](err)
	if !ok {
		t.Fatalf("Load gives %v, want a *ConfigError", err)
	}
	if len(faults.Faults) != 50 || faults.More != 12 {
		t.Errorf("%d faults and %d more, want 50 and 12", len(faults.Faults), faults.More)
	}
	if got := err.Error(); strings.Count(got, "\n") != 50 || !strings.HasSuffix(got, "\nand 12 more") {
		t.Errorf("the text ends with %q, want 50 lines and \"and 12 more\"", got[strings.LastIndex(got, "\n"):])
	}
}

// A fault as JSON has every part on its own.
func TestFaultJSON(t *testing.T) {
	_, _, err := readText(t, "version: 1\nllm: {provider: opnai}\n")
	faults, ok := errors.AsType[*yamldoc.Error](err)
	if !ok {
		t.Fatalf("Load gives %v, want a *ConfigError", err)
	}
	got, err := json.Marshal(faults.Faults)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"file":"pg.yaml","line":2,"column":17,"path":"llm.provider","severity":"fault","reason":"unknown word",` +
		`"got":"\"opnai\"","want":"write auto, openai or rules","did_you_mean":"openai"}]`
	if string(got) != want {
		t.Errorf("faults as JSON\n got %s\nwant %s", got, want)
	}
}

func TestLoadConfigWarnings(t *testing.T) {
	const file = `version: 1
patterns:
  run_task_decomposition: {allow: {policy: [fetch_sale_data, telepathy]}}
  run_orchestrator: {allow: {execution: [sales_wroker]}}
  route_ticket: {allow: {policy: [legal_specialist]}}
`
	want := []string{
		`warning: pg.yaml:3:45: patterns.run_task_decomposition.allow.policy[0]: no tool fetch_sale_data; did you mean fetch_sales_data?`,
		`warning: pg.yaml:3:62: patterns.run_task_decomposition.allow.policy[1]: no tool telepathy; there are get_manager_profile, fetch_sales_data, fetch_refund_data, calculate_monthly_kpis, detect_risk_signals`,
		`warning: pg.yaml:4:42: patterns.run_orchestrator.allow.execution[0]: no worker sales_wroker; did you mean sales_worker?`,
		`warning: pg.yaml:5:35: patterns.route_ticket.allow.policy[0]: no route legal_specialist; there are billing_specialist, technical_specialist, sales_specialist`,
		`warning: PATTERNGATE_LOGLEVEL: unknown variable; did you mean PATTERNGATE_LOG_LEVEL?`,
		`warning: PATTERNGATE_PLAN: unknown variable; it has no effect`,
	}
	loaded, warnings, err := readText(t, file, "PATTERNGATE_LOGLEVEL=debug", "PATTERNGATE_PLAN=off", "PATTERNGATE_EMPTY=")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if p, _ := loaded.Pattern("run_task_decomposition"); !slices.Equal(p.Policy, []string{"fetch_sale_data", "telepathy"}) {
		t.Errorf("a name that nobody knows is kept for the call: got %v", p.Policy)
	}
}

func TestLoadConfigTakesKnownNamesFromTheCatalog(t *testing.T) {
	path := writeConfig(t, "version: 1\npatterns: {route_ticket: {allow: {policy: [legal_specialist, billing_specialist]}}}\n")
	_, warnings, err := read(settings.Sources{Path: path, Known: map[string][]string{"route_ticket": {"legal_specialist"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || warnings[0].Reason != "no route billing_specialist" {
		t.Errorf("warnings %v, want one: no route billing_specialist", warnings)
	}
}
