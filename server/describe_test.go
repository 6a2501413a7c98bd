package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/transport"
)

// inEras makes the same call in both protocol eras.
func inEras(t *testing.T, tool, arguments string, check func(t *testing.T, r result)) {
	t.Helper()
	c := connect(t, serving(t))
	for era, meta := range map[string]string{"legacy": "", "modern": modernMeta + ","} {
		t.Run(era, func(t *testing.T) {
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `"name":"` + tool + `","arguments":` + arguments + `}}`)
			r := c.next().result(t)
			if modern := r.ResultType == "complete"; modern != (era == "modern") {
				t.Errorf("resultType %q in the %s era", r.ResultType, era)
			}
			check(t, r)
		})
	}
}

// toolNamedIn is one tool of a result.
func toolNamedIn(t testing.TB, r result, name string) map[string]any {
	t.Helper()
	tools, _ := r.Structured["tools"].([]any)
	for _, row := range tools {
		if row, _ := row.(map[string]any); row["name"] == name {
			return row
		}
	}
	t.Fatalf("no tool %s in %v", name, r.Structured["tools"])
	return nil
}

func namesIn(r result) []string {
	names := []string{}
	tools, _ := r.Structured["tools"].([]any)
	for _, row := range tools {
		names = append(names, row.(map[string]any)["name"].(string))
	}
	return names
}

func textOf(r result) string {
	text, _ := r.Content[0]["text"].(string)
	return text
}

// Both channels tell everything, in both eras, and the structured one is what the output schema says.
func TestDescribeCatalog(t *testing.T) {
	schema, err := catalog.CompileSchema(serving(t).catalog.Output())
	if err != nil {
		t.Fatal(err)
	}
	inEras(t, arguments.CatalogTool, `{}`, func(t *testing.T, r result) {
		if wrong := schema.Check(r.Structured); len(wrong) > 0 {
			t.Errorf("the result does not fit its schema: %v", wrong)
		}
		want := map[string]any{"status": "ok", "stop_reason": "success", "demo": true, "next": map[string]any{"action": "done"},
			"summary": "14 tools can be called, by 4 patterns."}
		got := maps.Clone(r.Structured)
		maps.DeleteFunc(got, func(name string, _ any) bool { return name == "tools" || name == "patterns" })
		if diff := cmp.Diff(want, got); diff != "" || r.IsError {
			t.Errorf("isError %v, members besides tools and patterns (-want +got):\n%s", r.IsError, diff)
		}
		names := namesIn(r)
		if len(names) != 14 || !slices.IsSorted(names) {
			t.Errorf("tools %v, want 14 by name", names)
		}
		refund := toolNamedIn(t, r, "issue_refund")
		input := refund["input_schema"].(map[string]any)
		delete(refund, "input_schema")
		if diff := cmp.Diff(map[string]any{
			"name": "issue_refund", "title": "Refund", "description": "Refunds an amount in USD of a user's last charge.", "effect": "write",
			"idempotent": true, "patterns": []any{sv}, "person": "maybe", "state": "ready",
		}, refund); diff != "" {
			t.Errorf("issue_refund (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]any{"user_id", "amount_usd"}, input["required"]); diff != "" {
			t.Errorf("issue_refund's schema %v", input)
		}
		text := textOf(r)
		checkOwnLines(t, text)
		for _, want := range append(names,
			"OK success | describe_catalog | demo data\n14 tools can be called, by 4 patterns.\nNEXT {\"action\":\"done\"}\nTOOLS (",
			"\nissue_refund {user_id: integer, amount_usd: number, reason?: string} | write, idempotent | person maybe | supervised_refund | Refunds",
			"\nsales_worker {report_date: YYYY-MM-DD, region: string} | read | person never | run_orchestrator | ",
			"\nroute_ticket routing | {\"max_delegations\":3,\"max_route_attempts\":3,\"max_seconds\":60}",
			`supervised_refund supervisor | {"max_seconds":30,"max_steps":8,"max_tool_calls":5} | approver reject`) {
			if !strings.Contains(text, want) {
				t.Errorf("the text lacks %q:\n%s", want, text)
			}
		}
	})
}

// An orchestrator sets request_id itself. Callers that cannot set it do not see it.
func TestDescribeHidesWhatIsSet(t *testing.T) {
	inEras(t, arguments.CatalogTool, `{"names":["sales_worker"]}`, func(t *testing.T, r result) {
		if s := mustJSON(r.Structured); strings.Contains(s, arguments.RequestID) || strings.Contains(textOf(r), arguments.RequestID) {
			t.Errorf("it is shown: %s", s)
		}
	})
}

// The rows follow the declarations of the patterns: both allowlists, the policy, the approver, the budget.
func TestDescribeFollowsPatterns(t *testing.T) {
	list := builtins(t)
	list[3].Spec.Approver = patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}
	list[3].Spec.Budget.MaxTokens = 5000
	list[0].Spec.Execution = []string{"fetch_sales_data"}
	list[2].Spec.Policy = nil
	second := list[3]
	second.Spec.Name, second.Spec.Kind = "look_only", gateway.TaskDecomposition
	second.Spec.Budget = gateway.DefaultBudget(gateway.TaskDecomposition)
	c := connect(t, serving(t, func(c *Config) { c.Patterns = append(list, second) }))
	r := c.call(arguments.CatalogTool, `{"limit":100}`).result(t)
	want := []string{"fetch_sales_data", "get_refund_context", "inventory_worker", "issue_refund", "payments_worker", "sales_worker", "send_refund_email"}
	if diff := cmp.Diff(want, namesIn(r)); diff != "" {
		t.Errorf("tools that may be named and called (-want +got):\n%s", diff)
	}
	refund := toolNamedIn(t, r, "issue_refund")
	if diff := cmp.Diff([]any{sv, "look_only"}, refund["patterns"]); diff != "" || refund["person"] != "maybe" {
		t.Errorf("issue_refund: person %v, patterns (-want +got):\n%s", refund["person"], diff)
	}
	rows := map[string]map[string]any{}
	for _, p := range r.Structured["patterns"].([]any) {
		rows[p.(map[string]any)["name"].(string)] = p.(map[string]any)
	}
	if p := rows[sv]; p["approver"] != "simulated" || p["budget"].(map[string]any)["max_tokens"] != 5000.0 || p["kind"] != "supervisor" {
		t.Errorf("%s is shown as %v", sv, p)
	}
	if _, asks := rows[td]["approver"]; asks || len(rows) != 5 {
		t.Errorf("%d patterns, %s is shown as %v", len(rows), td, rows[td])
	}
}

// A pattern's limits have the names that the budget of its runs has.
func TestDescribeNamesLimitsAsRunsDo(t *testing.T) {
	s := serving(t)
	calls := map[string]string{
		td: goodCall, or: `{"goal":"x","report_date":"2026-02-26","region":"US","plan":{"tasks":[{"id":"a","worker":"sales_worker"}]}}`,
		rt: `{"ticket":"refund for user_id=42","route":{"target":"billing_specialist"}}`,
		sv: `{"goal":"x","actions":[{"name":"get_refund_context","args":{"user_id":42}},{"kind":"final","answer":"x"}]}`,
	}
	c := connect(t, s)
	listed, _ := c.call(arguments.CatalogTool, `{}`).result(t).Structured["patterns"].([]any)
	for _, p := range s.config.Patterns {
		shown := map[string]float64{}
		for _, row := range listed {
			if row, _ := row.(map[string]any); row["name"] == p.Spec.Name {
				limits, _ := row["budget"].(map[string]any)
				for name, limit := range limits {
					shown[name], _ = limit.(float64)
				}
			}
		}
		budget, _ := c.call(p.Spec.Name, calls[p.Spec.Name]).result(t).Structured["budget"].(map[string]any)
		of := map[string]float64{}
		for name, spent := range budget {
			of[name], _ = spent.(map[string]any)["limit"].(float64)
		}
		if diff := cmp.Diff(of, shown); diff != "" {
			t.Errorf("%s: limits (-of a run +shown):\n%s", p.Spec.Name, diff)
		}
	}
}

// Every fault of the arguments, in the contract's order.
func TestDescribeRefuses(t *testing.T) {
	many := mustJSON(slices.Repeat([]string{"issue_refund"}, 51))
	tests := map[string]struct {
		arguments string
		want      []string // reason, pointer and did_you_mean of each problem
		next      string   // as JSON
	}{
		"unknown":            {`{"tool":"x"}`, []string{"unknown_field:tool /tool "}, `{"action":"fix_and_retry","tool":"describe_catalog","say":"Fix these arguments, then call again: /tool: remove it or use a known name (one of pattern, names, query, cursor, limit)."}`},
		"a near name":        {`{"name":["issue_refund"]}`, []string{"unknown_field:name /name names"}, `{"action":"fix_and_retry","tool":"describe_catalog","arguments":{"names":["issue_refund"]},"changed":[{"pointer":"/name","from":["issue_refund"]},{"pointer":"/names","to":["issue_refund"]}],"fill":[]}`},
		"no object":          {`[]`, []string{"type:arguments  "}, ""},
		"repeated":           {`{"query":"a","query":"b"}`, []string{"type:query /query "}, ""},
		"pattern":            {`{"pattern":"route_tickets"}`, []string{"limit:pattern /pattern route_ticket"}, `{"action":"fix_and_retry","tool":"describe_catalog","arguments":{"pattern":"route_ticket"},"changed":[{"pointer":"/pattern","from":"route_tickets","to":"route_ticket"}],"fill":[]}`},
		"a tool's name":      {`{"pattern":"issue_refund"}`, []string{"limit:pattern /pattern "}, ""},
		"pattern a number":   {`{"pattern":1}`, []string{"type:pattern /pattern "}, ""},
		"names a number":     {`{"names":1}`, []string{"type:names /names "}, ""},
		"names an object":    {`{"names":{}}`, []string{"type:names /names "}, ""},
		"names a word":       {`{"names":"issue_refund"}`, []string{"type:names /names "}, ""},
		"a name is a number": {`{"names":["issue_refund",7]}`, []string{"type:names /names/1 "}, ""},
		"too many names":     {`{"names":` + many + `}`, []string{"limit:names /names "}, ""},
		"no such tool":       {`{"names":["pay"],"pattern":"route_ticket"}`, []string{"not_found:names /names/0 "}, `{"action":"call","tool":"describe_catalog","arguments":{}}`},
		"nearly a tool":      {`{"names":["issue_refunds"],"limit":3}`, []string{"not_found:names /names/0 issue_refund"}, `{"action":"call","tool":"describe_catalog","arguments":{"limit":3,"names":["issue_refund"]}}`},
		"query a list":       {`{"query":["a"]}`, []string{"type:query /query "}, ""},
		"query too large":    {`{"query":"` + strings.Repeat("x", 257) + `"}`, []string{"too_large:query /query "}, ""},
		"limit 0":            {`{"limit":0}`, []string{"limit:limit /limit "}, ""},
		"limit 101":          {`{"limit":101}`, []string{"limit:limit /limit "}, ""},
		"limit -1":           {`{"limit":-1}`, []string{"limit:limit /limit "}, ""},
		"limit 1.5":          {`{"limit":1.5}`, []string{"type:limit /limit "}, ""},
		"limit a text":       {`{"limit":"20"}`, []string{"type:limit /limit "}, `{"action":"fix_and_retry","tool":"describe_catalog","arguments":{"limit":20},"changed":[{"pointer":"/limit","from":"20","to":20}],"fill":[]}`},
		"limit true":         {`{"limit":true}`, []string{"type:limit /limit "}, ""},
		"limit 1e400":        {`{"limit":1e400}`, []string{"limit:limit /limit "}, ""},
		"cursor a number":    {`{"cursor":1}`, []string{"type:cursor /cursor "}, ""},
		"cursor made up":     {`{"cursor":"abc"}`, []string{"limit:cursor /cursor "}, ""},
		"all at once": {`{"more":1,"cursor":"abc","query":"` + strings.Repeat("x", 300) + `","names":["pay",1],"limit":1000,"pattern":5}`, []string{
			"unknown_field:more /more ", "type:pattern /pattern ", "type:names /names/1 ", "limit:limit /limit ", "too_large:query /query ", "not_found:names /names/0 "}, ""},
		"too large": {`{"query":"` + strings.Repeat("x", ijson.MaxBytes) + `"}`, []string{"too_large:arguments  "}, ""},
	}
	schema, err := catalog.CompileSchema(serving(t).catalog.Output())
	if err != nil {
		t.Fatal(err)
	}
	var log logBuffer
	c := connect(t, serving(t, logging(&log)))
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := c.call(arguments.CatalogTool, tt.arguments).result(t)
			problems, _ := r.Structured["problems"].([]any)
			var got []string
			for _, p := range problems {
				p := p.(map[string]any)
				mean, _ := p["did_you_mean"].(string)
				got = append(got, fmt.Sprintf("%s %s %s", p["reason"], p["pointer"], mean))
				if want, _ := p["want"].(string); want == "" || len(want) > 200 {
					t.Errorf("%s: want %q", p["reason"], want)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems of %.200s (-want +got):\n%s", tt.arguments, diff)
			}
			first, _, _ := strings.Cut(tt.want[0], " ")
			if !r.IsError || r.Structured["phase"] != "request" || r.Structured["stop_reason"] != "invalid_request:"+first {
				t.Errorf("isError %v, %v in phase %v", r.IsError, r.Structured["stop_reason"], r.Structured["phase"])
			}
			if wrong := schema.Check(r.Structured); len(wrong) > 0 || r.Structured["history"] != nil || r.Structured["trace"] != nil {
				t.Errorf("the refusal does not fit its schema, or has rows: %v: %v", wrong, r.Structured)
			}
			if next := string(ijson.Canonical(r.Structured["next"])); tt.next != "" && !ijson.Equal(decodedValue(t, tt.next), r.Structured["next"]) {
				t.Errorf("next is %s, want %s", next, tt.next)
			}
			checkOwnLines(t, textOf(r))
		})
	}
	if n := len(log.lines(t, "request refused")); n != len(tests) {
		t.Errorf("%d refusals are logged, want %d", n, len(tests))
	}
}

func decodedValue(t testing.TB, text string) any {
	t.Helper()
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// An empty filter filters nothing, whatever a client fills in for what it does not use.
func TestDescribeEmptyFilters(t *testing.T) {
	c := connect(t, serving(t))
	for _, sent := range []string{
		`null`, `{}`, `{"pattern":null,"names":null,"query":null,"cursor":null,"limit":null}`, `{"pattern":"","names":[],"query":" ","cursor":""}`,
		`{"names":"[]"}`, `{"names":" "}`, `{"query":"?! -"}`, `{"query":"the tools for it"}`, `{"limit":20.0}`,
	} {
		r := c.call(arguments.CatalogTool, sent).result(t)
		if names := namesIn(r); len(names) != 14 || r.Structured["status"] != "ok" {
			t.Errorf("%s lists %v: %v", sent, names, r.Structured["problems"])
		}
	}
}

func TestDescribeFinds(t *testing.T) {
	tests := map[string]struct {
		arguments string
		want      string // names
		summary   string
	}{
		"a pattern":              {`{"pattern":"supervised_refund"}`, "get_refund_context issue_refund send_refund_email", "3 tools found."},
		"names":                  {`{"names":["issue_refund","fetch_sales_data","issue_refund"]}`, "fetch_sales_data issue_refund", "2 tools found."},
		"names as text":          {`{"names":"[\"issue_refund\"]"}`, "issue_refund", "1 tool found."},
		"names of another":       {`{"names":["issue_refund"],"pattern":"route_ticket"}`, "", "The pattern cannot use any of these tools."},
		"a word":                 {`{"query":"inventory"}`, "inventory_worker", "1 tool found."},
		"any case":               {`{"query":"INVENTORY"}`, "inventory_worker", "1 tool found."},
		"of a name":              {`{"query":"detect_risk_signals"}`, "detect_risk_signals", "1 tool found."},
		"the beginning of one":   {`{"query":"invent"}`, "inventory_worker", "1 tool found."},
		"its longer form":        {`{"query":"emails"}`, "send_refund_email", "1 tool found."},
		"not within a word":      {`{"query":"ventory"}`, "", "None of these tools matches a word of the query."},
		"all words":              {`{"query":"daily sales"}`, "fetch_sales_data", "1 tool found."},
		"fillers do not count":   {`{"query":"get the daily sales for a month"}`, "fetch_sales_data", "1 tool found."},
		"most words":             {`{"query":"email my grandmother"}`, "send_refund_email", "1 tool found. No tool matches all 2 words of the query. These match 1."},
		"in a pattern":           {`{"query":"refund","pattern":"run_task_decomposition"}`, "calculate_monthly_kpis detect_risk_signals fetch_refund_data", "3 tools found."},
		"in names":               {`{"query":"refund","names":["fetch_sales_data","fetch_refund_data"]}`, "fetch_refund_data", "1 tool found."},
		"nothing":                {`{"query":"zebra"}`, "", "None of these tools matches a word of the query."},
		"bidi and control marks": {`{"query":"\u202einventory\u0000"}`, "inventory_worker", "1 tool found."},
	}
	c := connect(t, serving(t))
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := c.call(arguments.CatalogTool, tt.arguments).result(t)
			if got := strings.Join(namesIn(r), " "); got != tt.want || r.Structured["summary"] != tt.summary {
				t.Errorf("%s finds %q, %q; want %q, %q", tt.arguments, got, r.Structured["summary"], tt.want, tt.summary)
			}
			patterns := map[string]bool{}
			for _, row := range r.Structured["patterns"].([]any) {
				patterns[row.(map[string]any)["name"].(string)] = true
			}
			for _, name := range namesIn(r) {
				for _, p := range toolNamedIn(t, r, name)["patterns"].([]any) {
					if !patterns[p.(string)] {
						t.Errorf("%s may be used by %s, which is not shown: %v", name, p, patterns)
					}
				}
			}
			checkOwnLines(t, textOf(r))
		})
	}
}

// answered is the answer to a call of a principal's without a transport.
func answered(t testing.TB, s *Server, principal, arguments string) *mcp.CallToolResult {
	t.Helper()
	req := mcp.CallToolRequest{Params: mcp.CallToolParams{RawArguments: json.RawMessage(arguments)}}
	shown, err := s.catalog.Handle(transport.WithPrincipal(context.Background(), principal), req)
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	return shown
}

// asking makes calls of a principal's without a transport.
func asking(t testing.TB, s *Server, principal, arguments string) result {
	t.Helper()
	shown := answered(t, s, principal, arguments)
	var r result
	if err := json.Unmarshal([]byte(mustJSON(shown)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A cursor leads on through the same list, and is good for nothing else.
func TestDescribePages(t *testing.T) {
	s := serving(t)
	var walked []string
	cursor := ""
	for range 20 {
		r := asking(t, s, "token:a", `{"limit":4,"cursor":"`+cursor+`"}`)
		walked = append(walked, namesIn(r)...)
		cursor, _ = r.Structured["next_cursor"].(string)
		if (cursor != "") != strings.HasSuffix(textOf(r), "\nNEXT_CURSOR "+cursor) {
			t.Errorf("next_cursor %q, the text ends %q", cursor, textOf(r)[len(textOf(r))-60:])
		}
		if cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(namesIn(asking(t, s, "token:a", `{"limit":100}`)), walked); diff != "" {
		t.Errorf("the pages together (-want +got):\n%s", diff)
	}

	ours, _ := asking(t, s, "token:a", `{"limit":4,"query":"refund"}`).Structured["next_cursor"].(string)
	if ours == "" {
		t.Fatal("no cursor")
	}
	again := func(principal, rest, cursor string) bool {
		return asking(t, s, principal, `{`+rest+`"cursor":`+mustJSON(cursor)+`}`).Structured["stop_reason"] == "success"
	}
	for _, same := range []string{`"query":"refund",`, `"query":" The REFUND! ",`, `"query":"refund","limit":1,`} {
		if !again("token:a", same, ours) {
			t.Errorf("with %s the cursor is refused", same)
		}
	}
	for name, other := range map[string][3]string{
		"another principal": {"token:b", `"query":"refund",`, ours}, "no filter": {"token:a", ``, ours},
		"another query": {"token:a", `"query":"sales",`, ours}, "a pattern": {"token:a", `"query":"refund","pattern":"supervised_refund",`, ours},
		"a line end": {"token:a", `"query":"refund",`, ours + "\n"}, "padding": {"token:a", `"query":"refund",`, ours + "="},
		"cut": {"token:a", `"query":"refund",`, ours[:len(ours)-1]}, "hidden": {"token:a", `"query":"refund",`, "\u202e" + ours},
		"long": {"token:a", `"query":"refund",`, strings.Repeat(ours, 10_000)},
	} {
		if again(other[0], other[1], other[2]) {
			t.Errorf("%s: the cursor is taken", name)
		}
	}
	for i := range ours {
		forged := []byte(ours)
		forged[i] ^= 1
		if again("token:a", `"query":"refund",`, string(forged)) {
			t.Errorf("with character %d changed the cursor is taken", i)
		}
	}
	if other := serving(t); asking(t, other, "token:a", `{"query":"refund","cursor":"`+ours+`"}`).Structured["stop_reason"] != "invalid_request:limit:cursor" {
		t.Error("the cursor of another process is taken")
	}
}
