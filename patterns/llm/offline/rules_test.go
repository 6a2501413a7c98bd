package offline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
)

// toolOf makes a tool of one line: name, effect, description and properties as JSON; all properties are required unless
// their name ends with "?".
func toolOf(t testing.TB, name string, effect catalog.Effect, description, properties string) catalog.Tool {
	t.Helper()
	v, err := ijson.Decode([]byte(properties))
	if err != nil {
		t.Fatalf("properties of %s: %v", name, err)
	}
	shown, required := map[string]any{}, []any{}
	for p, schema := range v.(map[string]any) {
		if plain, optional := strings.CutSuffix(p, "?"); optional {
			shown[plain] = schema
			continue
		}
		shown[p] = schema
		required = append(required, p)
	}
	slices.SortFunc(required, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return invented(t, []inventedTool{{Name: name, Effect: effect, Description: description, Input: map[string]any{
		"type": "object", "additionalProperties": false, "properties": shown, "required": required,
	}}})[0]
}

// firstAction is the first call that rules with all tools propose for a goal: name and arguments, or the fault, or "final".
func firstAction(t testing.TB, goal string, tools ...catalog.Tool) string {
	t.Helper()
	rules := offline.New()
	rules.WriteTools = true
	text, fault := ask(t, rules, patterns.Question{Ask: patterns.AskAction, Tools: tools,
		Payload: map[string]any{"goal": goal, "state_summary": map[string]any{}}})
	if fault != "" {
		return fault
	}
	v, _ := ijson.Decode([]byte(text))
	if v.(map[string]any)["kind"] == "final" {
		return "final"
	}
	return string(ijson.Canonical(v.(map[string]any)["args"]))
}

// One argument of one reading tool, and what of the goal fills it.
func TestRulesFillArguments(t *testing.T) {
	const missing = "goal_incomplete:show_gadget.x"
	for name, c := range map[string]struct{ property, goal, want string }{
		"named with =":         {`"van_id": {"type": "integer"}`, "show gadget, van_id=7", `{"van_id":7}`},
		"named with colon":     {`"van_id": {"type": "integer"}`, "show the gadget with van id: 7", `{"van_id":7}`},
		"its head":             {`"van_id": {"type": "integer"}`, "show gadget of van no. 7", `{"van_id":7}`},
		"text id":              {`"van_id": {"type": "string"}`, "show gadget of van A-7", `{"van_id":"A-7"}`},
		"kin of the head":      {`"user_id": {"type": "integer"}`, "show gadget of customer 7", `{"user_id":7}`},
		"thousands":            {`"van_id": {"type": "integer"}`, "show gadget of van 1,234", `{"van_id":1234}`},
		"no fraction":          {`"x": {"type": "integer"}`, "show gadget x 7.5", missing},
		"a number alone":       {`"x": {"type": "integer"}`, "show 7 gadgets", missing},
		"too large":            {`"x": {"type": "integer"}`, "show gadget x=99999999999999999999", missing},
		"pattern":              {`"ref": {"type": "string", "pattern": "^R-[0-9]{3}$"}`, "show gadget (R-123)", `{"ref":"R-123"}`},
		"pattern in capitals":  {`"ref": {"type": "string", "pattern": "^R-[0-9]{3}$"}`, "show gadget r-123", `{"ref":"R-123"}`},
		"pattern not met":      {`"x": {"type": "string", "pattern": "^R-[0-9]{3}$"}`, "show gadget x R-12", missing},
		"pattern of a path":    {`"path": {"type": "string", "pattern": "^/srv/a/R-[0-9]{3}\\.json$"}`, "show gadget R-123", `{"path":"/srv/a/R-123.json"}`},
		"form of the example":  {`"ref": {"type": "string", "examples": ["INV-1"]}`, "show gadget INV-77", `{"ref":"INV-77"}`},
		"form in description":  {`"ref": {"type": "string", "description": "Reference, like INV-1."}`, "show gadget INV-77", `{"ref":"INV-77"}`},
		"example is no value":  {`"x": {"type": "string", "examples": ["INV-1"]}`, "show gadget", missing},
		"default is no value":  {`"x": {"type": "integer", "default": 3}`, "show gadget", missing},
		"only one allowed":     {`"x": {"type": "string", "enum": ["a"]}`, "show gadget", `{"x":"a"}`},
		"enum":                 {`"x": {"type": "string", "enum": ["red", "dark_blue"]}`, "show the dark blue gadget", `{"x":"dark_blue"}`},
		"enum by one word":     {`"x": {"type": "string", "enum": ["dr_hale", "dr_osei"]}`, "show gadget of Osei", `{"x":"dr_osei"}`},
		"us is not US":         {`"x": {"type": "string", "enum": ["US", "EU"]}`, "show us the gadget", missing},
		"US is US":             {`"x": {"type": "string", "enum": ["US", "EU"]}`, "show the US gadget", `{"x":"US"}`},
		"date":                 {`"x": {"type": "string", "format": "date"}`, "show gadget of 4 May 2027", `{"x":"2027-05-04"}`},
		"month by spelling":    {`"x": {"type": "string", "description": "as YYYY-MM"}`, "show gadget of May 2027", `{"x":"2027-05"}`},
		"month of a day":       {`"month": {"type": "string"}`, "show gadget of 2027-05-04", `{"month":"2027-05"}`},
		"a month is no day":    {`"x": {"type": "string", "format": "date"}`, "show gadget of May 2027", missing},
		"no year, no month":    {`"x": {"type": "string", "description": "as YYYY-MM"}`, "show gadget of May", missing},
		"year":                 {`"year": {"type": "integer"}`, "show gadget of May 2027", `{"year":2027}`},
		"clock":                {`"time": {"type": "string"}`, "show gadget at 14:30", `{"time":"14:30"}`},
		"money":                {`"amount_usd": {"type": "number"}`, "show gadget for $2.50", `{"amount_usd":2.5}`},
		"other currency":       {`"amount_usd": {"type": "number"}`, "show gadget for 5 EUR", "goal_incomplete:show_gadget.amount_usd"},
		"cents":                {`"amount_cents": {"type": "integer"}`, "show gadget for 2.50 EUR", `{"amount_cents":250}`},
		"currency":             {`"currency": {"type": "string"}`, "show gadget for 5 EUR", `{"currency":"EUR"}`},
		"unit":                 {`"duration_hours": {"type": "number"}`, "show gadget for three hours", `{"duration_hours":3}`},
		"unit in description":  {`"quantity": {"type": "integer", "description": "how many boxes"}`, "show gadget: 5 boxes", `{"quantity":5}`},
		"other unit":           {`"x": {"type": "integer", "description": "how many boxes"}`, "show gadget for 5 days", missing},
		"email":                {`"x": {"type": "string", "format": "email"}`, "show gadget of ann@example.org", `{"x":"ann@example.org"}`},
		"link":                 {`"url": {"type": "string"}`, "show gadget at https://example.org/a?b=c", `{"url":"https://example.org/a?b=c"}`},
		"path":                 {`"path": {"type": "string"}`, "show gadget notes/today.txt", `{"path":"notes/today.txt"}`},
		"flag":                 {`"urgent": {"type": "boolean"}`, "show urgent gadget", `{"urgent":true}`},
		"flag not named":       {`"x": {"type": "boolean"}`, "show gadget", missing},
		"name after a cue":     {`"customer_name": {"type": "string"}`, "show gadget of customer Lena Brandt", `{"customer_name":"Lena Brandt"}`},
		"place":                {`"city": {"type": "string"}`, "show gadget in Łódź", `{"city":"Łódź"}`},
		"quoted query":         {`"query": {"type": "string"}`, `show gadget "bee keeping"`, `{"query":"bee keeping"}`},
		"query after about":    {`"query": {"type": "string"}`, "show gadget about bee keeping", `{"query":"bee keeping"}`},
		"optional, not said":   {`"x?": {"type": "string"}`, "show gadget", `{}`},
		"optional, not stated": {`"day?": {"type": "string", "format": "date"}`, "show gadget since 2027-05-04", `{}`},
		"list":                 {`"x": {"type": "array", "items": {"type": "string"}}`, "show gadget x a, b", missing},
		"schema's own bound":   {`"x": {"type": "integer", "maximum": 5}`, "show gadget x=7", missing},
	} {
		t.Run(name, func(t *testing.T) {
			tool := toolOf(t, "show_gadget", catalog.Read, "Show the gadget.", "{"+c.property+"}")
			if got := firstAction(t, c.goal, tool); got != c.want {
				t.Errorf("goal %q for {%s}: got %s, want %s", c.goal, c.property, got, c.want)
			}
		})
	}
}

// Two like arguments of one tool do not get the same value, and a call that changes something gets none of several.
func TestRulesDoNotGuessBetweenValues(t *testing.T) {
	move := toolOf(t, "move_stock", catalog.Write, "Move stock between stores.",
		`{"from_store": {"type": "string", "pattern": "^S[0-9]+$"}, "to_store": {"type": "string", "pattern": "^S[0-9]+$"}}`)
	pay := toolOf(t, "pay_bill", catalog.Write, "Pay a bill.", `{"bill_id": {"type": "integer"}, "amount_usd": {"type": "number"}}`)
	rent := toolOf(t, "rent_van", catalog.Write, "Rent a van.",
		`{"start_date": {"type": "string", "format": "date"}, "end_date": {"type": "string", "format": "date"}}`)
	for name, c := range map[string]struct {
		tool       catalog.Tool
		goal, want string
	}{
		"from and to":        {move, "Move stock to S7 from S3", `{"from_store":"S3","to_store":"S7"}`},
		"only from":          {move, "Move stock from S3", "goal_incomplete:move_stock.to_store"},
		"start and end":      {rent, "Rent a van from 2027-05-04 to 2027-05-09", `{"end_date":"2027-05-09","start_date":"2027-05-04"}`},
		"only one day":       {rent, "Rent a van from 2027-05-04", "goal_incomplete:rent_van.end_date"},
		"two bills":          {pay, "Pay bills 3 and 4, 20 USD", "goal_incomplete:pay_bill.bill_id"},
		"two amounts":        {pay, "Pay bill 3, 20 USD or 30 USD", "goal_incomplete:pay_bill.amount_usd"},
		"amount of the bill": {pay, "Bill 3 was 90 USD. Pay 20 USD", `{"amount_usd":20,"bill_id":3}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := firstAction(t, c.goal, c.tool); got != c.want {
				t.Errorf("goal %q: got %s, want %s", c.goal, got, c.want)
			}
		})
	}
}

// Which goals ask for a change. Words that a tool merely shares with a goal do not.
func TestRulesProposeWritesOnlyOnRequest(t *testing.T) {
	tools := []catalog.Tool{
		toolOf(t, "get_booking", catalog.Read, "Show a booking.", `{"ref": {"type": "string", "pattern": "^B[0-9]+$"}}`),
		toolOf(t, "cancel_booking", catalog.Destructive, "Cancel a booking.", `{"ref": {"type": "string", "pattern": "^B[0-9]+$"}}`),
	}
	rules := offline.New()
	rules.WriteTools = true
	for name, c := range map[string]struct {
		goal string
		want bool
	}{
		"order":         {"Cancel booking B7", true},
		"courtesy":      {"could you please cancel the booking B7?", true},
		"passive":       {"Booking B7 is to be cancelled", true},
		"question":      {"Has booking B7 been cancelled?", false},
		"report":        {"Booking B7 was cancelled, show it", false},
		"show":          {"Show the cancelled booking B7", false},
		"denied":        {"Show booking B7 but do not cancel it", false},
		"without":       {"Look at booking B7 without cancelling anything", false},
		"quoted":        {`Show booking B7 titled "cancel this"`, false},
		"reason":        {"Show booking B7 because we cancel often", false},
		"only the noun": {"What does booking B7 cost", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := tryActions(t, rules, tools, intendedCalls{Goal: c.goal})
			got := slices.ContainsFunc(a.calls, func(p proposed) bool { return p.tool == "cancel_booking" })
			if got != c.want || a.wrong != "" {
				t.Errorf("goal %q: cancels %v, want %v (%s)", c.goal, got, c.want, a)
			}
		})
	}
}

// Outside the make-believe catalog a tool that changes something is proposed only where the configuration says so.
func TestRulesWriteTools(t *testing.T) {
	w := readWorlds(t, "goals")["library"]
	g := w.Goals[slices.IndexFunc(w.Goals, func(g intendedCalls) bool { return slices.Contains(g.Want, "place_hold") })]
	for name, c := range map[string]struct{ demo, write, want bool }{
		"own tool":                 {false, false, false},
		"make-believe":             {true, false, true},
		"own tool, configured":     {false, true, true},
		"make-believe, configured": {true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			tools := invented(t, w.Tools)
			for i := range tools {
				tools[i].Simulated = c.demo
			}
			rules := offline.New()
			rules.WriteTools = c.write
			g := intendedCalls{Goal: g.Goal}
			a := tryActions(t, rules, tools, g)
			got := slices.ContainsFunc(a.calls, func(p proposed) bool { return p.tool == "place_hold" })
			if got != c.want || len(a.calls) == 0 {
				t.Errorf("goal %q: place_hold proposed %v, want %v (%s)", g.Goal, got, c.want, a)
			}
		})
	}
}

// A run whose first call fails ends in words, also where a tool was wanted that these rules may not propose.
func TestRulesEndOnFailure(t *testing.T) {
	tools := []catalog.Tool{
		toolOf(t, "get_booking", catalog.Read, "Show a booking.", `{"ref": {"type": "string", "pattern": "^B[0-9]+$"}}`),
		toolOf(t, "cancel_booking", catalog.Destructive, "Cancel a booking.", `{"ref": {"type": "string", "pattern": "^B[0-9]+$"}}`),
	}
	text, fault := ask(t, offline.New(), patterns.Question{Ask: patterns.AskAction, Tools: tools, Payload: map[string]any{
		"goal": "Cancel booking B7", "state_summary": map[string]any{"steps_completed": 1.0, "tools_used": []any{"get_booking"},
			"last_step": map[string]any{"executed_action": map[string]any{"name": "get_booking", "args": map[string]any{"ref": "B7"}},
				"observation": map[string]any{"error": "booking_not_found"}}}}})
	if !strings.Contains(text, "booking_not_found") || !strings.Contains(text, "Not proposed: cancel booking") {
		t.Errorf("after a failure: %s%s, want the failure and what was not proposed", text, fault)
	}
}

// The same question has the same text, whatever was asked before, in which order maps are walked, and how many ask.
func TestRulesAreDeterministic(t *testing.T) {
	rules := offline.New()
	rules.WriteTools = true
	type question struct {
		q    patterns.Question
		want string
	}
	var all []question
	for _, w := range readWorlds(t, "goals") {
		for _, g := range w.Goals {
			tools := map[patterns.Ask][]inventedTool{
				patterns.AskPlan: w.Tools, patterns.AskAction: w.Tools, patterns.AskTasks: w.Workers, patterns.AskRoute: w.Routes,
			}[g.Pattern]
			payload := map[string]any{"goal": g.Goal, "report_date": "2026-04-21", "region": "US"}
			q := patterns.Question{Ask: g.Pattern, Payload: payload, Tools: invented(t, tools)}
			all = append(all, question{q, outcome(llmFresh(), q)})
		}
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, x := range all {
				if got := outcome(rules, x.q); got != x.want {
					t.Errorf("Ask(%s %q) = %s, before %s", x.q.Ask, x.q.Payload["goal"], got, x.want)
				}
			}
		})
	}
	wg.Wait()
}

func llmFresh() *offline.Rules {
	rules := offline.New()
	rules.WriteTools = true
	return rules
}

// outcome is an answer or a fault as text.
func outcome(m patterns.Model, q patterns.Question) string {
	a, err := m.Ask(context.Background(), q)
	var f *patterns.ModelFault
	if errors.As(err, &f) {
		return fmt.Sprint(f.Reason, f.Say, f.Candidates)
	}
	return fmt.Sprint(a.Text, err)
}

func TestRulesRoute(t *testing.T) {
	tools := demoTools(t, demo.Specialists)
	for name, c := range map[string]struct {
		ticket    string
		forbidden []any
		want      string
	}{
		"the demo's ticket":        {demo.RoutingTicket, nil, "billing_specialist"},
		"declined already":         {"My invoice shows an error", []any{"billing_specialist"}, "technical_specialist"},
		"nothing in common":        {"Good morning to you all", nil, "route_unclear"},
		"all that fit are used up": {"My invoice is wrong", []any{"billing_specialist"}, "route_unclear"},
		"empty":                    {"", nil, "route_unclear"},
	} {
		t.Run(name, func(t *testing.T) {
			text, got := ask(t, offline.New(), patterns.Question{Ask: patterns.AskRoute, Tools: tools,
				Payload: map[string]any{"goal": c.ticket, "forbidden_targets": c.forbidden}})
			if got == "" {
				v, _ := ijson.Decode([]byte(text))
				route := v.(map[string]any)
				got, _ = route["target"].(string)
				if diff := cmp.Diff(map[string]any{"ticket": ijson.Words(c.ticket)}, route["args"]); diff != "" {
					t.Errorf("args (-want +got):\n%s", diff)
				}
			}
			if got != c.want {
				t.Errorf("route of %q without %v: got %s, want %s", c.ticket, c.forbidden, got, c.want)
			}
		})
	}
}

func TestRulesDoNotBreakTies(t *testing.T) {
	ticket := `{"ticket": {"type": "string"}}`
	tools := []catalog.Tool{
		toolOf(t, "red_desk", catalog.Read, "Apples and plums.", ticket),
		toolOf(t, "blue_desk", catalog.Read, "Pears and plums.", ticket),
	}
	_, err := offline.New().Ask(context.Background(), patterns.Question{Ask: patterns.AskRoute, Tools: tools,
		Payload: map[string]any{"goal": "I want plums"}})
	var fault *patterns.ModelFault
	if !errors.As(err, &fault) || fault.Reason != "route_unclear" {
		t.Fatalf("route of plums: %v, want route_unclear", err)
	}
	if diff := cmp.Diff([]string{"red_desk", "blue_desk"}, fault.Candidates); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
}

// A cancelled question has no answer.
func TestRulesEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := offline.New().Ask(ctx, patterns.Question{Ask: patterns.AskAnswer}); !errors.Is(err, context.Canceled) {
		t.Errorf("Ask after cancel: %v, want context.Canceled", err)
	}
	if _, err := offline.New().Ask(context.Background(), patterns.Question{Ask: "poem"}); err == nil {
		t.Error("Ask for a poem: no error")
	}
}

// No name of a make-believe tool and no phrase of its goals stands in the planner: nothing is keyed to a known task.
func TestRulesKnowNoTool(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "english/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var known []string
	for _, list := range [][]string{demo.DecompositionTools, demo.OrchestratorWorkers, demo.Specialists, demo.RefundTools} {
		known = append(known, list...)
	}
	for _, goal := range []string{demo.DecompositionGoal, demo.OrchestratorGoal, demo.RoutingTicket, demo.RefundGoal} {
		list := strings.Fields(strings.ToLower(goal))
		for i := range list[2:] {
			known = append(known, strings.Join(list[i:i+3], " "))
		}
	}
	for _, w := range readWorlds(t, "goals") {
		for _, tool := range slices.Concat(w.Tools, w.Workers, w.Routes) {
			if strings.Contains(tool.Name, "_") {
				known = append(known, tool.Name)
			}
		}
	}
	read := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read++
		for _, k := range known {
			if strings.Contains(strings.ToLower(string(text)), k) {
				t.Errorf("%s holds %q", file, k)
			}
		}
	}
	if read < 20 || len(known) < 50 {
		t.Errorf("read %d files for %d strings; the test looks in the wrong place", read, len(known))
	}
}
