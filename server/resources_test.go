package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/stopreason"
	"patterngate/ijson"
	"patterngate/server/arguments"
)

// ask makes a request in an era and returns its answer. It skips notifications: the stdio servers of a process share one session of
// mcp-go, so those of another test's reload can arrive here.
func (c *session) ask(era, method, params string) message {
	c.t.Helper()
	inner := strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}")
	if era == "modern" {
		inner = strings.Trim(modernMeta+","+inner, ",")
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":%q,"params":{%s}}`, method, inner))
	for {
		switch m := c.next(); m.ID {
		case 3.0:
			return m
		case nil:
			continue
		default:
			c.t.Fatalf("want the answer to %s, got %s", method, m.line)
		}
	}
}

var eras = []string{"legacy", "modern"}

// contents is the text of a resource that was read.
func contents(t testing.TB, m message) string {
	t.Helper()
	var r struct {
		Contents []struct{ URI, MimeType, Text string }
	}
	if m.Error != nil || json.Unmarshal(m.Result, &r) != nil || len(r.Contents) != 1 || r.Contents[0].MimeType != "application/json" {
		t.Fatalf("no resource: %.500s", m.line)
	}
	return r.Contents[0].Text
}

func TestResources(t *testing.T) {
	c := connect(t, serving(t))
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			list := c.ask(era, "resources/list", `{}`)
			for _, uri := range []string{catalogURI, reasonsURI} {
				if !strings.Contains(list.line, `"uri":"`+uri+`"`) || strings.Count(list.line, `"mimeType":"application/json"`) != 2 {
					t.Errorf("resources/list lacks %s: %s", uri, list.line)
				}
			}
			if modern := strings.Contains(list.line, `"ttlMs":0,`) && strings.Contains(list.line, `"cacheScope":"private"`); modern != (era == "modern") {
				t.Errorf("cache hints in the %s era: %s", era, list.line)
			}
			// The catalog is what the tool says, without pages.
			var r result
			if err := json.Unmarshal(c.ask(era, "tools/call", `{"name":"describe_catalog","arguments":{"limit":100}}`).Result, &r); err != nil {
				t.Fatal(err)
			}
			if got := decodedValue(t, contents(t, c.ask(era, "resources/read", `{"uri":"`+catalogURI+`"}`))); !ijson.Equal(got, any(r.Structured)) {
				t.Errorf("the catalog is %s, want %s", ijson.Canonical(got), mustJSON(r.Structured))
			}
		})
	}
}

// The stop reasons are the registry, as far as it is about what is served.
func TestStopReasonsResource(t *testing.T) {
	var rows []Reason
	text := contents(t, connect(t, serving(t, offersPlanning)).ask("legacy", "resources/read", `{"uri":"`+reasonsURI+`"}`))
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	byName := map[string]Reason{}
	for _, r := range rows {
		byName[r.Name] = r
	}
	for _, s := range stopreason.All() {
		r := byName[s.Name]
		if r.Meaning != s.Meaning || r.Level != s.Level() || r.ExitCode != int(s.Exit) || r.Next != string(s.Next) || len(r.Patterns) == 0 {
			t.Errorf("%s is shown as %+v", s.Name, r)
		}
	}
	if len(rows) != len(stopreason.All()) {
		t.Errorf("%d rows, want %d", len(rows), len(stopreason.All()))
	}
	if diff := cmp.Diff(Reason{
		Name: "max_execute_steps", Meaning: "The plan has more steps than the run can execute.", Level: "run",
		Patterns: []string{td}, Phases: []string{"execute"}, ExitCode: 4, Next: "fix_and_retry or tell_user",
	}, byName["max_execute_steps"]); diff != "" {
		t.Errorf("max_execute_steps (-want +got):\n%s", diff)
	}

	// With one pattern there are its own rows alone, under the name that it has here.
	p := builtins(t)[2]
	p.Spec.Name = "help_desk"
	one := connect(t, serving(t, func(c *Config) { c.Patterns = []Pattern{p} }))
	rows = nil
	if err := json.Unmarshal([]byte(contents(t, one.ask("legacy", "resources/read", `{"uri":"`+reasonsURI+`"}`))), &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if strings.HasPrefix(r.Name, "invalid_plan") || !slices.Contains(append(r.Patterns, arguments.CatalogTool), "help_desk") && !slices.Equal(r.Patterns, []string{arguments.CatalogTool}) ||
			slices.Contains(r.Phases, "plan") {
			t.Errorf("for a routing pattern there is %+v", r)
		}
	}
}

// What is not there is refused by each era's own code, in a few words whatever was asked for.
func TestUnknownResources(t *testing.T) {
	codes := map[string]int{"legacy": -32002, "modern": -32602}
	c := connect(t, serving(t))
	for _, era := range eras {
		for _, uri := range []string{
			"patterngate://nope", "patterngate://catalog/", "patterngate://CATALOG", "patterngate://catalog?x=1", "", "file:///etc/passwd",
			"patterngate://" + strings.Repeat("x", 1<<20), catalogURI + "\u202e\n",
		} {
			m := c.ask(era, "resources/read", `{"uri":`+mustJSON(uri)+`}`)
			if m.Error == nil || m.Error.Code != codes[era] || len(m.line) > 1000 {
				t.Errorf("%s, %.40q: %.300s, want code %d", era, uri, m.line, codes[era])
			}
		}
	}
}

// Subscriptions are taken in both eras, though nothing here changes.
func TestSubscribe(t *testing.T) {
	c := connect(t, serving(t))
	for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
		if m := c.ask("legacy", method, `{"uri":"`+catalogURI+`"}`); m.Error != nil {
			t.Errorf("%s: %s", method, m.line)
		}
	}
	c.send(`{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{` + modernMeta + `,"notifications":{"resourceSubscriptions":["` + catalogURI + `"],"toolsListChanged":true}}}`)
	if m := c.next(); m.Method != "notifications/subscriptions/acknowledged" || !strings.Contains(m.line, `"toolsListChanged":true`) {
		t.Errorf("subscriptions/listen: %s", m.line)
	}
}

// A policy's reasons are stop reasons of the patterns that it judges, each once.
func TestStopReasonsResourceHasDeclaredReasons(t *testing.T) {
	text := contents(t, connect(t, serving(t, func(c *Config) {
		for i := range c.Patterns {
			c.Patterns[i].Reasons = []string{"run_cap", "order_not_read", "run_cap", "refund_window_expired", "policy_error:run_cap", "No Name"}
		}
	})).ask("legacy", "resources/read", `{"uri":"`+reasonsURI+`"}`))
	var rows []Reason
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		t.Fatal(err)
	}
	got := map[string][]Reason{}
	for _, r := range rows {
		got[r.Name] = append(got[r.Name], r)
	}
	want := Reason{
		Name: "policy_block:run_cap", Meaning: "A rule of the policy blocks the call.", Level: "run", Patterns: []string{td, or, rt},
		Phases: []string{"execute", "dispatch", "delegate"}, ExitCode: 3, Next: "call, fix_and_retry or tell_user",
	}
	if diff := cmp.Diff([]Reason{want}, got[want.Name]); diff != "" {
		t.Errorf("policy_block:run_cap (-want +got):\n%s", diff)
	}
	for _, name := range []string{"supervisor_block:run_cap", "supervisor_block:order_not_read", "supervisor_block:refund_window_expired", "policy_block:refund_window_expired"} {
		if len(got[name]) != 1 {
			t.Errorf("%s is there %d times, want once", name, len(got[name]))
		}
	}
	for name := range got {
		if strings.Contains(name, "No Name") || strings.HasSuffix(name, "policy_error:run_cap") {
			t.Errorf("%s has a row", name)
		}
	}
}
