package assembly

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"patterngate/patterns"
)

// What is in a state file starts no program, reaches no server and reads no secret that the configuration does not name:
// a run of such a snapshot is not carried on. One that differs elsewhere is.
func TestSnapshotReachesNothingElse(t *testing.T) {
	environ := []string{binaries(t, "sh", "prog"), "PAY_TOKEN=hunter2", "MEMORY_KEY=hunter3"}
	load := func(text string) Loaded {
		loaded, _, err := loadText(t, text, environ...)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return loaded
	}
	base := ordersText(t)
	mine := load(base)
	for name, tt := range map[string]struct {
		was, is string
		goes    bool
	}{
		"a budget":              {"max_seconds: 15", "max_seconds: 20", true},
		"other words":           {"description: Finds the refund", "description: Looks for the refund", true},
		"one network less":      {`["127.0.0.1/32"]`, "[]", true},
		"another command":       {"{command: sh, args", "{command: prog, args", false},
		"another argument":      {"/srv/orders], env", "/srv], env", false},
		"another env name":      {"env: [PATH, HOME]", "env: [PATH, HOME, PAY_TOKEN]", false},
		"another server's url":  {"https://memory.example/mcp", "https://evil.example/mcp", false},
		"a server's secret":     {"env:MEMORY_KEY", "env:PAY_TOKEN", false},
		"another server":        {"    gone:", "    evil: {stdio: {command: prog}, tools: {look: {effect: read}}}\n    gone:", false},
		"another url":           {"127.0.0.1:9090/refunds/{key}", "127.0.0.1:9091/refunds/{key}", false},
		"a request's secret":    {"refunds/{key}\", headers: {Authorization: {secret: \"env:PAY_TOKEN\"", "refunds/{key}\", headers: {Authorization: {secret: \"env:MEMORY_KEY\"", false},
		"another request":       {"  http:\n    find_refund:", "  http:\n    ask: {description: Asks., effect: read, request: {method: GET, url: 'https://a.example'}}\n    find_refund:", false},
		"another network":       {`["127.0.0.1/32"]`, `["127.0.0.1/32", 10.0.0.0/8]`, false},
		"a secret as argument":  {"fix: {path: /srv/orders}", `fix: {path: {secret: "env:PAY_TOKEN"}}`, false},
		"a program as argument": {"fix: {path: /srv/orders}", "fix: {path: {secret: {exec: [prog]}}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(base, tt.was, tt.is, 1)
			if text == base {
				t.Fatalf("%q is not in the file", tt.was)
			}
			other := load(text)
			d, err := Declare(mine, environ)
			if err != nil {
				t.Fatal(err)
			}
			s := &source{environ: environ, pool: newServerPool()}
			s.serve(d, &shelf{snapshots: map[string][]byte{other.Hash(): other.Snapshot()}, asked: map[string]int{}})
			_, err = s.Job(patterns.Begun{RunID: "run_1", Pattern: "find_refund", Caller: patterns.Caller{Principal: "local:1"}, Config: other.Hash(), Arguments: map[string]any{"key": "k"}})
			lacking, lacks := errors.AsType[*patterns.Lacking](err)
			if tt.goes && err != nil || !tt.goes && (!lacks || lacking.Cause != "config_missing") {
				t.Errorf("Job = %v, carried on: want %t", err, tt.goes)
			}
		})
	}
}

// What is wrong with an expression is told at the very character.
func TestExpressionFaults(t *testing.T) {
	const tool = "    pay: {description: Pays., effect: write, request: {method: POST, url: 'https://a.example'}, input: {id: {type: string}}, "
	for name, tt := range map[string]struct{ member, at, want string }{
		"once":      {`once: "'a' + argz.id"}`, "argz", "argz"},
		"once type": {`once: "1 + 'a'"}`, "+", ""},
		"happened":  {`reconcile: {tool: find, args: {id: effect.key}, happened: "true && resultz.x"}}`, "resultz", "resultz"},
		"output":    {`output: {x: "response.body.x + nope"}}`, "nope", "nope"},
	} {
		last := tool + tt.member
		_, _, err := loadText(t, "version: 1\ncatalog:\n  http:\n    find: {description: Finds., effect: read, request: {method: GET, url: 'https://a.example'}, input: {id: {type: string}}}\n"+last+"\n")
		want := fmt.Sprintf("pg.yaml:5:%d: catalog.http.pay.", strings.LastIndex(last, tt.at)+1)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
