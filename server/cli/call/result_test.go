package call

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog/upstream"
	"patterngate/gateway/stopreason"
	"patterngate/server/cli/console"
)

// The exit code of every stop is the registry's; of one that it does not have, no success.
func TestCallExitCodes(t *testing.T) {
	done := []string{"success", "success_partial", "iteration_pending", "plan_complete"}
	for _, row := range stopreason.All() {
		if row.Task || row.Name == "success" {
			continue
		}
		e := envelope{Status: "stopped", StopReason: strings.NewReplacer("I_", "1_", ":T.A", ":t.a", ":T", ":t", ":W", ":w", ":N:A", ":n:a", ":N", ":n", ":R", ":r").Replace(row.Name)}
		if got := e.exit(); got != int(row.Exit) || (got == console.ExitDone) != slices.Contains(done, row.Name) {
			t.Errorf("%s exits with %d, want %d", e.StopReason, got, row.Exit)
		}
	}
	for e, want := range map[envelopeKey]int{
		{"ok", "success"}: 0, {"running", ""}: 7, {"waiting", ""}: 7, {"stopped", "of_tomorrow"}: 1, {"stopped", ""}: 1, {"stopped", "task_timeout"}: 1,
	} {
		if got := (envelope{Status: e.status, StopReason: e.reason}).exit(); got != want {
			t.Errorf("%v exits with %d, want %d", e, got, want)
		}
	}
}

// Exit code 6 tells a script that a run went its way and no call returned a result.
func TestCallExitsWithoutResults(t *testing.T) {
	for text, want := range map[string]int{
		`"status":"ok","stop_reason":"success","answered":"no"`:                   6,
		`"status":"ok","stop_reason":"success","answered":"partly"`:               0,
		`"status":"ok","stop_reason":"success"`:                                   0,
		`"status":"stopped","stop_reason":"critical_task_failed","answered":"no"`: 6,
		`"status":"stopped","stop_reason":"max_tool_calls","answered":"no"`:       4,
		`"status":"waiting","answered":"no"`:                                      7,
		`"status":"ok","answered":"no","dry_run":true,"verdict":"block"`:          3,
	} {
		e, ours := readEnvelope(json.RawMessage(`{` + text + `,"summary":"s","next":{"action":"answer_user"}}`))
		if got := e.exit(); !ours || got != want {
			t.Errorf("{%s} exits with %d, want %d", text, got, want)
		}
	}
}

type envelopeKey struct{ status, reason string }

// What is not a Patterngate's result is not taken for one.
func TestReadEnvelope(t *testing.T) {
	const next = `"summary":"s","next":{"action":"done"}`
	for text, want := range map[string]bool{
		`{"status":"ok",` + next + `}`:                                      true,
		`{"status":"stopped","x":12345678901234567890,` + next + `}`:        true,
		`{"Status":"ok",` + next + `}`:                                      false,
		`{"status":"fine",` + next + `}`:                                    false,
		`{"status":["ok"],` + next + `}`:                                    false,
		`{"status":"ok"}`:                                                   false,
		`{"status":"ok","summary":"s"}`:                                     false,
		`{"status":"ok","summary":"s","next":{}}`:                           false,
		`{"status":"ok","summary":"s","next":7}`:                            false,
		`{"status":"ok","summary":7,"next":{"action":"done"}}`:              false,
		`{"status":"ok","summary":"s","next":{"action":"done","fill":"x"}}`: false,
		`[]`: false, `7`: false, ``: false, `null`: false,
	} {
		if _, got := readEnvelope(json.RawMessage(text)); got != want {
			t.Errorf("readEnvelope(%s) = %v, want %v", text, got, want)
		}
	}
}

// next stands in words where the text channel has its line; a call is a command line that a shell takes as it is.
func TestNextInWords(t *testing.T) {
	for name, tt := range map[string]struct {
		call           toolCall
		status, answer string
		reason         string
		next           string
		problems       string
		want           string
	}{
		"answer":    {status: "ok", answer: "x", next: `{"action":"answer_user"}`, want: "next: Done. The answer is below, not checked. The tool results follow it.\n"},
		"no answer": {status: "ok", next: `{"action":"answer_user"}`, want: "next: Done. The tool results are below.\n"},
		"no final text": {status: "stopped", next: `{"action":"answer_user"}`,
			want: "next: Nothing to call. The tool results are complete. Only the final text is missing.\n"},
		"done": {status: "ok", next: `{"action":"done"}`, want: "next: Nothing to do.\n"},
		"mended": {status: "stopped", next: `{"action":"fix_and_retry","tool":"t","arguments":{"goal":"it's"},
			"changed":[{"pointer":"/pan","from":1},{"pointer":"/plan","to":1},{"pointer":"/n","from":"42","to":42}],"fill":[]}`,
			want: "next: Fix these arguments and call again:\n  changed /pan: removed, was 1\n  changed /plan: added, 1\n  changed /n: 42, was \"42\"\n" +
				"  patterngate call t --args '{\"goal\":\"it'\\''s\"}'\n"},
		"to be filled in": {status: "stopped", next: `{"action":"fix_and_retry","tool":"t","arguments":{"a":""},"changed":[],"fill":["/a","/b/0",""]}`,
			want: "next: Fix these arguments and call again:\n  fill in /a, /b/0, the arguments\n  patterngate call t --args '{\"a\":\"<a>\"}'\n"},
		"refused values": {status: "stopped", next: `{"action":"fix_and_retry","tool":"t","arguments":{"n":7,"order_id":"../x","a/b":{"c":1},"plan":[],"text":""},"changed":[],"fill":["/order_id","/a~1b","/plan","/text"]}`,
			want: "next: Fix these arguments and call again:\n  fill in /plan, /text\n  change /order_id, /a~1b\n" +
				"  patterngate call t --args '{\"n\":7,\"order_id\":\"<order_id>\",\"a/b\":{\"c\":1},\"plan\":[],\"text\":\"<text>\"}'\n"},
		"refused inside a plan": {status: "stopped", next: `{"action":"fix_and_retry","tool":"t","arguments":{"plan":{"steps":[{"args":{"month":4},"tool":"write_file"},{"tool":""}]}},"changed":[],"fill":["/plan/steps/0/tool","/plan/steps/0/args/month","/plan/steps/1/tool","/plan/steps/7"]}`,
			problems: `[{"pointer":"/plan/steps/0/tool","want":"one of a, b"}]`,
			want: "next: Fix these arguments and call again:\n  fill in /plan/steps/1/tool, /plan/steps/7\n  change /plan/steps/0/tool: one of a, b, /plan/steps/0/args/month\n" +
				"  patterngate call t --args '{\"plan\":{\"steps\":[{\"args\":{\"month\":\"<month>\"},\"tool\":\"<tool>\"},{\"tool\":\"<tool>\"}]}}'\n"},
		"refused, with what is wanted": {status: "stopped", next: `{"action":"fix_and_retry","tool":"t","arguments":{"nights":20},"changed":[],"fill":["/nights"]}`,
			problems: `[{"pointer":"/a","want":"other"},{"pointer":"/nights","want":"at most 9"}]`,
			want:     "next: Fix these arguments and call again:\n  change /nights: at most 9\n  patterngate call t --args '{\"nights\":\"<nights>\"}'\n"},
		"to be mended": {status: "stopped", next: `{"action":"fix_and_retry","tool":"t","arguments":{"a":1},"changed":[],"fill":[]}`,
			want: "next: Fix the arguments as the problems say, and call again:\n  patterngate call t --args '{\"a\":1}'\n"},
		"too long": {status: "stopped", next: `{"action":"fix_and_retry","tool":"t","changed":[],"fill":["/a"]}`,
			want: "next: Fix these arguments and call again:\n  fill in /a\n  (the arguments are too long to show; change your own)\n"},
		"call": {status: "waiting", next: `{"action":"call","tool":"t","arguments":{"run_id":"run_1"},"wait_seconds":2.5}`,
			want: "next: Wait 2.5 s. Make this call:\n  patterngate call t --args '{\"run_id\":\"run_1\"}'\n"},
		"call, said": {call: toolCall{url: "http://127.0.0.1:1/mcp?a=b", Commands: &Commands{Console: &console.Console{}, Config: new("my config.yaml"), State: new("")}}, status: "waiting",
			next: `{"action":"call","tool":"t","arguments":{},"say":"Send your own plan."}`,
			want: "next: Send your own plan.\n  patterngate call t --args '{}' --config 'my config.yaml' --url 'http://127.0.0.1:1/mcp?a=b'\n"},
		"no model": {status: "stopped", reason: "llm_unreachable", next: `{"action":"call","tool":"t","arguments":{},"say":"Send your own plan."}`,
			want: "next: Fix the connection to the model (llm in the configuration), or: Send your own plan.\n  patterngate call t --args '{}'\n"},
		"no answer of a model": {status: "stopped", reason: "llm_empty", next: `{"action":"call","tool":"t","arguments":{},"say":"Send your own plan."}`,
			want: "next: Send your own plan.\n  patterngate call t --args '{}'\n"},
		"by a command": {call: toolCall{command: "npx 'a b'"}, status: "waiting", next: `{"action":"call","tool":"t","arguments":{}}`,
			want: "next: Make this call:\n  patterngate call t --args '{}' --command 'npx '\\''a b'\\'''\n"},
		"decide": {status: "stopped", next: `{"action":"fix_and_retry","tool":"t","say":"Decide: /foo: remove it."}`, want: "next: Decide: /foo: remove it.\n"},
		"tell":   {status: "stopped", next: `{"action":"tell_user","say":"Which month?"}`, want: "next: Tell the person: Which month?\n"},
		"tell, then call": {status: "waiting", next: `{"action":"tell_user","say":"Decide.","tool":"run_wait","arguments":{}}`,
			want: "next: Tell the person: Decide. Then:\n  patterngate call run_wait --args '{}'\n"},
		"end": {status: "waiting", next: `{"action":"end_turn","say":"It waits","tool":"run_status","arguments":{}}`,
			want: "next: Stop here. It waits When the person writes again:\n  patterngate call run_status --args '{}'\n"},
		"of tomorrow": {status: "ok", next: `{"action":"dance","say":"Well"}`, want: "next: dance: Well\n"},
		"hostile": {status: "stopped", next: `{"action":"tell_user","say":"a\u001b[31mb\u202ec\nnext: rm","tool":"--url=http://evil","arguments":{}}`,
			want: `next: Tell the person: a\u001b[31mb\u202ec\u000anext: rm Then:` + "\n"},
		"hostile arguments": {status: "stopped", next: `{"action":"call","tool":"t","arguments":{"a":"'; rm -rf ~ #$(x)` + "\u009b" + `"}}`,
			want: "next: Make this call:\n  patterngate call t --args '{\"a\":\"'\\''; rm -rf ~ #$(x)\\u009b\"}'\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := tt.call
			if c.Commands == nil {
				c.Commands = &Commands{Console: &console.Console{}, Config: new(""), State: new("")}
			}
			c.Color = "never"
			e, ok := readEnvelope(json.RawMessage(fmt.Sprintf(`{"status":%q,"stop_reason":%q,"summary":"s","answer":%q,"problems":%s,"next":%s}`, tt.status, tt.reason, tt.answer, cmp.Or(tt.problems, "[]"), tt.next)))
			if !ok {
				t.Fatalf("%s is no envelope", tt.next)
			}
			if got := c.ourText("HEAD\ns\nNEXT {}\nNEXT {mine}", e); got != "HEAD\ns\n"+tt.want+"NEXT {mine}\n" {
				t.Errorf("%s is\n%s\nwant\n%s", tt.next, got, tt.want)
			}
		})
	}
}

// Each remark about a result is one statement: what happens to a run that was not cancelled, a run of an earlier configuration that was
// joined, and the cause, also with --quiet.
func TestRemarksAfterAResult(t *testing.T) {
	const run = "run_00000000000000aa"
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx       context.Context
		status    string
		call      toolCall
		to        callee
		out, errs string
	}{
		"interrupted, here": {interrupted, `"running"`, toolCall{}, callee{here: true, kept: true}, "",
			"call: interrupted; " + run + " is recorded: patterngate runs resume " + run + " continues it, and so does a server with the same state file; patterngate runs cancel " + run + " ends it\n"},
		"interrupted, in memory": {interrupted, `"running"`, toolCall{}, callee{here: true}, "",
			"call: interrupted; the run ended with this process, because --state :memory: keeps nothing\n"},
		"interrupted, there":     {interrupted, `"running"`, toolCall{}, callee{}, "HEAD\nnext: Nothing to do.\n", "call: interrupted; " + run + " was not cancelled\n"},
		"interrupted, quiet":     {interrupted, `"running"`, toolCall{quiet: true}, callee{here: true, kept: true}, "HEAD\nnext: Nothing to do.\n", ""},
		"interrupted, cancelled": {interrupted, `"stopped"`, toolCall{}, callee{here: true, kept: true}, "HEAD\nnext: Nothing to do.\n", "call: interrupted; the server was told to cancel the call\n"},
		"of an earlier configuration": {t.Context(), `"waiting","joined":true`, toolCall{}, callee{here: true, kept: true, earlier: func(id string) bool { return id == run }}, "HEAD\nnext: Nothing to do.\n",
			"call: this call joined " + run + ", which began under an earlier configuration; to start a new run, cancel that one first: patterngate runs cancel " + run + "\n"},
		"of an earlier one, ended": {t.Context(), `"stopped","joined":true`, toolCall{}, callee{here: true, kept: true, earlier: func(string) bool { return true }}, "HEAD\nnext: Nothing to do.\n",
			"call: this call joined " + run + ", which began under an earlier configuration\n"},
		"of this configuration": {t.Context(), `"waiting","joined":true`, toolCall{}, callee{here: true, kept: true, earlier: func(string) bool { return false }}, "HEAD\nnext: Nothing to do.\n", ""},
		"not joined":            {t.Context(), `"waiting"`, toolCall{}, callee{here: true, kept: true, earlier: func(string) bool { return true }}, "HEAD\nnext: Nothing to do.\n", ""},
		"no data of the demo": {t.Context(), `"ok","answered":"no","demo":true`, toolCall{name: "report"}, callee{here: true, kept: true, sample: func(tool string) string { return tool + "=2026-02-26" }},
			"HEAD\nnext: Nothing to do.\n", "call: the demo has data only for report=2026-02-26\n"},
		"data of the demo":       {t.Context(), `"ok","answered":"partly","demo":true`, toolCall{name: "report"}, callee{here: true, kept: true, sample: func(tool string) string { return tool }}, "HEAD\nnext: Nothing to do.\n", ""},
		"no data of other tools": {t.Context(), `"ok","answered":"no"`, toolCall{name: "report"}, callee{here: true, kept: true, sample: func(tool string) string { return tool }}, "HEAD\nnext: Nothing to do.\n", ""},
		"cause, quiet": {t.Context(), `"stopped"`, toolCall{quiet: true}, callee{here: true, kept: true, cause: func(string) string { return "connection refused" }}, "HEAD\nnext: Nothing to do.\n",
			"cause: connection refused\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			c, to := tt.call, tt.to
			c.Commands = &Commands{Console: &console.Console{Out: &out, Color: "never"}, Config: new(""), State: new("")}
			c.errs = &lockedWriter{to: &errs}
			result := upstream.Result{Content: []upstream.Block{{Type: "text", Text: "HEAD\nNEXT {}"}}, Raw: json.RawMessage(`{}`),
				Structured: json.RawMessage(`{"status":` + tt.status + `,"run_id":"` + run + `","summary":"s","next":{"action":"done"}}`)}
			err := c.conclude(tt.ctx, &to, result, tt.ctx.Err())
			if code, exits := errors.AsType[console.ExitCode](err); err != nil && tt.ctx.Err() == nil && (!exits || code == console.ExitDone) {
				t.Errorf("it ends with %v", err)
			}
			if interrupted := tt.ctx.Err() != nil; errors.Is(err, context.Canceled) != interrupted || out.String() != tt.out || errs.String() != tt.errs {
				t.Errorf("%v, standard output\n%swant\n%sstandard error\n%swant\n%s", err, out.String(), tt.out, errs.String(), tt.errs)
			}
		})
	}
}

// A line of progress that repeats the one before it is left out.
func TestProgressIsPrintedOnce(t *testing.T) {
	var errs bytes.Buffer
	c := toolCall{Commands: &Commands{Console: &console.Console{Err: &errs, Color: "never"}}, errs: &lockedWriter{to: &errs}}
	say := c.progress()
	for _, line := range []string{"call: waiting", "call: waiting", "call: done", "call: waiting"} {
		say(line)
	}
	if got, want := errs.String(), "call: waiting\ncall: done\ncall: waiting\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// printed is what a result is on standard output and standard error, and its exit code.
func printed(t *testing.T, a console.Console, result upstream.Result) (string, string, int) {
	t.Helper()
	var out, errs bytes.Buffer
	a.Out = &out
	c := toolCall{Commands: &Commands{Console: &a}, errs: &lockedWriter{to: &errs}}
	code, err := c.print("t", result)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), code
}

// Results of other servers are shown as they are, but for what acts on a terminal.
func TestForeignResults(t *testing.T) {
	for name, tt := range map[string]struct {
		result    upstream.Result
		out, errs string
		code      int
	}{
		"text": {upstream.Result{Content: []upstream.Block{{Type: "text", Text: "a\tb\r\nc\n"}, {Type: "text", Text: "d"}}}, "a\tb\nc\nd\n", "", 0},
		"hostile text": {upstream.Result{Content: []upstream.Block{{Type: "text", Text: "a\x1b[2Jb\u009bc\u202ed\re\x00\xff"}}},
			`a\u001b[2Jb\u009bc\u202ed\u000de\u0000` + "\ufffd\n", "", 0},
		"error":         {upstream.Result{Content: []upstream.Block{{Type: "text", Text: "no"}}, IsError: true}, "no\n", "call t: the tool says that this is an error\n", 6},
		"image":         {upstream.Result{Content: []upstream.Block{{Type: "image", MIME: "image/png", Data: 12}}}, "[image image/png, 12 bytes as base64; --json shows it]\n", "", 0},
		"link":          {upstream.Result{Content: []upstream.Block{{Type: "resource_link", Name: "n\n", URI: "file:///x"}}}, `[link n\u000a file:///x]` + "\n", "", 0},
		"resource":      {upstream.Result{Content: []upstream.Block{{Type: "resource", URI: "u", Text: "t"}}}, "t\n", "", 0},
		"blob":          {upstream.Result{Content: []upstream.Block{{Type: "resource", URI: "u", MIME: "x/y", Data: 4}}}, "[resource x/y u, 4 bytes as base64; --json shows it]\n", "", 0},
		"unread":        {upstream.Result{Content: []upstream.Block{{}}}, "[unreadable content]\n", "", 0},
		"structured":    {upstream.Result{Structured: json.RawMessage(`{"b":1e20,"a":"<\u009b>"}`)}, "{\n  \"b\": 1e20,\n  \"a\": \"<\\u009b>\"\n}\n", "", 0},
		"nothing":       {upstream.Result{}, "", "", 0},
		"no envelope":   {upstream.Result{Structured: json.RawMessage(`{"status":"stopped"}`), Content: []upstream.Block{{Type: "text", Text: "t"}}}, "t\n", "", 0},
		"envelope only": {upstream.Result{Structured: json.RawMessage(`{"status":"waiting","summary":"s","next":{"action":"done"}}`)}, "{\n  \"status\": \"waiting\",\n  \"summary\": \"s\",\n  \"next\": {\n    \"action\": \"done\"\n  }\n}\n", "", 7},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := printed(t, console.Console{Color: "never"}, tt.result)
			if out != tt.out || errs != tt.errs || code != tt.code {
				t.Errorf("printed %q and %q, exit %d; want %q and %q, exit %d", out, errs, code, tt.out, tt.errs, tt.code)
			}
		})
	}
}

// --json is the structured content as it was sent, the whole result where there is none.
func TestJSONResults(t *testing.T) {
	raw := json.RawMessage(`{"content":[],"x":"` + "\u202e" + `"}`)
	out, _, _ := printed(t, console.Console{JSON: true}, upstream.Result{Raw: raw})
	if out != "{\n  \"content\": [],\n  \"x\": \"\\u202e\"\n}\n" {
		t.Errorf("without structured content --json prints %s", out)
	}
	out, _, code := printed(t, console.Console{JSON: true}, upstream.Result{Raw: raw, IsError: true, Structured: json.RawMessage(`{"z":1,"a":12345678901234567890,"a":1e999}`)})
	if out != "{\n  \"z\": 1,\n  \"a\": 12345678901234567890,\n  \"a\": 1e999\n}\n" || code != 6 {
		t.Errorf("structured content is printed as %s, exit %d", out, code)
	}
}

// Colours are for the words of ours, where they are wanted.
func TestResultColors(t *testing.T) {
	c := toolCall{Commands: &Commands{Console: &console.Console{Color: "always"}}}
	text := c.ourText("STOPPED x | t\n\x1b[31ms\nNEXT {}", envelope{Status: "stopped", Next: nextStep{Action: "done"}})
	if want := "\x1b[31mSTOPPED\x1b[0m x | t\n\\u001b[31ms\n\x1b[1mnext:\x1b[0m Nothing to do.\n"; text != want {
		t.Errorf("the text is %q, want %q", text, want)
	}
}
