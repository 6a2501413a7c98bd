package server

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/server/arguments"
)

// What cannot be called now is shown as such, each time as it then stands, with why.
func TestDescribeStates(t *testing.T) {
	var state atomic.Pointer[catalog.Readiness]
	state.Store(&catalog.Readiness{State: catalog.Held, Why: "no line in patterngate.lock; run patterngate catalog accept orders/late"})
	late := foreign(t, "late", "Comes late.", `{"type":"object"}`)
	late.Server, late.Ready = "orders", func() catalog.Readiness { return *state.Load() }
	c := connect(t, serving(t, offering(t, late, foreign(t, "steady", "Is there.", `{"type":"object"}`))))
	for _, now := range []catalog.Readiness{
		*state.Load(), {State: catalog.Unavailable, Why: "orders does not answer"}, {}, {State: catalog.Held, Why: strings.Repeat("é", 5000)},
	} {
		state.Store(&now)
		r := c.call(arguments.CatalogTool, `{}`).result(t)
		want := string(now.State)
		if now.State == catalog.Ready {
			want = "ready"
		}
		row := toolNamedIn(t, r, "late")
		why, _ := row["why"].(string)
		if row["state"] != want || (why == "") != (now.Why == "") || !strings.HasPrefix(now.Why, why) || len(why) > 200 {
			t.Errorf("%+v is shown as %v, %q", now, row["state"], why)
		}
		if other := toolNamedIn(t, r, "steady"); other["state"] != "ready" || other["why"] != nil {
			t.Errorf("the other tool is %v", other["state"])
		}
		if summary, _ := r.Structured["summary"].(string); strings.Contains(summary, "cannot be called now") != (want != "ready") {
			t.Errorf("%s: the summary is %q", want, summary)
		}
		if shown := strings.Contains(textOf(r), " | "+want+": "); shown != (want != "ready") {
			t.Errorf("%s: the text is %q", want, textOf(r))
		}
		c.send(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"` + catalogURI + `"}}`)
		if m := c.next(); !strings.Contains(m.line, `\"state\":\"`+want+`\"`) {
			t.Errorf("%s: the resource is %.300s", want, m.line)
		}
	}
}

// Without patterns there is only what is about the catalog and about runs, in words that fit.
func TestNoPatterns(t *testing.T) {
	all := orders(t)
	s := serving(t, func(c *Config) { c.Patterns, c.Catalog = nil, all })
	c := connect(t, s)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	var listed struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(c.next().Result, &listed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff(ownTools, names); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	r := c.call(arguments.CatalogTool, `{}`).result(t)
	if got := namesIn(r); !slices.Equal(got, []string{"pay_back", "read_order", "wipe"}) {
		t.Errorf("the catalog shows %v", got)
	}
	if said, _ := r.Structured["summary"].(string); !strings.Contains(said, "3 more tools behind the gate: no pattern uses them.") {
		t.Errorf("the summary is %q", said)
	}
	row := toolNamedIn(t, r, "read_order")
	if row["person"] != "never" || row["state"] != "ready" || row["server"] != "orders" || !cmp.Equal(row["patterns"], []any{}) {
		t.Errorf("the row is %v", row)
	}
	if r := c.call(arguments.CatalogTool, `{"pattern":"x"}`).result(t); r.Structured["stop_reason"] != "invalid_request:limit:pattern" {
		t.Errorf("a pattern that is not there: %v", r.Structured)
	}
	c.send(`{"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{}}`)
	if m := c.next(); m.Error != nil || !strings.Contains(string(m.Result), `"prompts":[]`) {
		t.Errorf("prompts: %s", m.line)
	}
	if said := s.instructions(); strings.Contains(said, "Send your own") || !strings.Contains(said, "Which tool: describe_catalog shows") {
		t.Errorf("the instructions are %q", said)
	}
}
