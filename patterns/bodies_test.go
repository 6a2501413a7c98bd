package patterns

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every member that a body may have is read, and nothing else is in the way.
func TestDecodeBody(t *testing.T) {
	tests := map[string]struct {
		kind EventKind
		body string
		want any
	}{
		"start": {StartEvent, `{"arguments":{"a":1e+400},"budget":{"max_steps":8},"catalog":"c","client":{"era":"2025-11-25","name":"x","version":"1"},"code":1,"config":"f","idempotency_key":"k","newer":[1],"parent":{"key":"p#1","run_id":"run_1","share":{"max_seconds":1},"within":["a"]},"pattern":"p","pattern_kind":"routing","policy":"o","principal":"local:1","run_id":"run_2","version":"v"}`, &StartBody{
			RunID: "run_2", Pattern: "p", PatternKind: "routing", Version: "v", Arguments: json.RawMessage(`{"a":1e+400}`), Principal: "local:1",
			Client: ClientBody{"x", "1", "2025-11-25"}, Config: "f", Policy: "o", Catalog: "c", Budget: json.RawMessage(`{"max_steps":8}`),
			IdempotencyKey: "k", Parent: &ParentBody{"run_1", "p#1", []string{"a"}, json.RawMessage(`{"max_seconds":1}`)}, Code: 1,
		}},
		"intent of a call": {IntentEvent, `{"effect":"write","effect_kind":"tool","grant":"ap_1","idempotency_key":"k","input":{},"name":"pay","verdict":{"decision":"approve","passes":2,"policy":"h","reason":"r","revisions":["x"],"rule":"u"}}`, &IntentBody{
			EffectKind: ToolEffect, Name: "pay", Input: json.RawMessage(`{}`), Effect: "write", IdempotencyKey: "k", Grant: "ap_1",
			Verdict: &VerdictBody{Decision: "approve", Rule: "u", Reason: "r", Revisions: []string{"x"}, Passes: 2, Policy: "h"},
		}},
		"intent of a person": {IntentEvent, `{"digest":"d","effect_kind":"human","input":null,"name":"approve","object":{},"reason":"r","rule":"u"}`, &IntentBody{
			EffectKind: HumanEffect, Name: "approve", Input: json.RawMessage(`null`), Object: json.RawMessage(`{}`), Digest: "d", Rule: "u", Reason: "r",
		}},
		"outcome of a call that began a run": {OutcomeEvent, `{"calls":3,"child_run_id":"run_2","output":{"status":"ok"},"state":"ok"}`, &OutcomeBody{
			State: OK, Output: json.RawMessage(`{"status":"ok"}`), ChildRunID: "run_2", Calls: 3,
		}},
		"outcome": {OutcomeEvent, `{"assurance":"user","by":"local:1","channel":"cli","decision":"approve","output":[1],"reason":"r","signature":"s","state":"ok","usage":{"input_tokens":2,"llm_calls":1,"output_tokens":3}}`, &OutcomeBody{
			State: OK, Output: json.RawMessage(`[1]`), Reason: "r", Usage: SpentBody{Usage: Usage{Requests: 1, InputTokens: 2, OutputTokens: 3}}, Decision: json.RawMessage(`"approve"`), Signature: "s",
			Channel: "cli", By: "local:1", Assurance: "user",
		}},
		"late": {LateEvent, `{"reason":"error"}`, &OutcomeBody{Reason: "error"}},
		"judged": {JudgedEvent, `{"decision":"block","need":["a"],"phase":"p","problems":[],"proposal":{},"reason":"r","rule":"u","values":{}}`, &JudgedBody{Phase: "p", Proposal: json.RawMessage(`{}`), Decision: "block", Rule: "u", Reason: "r",
			Values: json.RawMessage(`{}`), Need: []string{"a"}, Problems: json.RawMessage(`[]`),
		}},
		"note": {NoteEvent, `{"by":"local:1","channel":"cli","signature":"s","what":"seize"}`, &NoteBody{What: "seize", By: "local:1", Channel: "cli", Signature: "s"}},
		"end": {EndEvent, `{"envelope":{"status":"ok"},"phase":"p","status":"ok","stop_reason":"success","usage":{"input_tokens":2,"llm_calls":1,"model":"rules","output_tokens":3}}`, &EndBody{
			"ok", "success", "p", json.RawMessage(`{"status":"ok"}`), UsageBody{"rules", Usage{Requests: 1, InputTokens: 2, OutputTokens: 3}},
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeBody(Event{Seq: 3, Kind: test.kind, Body: json.RawMessage(test.body)})
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("DecodeBody(%s), %v (-want +got):\n%s", test.body, err, diff)
			}
		})
	}
}

func TestDecodeBodyRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		kind       EventKind
		body, want string
	}{
		"a kind of a newer version": {"vote", `{}`, `event 3: the kind "vote" is not known here`},
		"another type":              {EndEvent, `{"status":7}`, "event 3: body of end: want string, got number at /status"},
		"no object":                 {IntentEvent, `[]`, "event 3: body of intent: want object, got array"},
		"no JSON":                   {NoteEvent, `{`, "event 3: body of note: "},
		"nothing":                   {StartEvent, ``, "event 3: body of start: "},
	} {
		if got, err := DecodeBody(Event{Seq: 3, Kind: test.kind, Body: json.RawMessage(test.body)}); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: DecodeBody = %v, %v, want %s...", name, got, err, test.want)
		}
	}
}
