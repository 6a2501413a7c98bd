package demo_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/ijson"
)

func tools(t testing.TB, cfg demo.Config) *catalog.Catalog {
	t.Helper()
	list, err := demo.Tools(cfg)
	if err != nil {
		t.Fatalf("Tools(%+v): %v", cfg, err)
	}
	c, err := catalog.New(list...)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return c
}

func decode(t testing.TB, text string) any {
	t.Helper()
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("Decode(%s): %v", text, err)
	}
	return v
}

// call calls a tool as the gate would: arguments that fit, a key, a first attempt.
func call(t testing.TB, c *catalog.Catalog, name, args string) any {
	t.Helper()
	tool, ok := c.Tool(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	decoded := decode(t, args).(map[string]any)
	if faults := tool.Input.Check(decoded); faults != nil {
		t.Fatalf("%s: Check(%s) = %v", name, args, faults)
	}
	result, err := tool.Do(t.Context(), catalog.Call{Args: decoded, Key: "run_1/step_1", Attempt: 1})
	if err != nil {
		t.Fatalf("%s(%s): %v", name, args, err)
	}
	if faults := tool.Output.Check(result); faults != nil {
		t.Errorf("%s(%s): the result does not fit its schema: %v", name, args, faults)
	}
	return result
}

func TestCatalogOfTheReference(t *testing.T) {
	c := tools(t, demo.Config{})
	want := slices.Concat(demo.DecompositionTools, demo.OrchestratorWorkers, demo.Specialists, demo.RefundTools)
	if diff := cmp.Diff(want, c.Names()); diff != "" {
		t.Errorf("Names() (-want +got):\n%s", diff)
	}
	writes := []string{"issue_refund", "send_refund_email"}
	for _, name := range c.Names() {
		tool, _ := c.Tool(name)
		effect := catalog.Read
		if slices.Contains(writes, name) {
			effect = catalog.Write
		}
		if tool.Effect != effect || !tool.Idempotent || !tool.Simulated {
			t.Errorf("%s: effect %s, idempotent %v, simulated %v; want %s, true, true", name, tool.Effect, tool.Idempotent, tool.Simulated, effect)
		}
		if tool.Title == "" || tool.Description == "" || len(tool.Description) > 300 {
			t.Errorf("%s: title %q, description of %d bytes", name, tool.Title, len(tool.Description))
		}
		if faults := tool.Input.Check(tool.Input.Example()); faults != nil {
			t.Errorf("%s: its example does not fit: %v", name, faults)
		}
		for _, keyword := range []string{"pattern", "enum", "minLength", "maxLength", "minimum", "maximum", "format", "x-spelling"} {
			if strings.Contains(string(tool.Input.JSON()), `"`+keyword+`"`) {
				t.Errorf("%s: input schema has %s; only types, missing and unknown are checked: %s", name, keyword, tool.Input.JSON())
			}
		}
	}
}

func TestSignatures(t *testing.T) {
	c := tools(t, demo.Config{})
	want := map[string]string{
		"get_manager_profile":    "get_manager_profile {manager_id: integer}",
		"fetch_sales_data":       "fetch_sales_data {month: YYYY-MM}",
		"fetch_refund_data":      "fetch_refund_data {month: YYYY-MM}",
		"calculate_monthly_kpis": "calculate_monthly_kpis {month: YYYY-MM}",
		"detect_risk_signals":    "detect_risk_signals {month: YYYY-MM}",
		"sales_worker":           "sales_worker {report_date: YYYY-MM-DD, region: string}",
		"payments_worker":        "payments_worker {report_date: YYYY-MM-DD, region: string}",
		"inventory_worker":       "inventory_worker {report_date: YYYY-MM-DD, region: string}",
		"billing_specialist":     "billing_specialist {ticket: string}",
		"technical_specialist":   "technical_specialist {ticket: string}",
		"sales_specialist":       "sales_specialist {ticket: string}",
		"get_refund_context":     "get_refund_context {user_id: integer}",
		"issue_refund":           "issue_refund {user_id: integer, amount_usd: number, reason?: string}",
		"send_refund_email":      "send_refund_email {user_id: integer, amount_usd: number, message: string}",
	}
	got := map[string]string{}
	for _, name := range c.Names() {
		tool, _ := c.Tool(name)
		got[name] = tool.Signature("request_id")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Signature(request_id) (-want +got):\n%s", diff)
	}
}

func TestResults(t *testing.T) {
	tests := map[string]struct{ tool, args, want string }{
		"manager 42":        {"get_manager_profile", `{"manager_id":42}`, `{"manager":{"id":42,"name":"Anna","region":"US","team":"Retail East"}}`},
		"manager 42.0":      {"get_manager_profile", `{"manager_id":42.0}`, `{"manager":{"id":42,"name":"Anna","region":"US","team":"Retail East"}}`},
		"manager 7":         {"get_manager_profile", `{"manager_id":7}`, `{"manager":{"id":7,"name":"Max","region":"US","team":"Retail West"}}`},
		"no manager":        {"get_manager_profile", `{"manager_id":99}`, `{"error":"manager 99 not found"}`},
		"no manager 99.0":   {"get_manager_profile", `{"manager_id":9.9e1}`, `{"error":"manager 99 not found"}`},
		"no manager -1":     {"get_manager_profile", `{"manager_id":-1}`, `{"error":"manager -1 not found"}`},
		"no manager 2^53-1": {"get_manager_profile", `{"manager_id":9007199254740991}`, `{"error":"manager 9007199254740991 not found"}`},
		"sales":             {"fetch_sales_data", `{"month":"2026-04"}`, `{"month":"2026-04","currency":"USD","daily_sales":[{"day":"2026-04-01","gross_usd":5200,"orders":120},{"day":"2026-04-02","gross_usd":4890,"orders":113},{"day":"2026-04-03","gross_usd":6105,"orders":141},{"day":"2026-04-04","gross_usd":5580,"orders":127},{"day":"2026-04-05","gross_usd":6420,"orders":149}]}`},
		"no sales":          {"fetch_sales_data", `{"month":"2026-05"}`, `{"error":"sales data for 2026-05 not found"}`},
		"month is not cut":  {"fetch_sales_data", `{"month":" 2026-04"}`, `{"error":"sales data for  2026-04 not found"}`},
		"refunds":           {"fetch_refund_data", `{"month":"2026-04"}`, `{"month":"2026-04","currency":"USD","daily_refunds":[{"day":"2026-04-01","refunds_usd":140},{"day":"2026-04-02","refunds_usd":260},{"day":"2026-04-03","refunds_usd":210},{"day":"2026-04-04","refunds_usd":590},{"day":"2026-04-05","refunds_usd":170}]}`},
		"no refunds":        {"fetch_refund_data", `{"month":""}`, `{"error":"refund data for  not found"}`},
		"kpis":              {"calculate_monthly_kpis", `{"month":"2026-04"}`, `{"month":"2026-04","currency":"USD","gross_sales_usd":28195.0,"refunds_usd":1370.0,"net_sales_usd":26825.0,"orders":650,"refund_rate":0.0486,"top_sales_day":"2026-04-05"}`},
		"no kpis":           {"calculate_monthly_kpis", `{"month":"x"}`, `{"error":"kpi inputs for x not found"}`},
		"risks":             {"detect_risk_signals", `{"month":"2026-04"}`, `{"month":"2026-04","currency":"USD","risk_warnings":["Refund spike detected on 2026-04-04: 590.0 USD"],"peak_refund_day":{"day":"2026-04-04","refunds_usd":590.0}}`},
		"no risks":          {"detect_risk_signals", `{"month":"x"}`, `{"error":"refund data for x not found"}`},
		"sales day":         {"sales_worker", `{"report_date":"2026-02-26","region":"US"}`, `{"status":"done","worker":"sales_worker","result":{"gross_sales_usd":182450.0,"orders":4820,"aov_usd":37.85}}`},
		"lower-case region": {"sales_worker", `{"report_date":"2026-02-26","region":"us","request_id":"r"}`, `{"status":"done","worker":"sales_worker","result":{"gross_sales_usd":182450.0,"orders":4820,"aov_usd":37.85}}`},
		"padded region":     {"sales_worker", `{"report_date":"2026-02-26","region":"US "}`, `{"status":"done","worker":"sales_worker","result":{"warning":"sales_data_missing"}}`},
		"other day":         {"sales_worker", `{"report_date":"yesterday","region":"US"}`, `{"status":"done","worker":"sales_worker","result":{"warning":"sales_data_missing"}}`},
		"payments day":      {"payments_worker", `{"report_date":"2026-02-26","region":"US"}`, `{"status":"done","worker":"payments_worker","result":{"failed_payment_rate":0.023,"chargeback_alerts":3,"gateway_incident":"none"}}`},
		"no payments":       {"payments_worker", `{"report_date":"2026-02-26","region":"EU"}`, `{"status":"done","worker":"payments_worker","result":{"warning":"payments_data_missing"}}`},
		"inventory day":     {"inventory_worker", `{"report_date":"2026-02-26","region":"US"}`, `{"status":"done","worker":"inventory_worker","result":{"low_stock_skus":["SKU-4411","SKU-8820"],"out_of_stock_skus":["SKU-9033"],"restock_eta_days":2}}`},
		"no inventory":      {"inventory_worker", `{"report_date":"","region":""}`, `{"status":"done","worker":"inventory_worker","result":{"warning":"inventory_data_missing"}}`},
		"billing of 42":     {"billing_specialist", `{"ticket":"refund for user_id=42"}`, `{"status":"done","domain":"billing","result":{"user_name":"Anna","plan":"pro_monthly","currency":"USD","refund_eligible":true,"refund_amount_usd":49.0,"reason":"Pro monthly subscriptions are refundable within 14 days."}}`},
		"billing of 7":      {"billing_specialist", `{"ticket":"refund for user_id=7"}`, `{"status":"done","domain":"billing","result":{"user_name":"Max","plan":"free","currency":"USD","refund_eligible":false,"refund_amount_usd":0.0,"reason":"Pro monthly subscriptions are refundable within 14 days."}}`},
		"billing of nobody": {"billing_specialist", `{"ticket":"refund"}`, `{"status":"done","domain":"billing","result":{"error":"user_not_found"}}`},
		"not billing":       {"billing_specialist", `{"ticket":"the api is down"}`, `{"status":"needs_reroute","reason":"ticket_not_billing","domain":"billing"}`},
		"technical":         {"technical_specialist", `{"ticket":"the api is down"}`, `{"status":"done","domain":"technical","result":{"incident_id":"INC-4021","service":"public-api","state":"mitigated","next_update_in_minutes":30}}`},
		"not technical":     {"technical_specialist", `{"ticket":"refund"}`, `{"status":"needs_reroute","reason":"ticket_not_technical","domain":"technical"}`},
		"sales ticket":      {"sales_specialist", `{"ticket":"a quote, please"}`, `{"status":"done","domain":"sales","result":{"recommended_plan":"team_plus","currency":"USD","monthly_price_usd":199.0,"reason":"Best fit for teams that need priority support and usage controls."}}`},
		"not sales":         {"sales_specialist", `{"ticket":""}`, `{"status":"needs_reroute","reason":"ticket_not_sales","domain":"sales"}`},
		"context of 42":     {"get_refund_context", `{"user_id":42}`, `{"user":{"id":42,"name":"Anna","country":"US","tier":"enterprise"},"billing":{"plan":"annual_enterprise","currency":"USD","last_charge_usd":1200.0,"days_since_payment":10},"policy_hint":{"auto_refund_limit_usd":1000.0,"refund_window_days":14}}`},
		"context of 7":      {"get_refund_context", `{"user_id":7}`, `{"user":{"id":7,"name":"Max","country":"US","tier":"pro"},"billing":{"plan":"pro_monthly","currency":"USD","last_charge_usd":49.0,"days_since_payment":35},"policy_hint":{"auto_refund_limit_usd":1000.0,"refund_window_days":14}}`},
		"no context":        {"get_refund_context", `{"user_id":1}`, `{"error":"context_not_found_for_user:1"}`},
		"refund of nobody":  {"issue_refund", `{"user_id":1,"amount_usd":-1,"reason":"r"}`, `{"status":"error","error":"refund_user_not_found:1"}`},
		"refund of nothing": {"issue_refund", `{"user_id":42,"amount_usd":0,"reason":"r"}`, `{"status":"error","error":"refund_amount_must_be_positive"}`},
		"refund too large":  {"issue_refund", `{"user_id":7,"amount_usd":49.01,"reason":"r"}`, `{"status":"error","error":"refund_exceeds_last_charge","max_refund_usd":49.0}`},
		"email of nobody":   {"send_refund_email", `{"user_id":1,"amount_usd":1,"message":"m"}`, `{"status":"error","error":"email_user_not_found:1"}`},
	}
	c := tools(t, demo.Config{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(decode(t, tt.want), call(t, c, tt.tool, tt.args)); diff != "" {
				t.Errorf("%s(%s) (-want +got):\n%s", tt.tool, tt.args, diff)
			}
		})
	}
}

func TestArgumentsOfAnotherTypeAreRefused(t *testing.T) {
	c := tools(t, demo.Config{})
	tests := map[string]struct {
		tool, args string
		want       catalog.MismatchKind
	}{
		"text for an id":     {"get_manager_profile", `{"manager_id":"42"}`, catalog.MismatchType},
		"boolean for an id":  {"get_manager_profile", `{"manager_id":true}`, catalog.MismatchType},
		"null":               {"fetch_sales_data", `{"month":null}`, catalog.MismatchType},
		"number for a month": {"fetch_sales_data", `{"month":202604}`, catalog.MismatchType},
		"missing":            {"fetch_sales_data", `{}`, catalog.MismatchMissing},
		"unknown":            {"fetch_sales_data", `{"month":"2026-04","request_id":"r"}`, catalog.MismatchUnknown},
		"large id":           {"issue_refund", `{"user_id":1e22,"amount_usd":1}`, catalog.MismatchType},
		"request_id":         {"sales_worker", `{"report_date":"d","region":"US","request_id":1}`, catalog.MismatchType},
		"beyond the ticket":  {"billing_specialist", `{"ticket":"t","priority":"high"}`, catalog.MismatchUnknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tool, _ := c.Tool(tt.tool)
			got := tool.Input.Check(decode(t, tt.args))
			if len(got) != 1 || got[0].Kind != tt.want {
				t.Errorf("%s: Check(%s) = %v, want one %s mismatch", tt.tool, tt.args, got, tt.want)
			}
		})
	}
}

func TestDelays(t *testing.T) {
	args := map[string]any{"report_date": demo.ReportDate, "region": demo.Region}
	tests := map[string]struct {
		tool    string
		factor  float64
		attempt int
		want    time.Duration
	}{
		"sales":                   {"sales_worker", 1, 1, 400 * time.Millisecond},
		"payments first":          {"payments_worker", 1, 1, 2600 * time.Millisecond},
		"payments second":         {"payments_worker", 1, 2, 300 * time.Millisecond},
		"payments third":          {"payments_worker", 1, 3, 300 * time.Millisecond},
		"inventory":               {"inventory_worker", 1, 1, 500 * time.Millisecond},
		"inventory is never slow": {"inventory_worker", 1, 2, 500 * time.Millisecond},
		"half":                    {"payments_worker", 0.5, 1, 1300 * time.Millisecond},
		"most":                    {"payments_worker", demo.MaxDelayFactor, 1, 260 * time.Second},
		"none":                    {"payments_worker", 0, 1, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool, _ := tools(t, demo.Config{DelayFactor: tt.factor}).Tool(tt.tool)
				start := time.Now()
				if _, err := tool.Do(t.Context(), catalog.Call{Args: args, Attempt: tt.attempt}); err != nil {
					t.Fatal(err)
				}
				if got := time.Since(start); got != tt.want {
					t.Errorf("%s, attempt %d, factor %v took %v, want %v", tt.tool, tt.attempt, tt.factor, got, tt.want)
				}
			})
		})
	}
}

func TestDelayEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, _ := tools(t, demo.Config{DelayFactor: 1}).Tool("payments_worker")
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		v, err := tool.Do(ctx, catalog.Call{Args: tool.Input.Example(), Attempt: 1})
		if got := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || v != nil || got != 2*time.Second {
			t.Errorf("Do = %v, %v after %v; want the deadline's error after 2s", v, err, got)
		}
	})
}

func TestDelayFactorIsChecked(t *testing.T) {
	for _, factor := range []float64{-0.1, 100.5, math.NaN(), math.Inf(1)} {
		if list, err := demo.Tools(demo.Config{DelayFactor: factor}); err == nil || list != nil {
			t.Errorf("Tools with factor %v = %d tools, %v; want an error", factor, len(list), err)
		}
	}
}

func TestGoalsHoldTheFactsOfTheReference(t *testing.T) {
	for goal, facts := range map[string][]string{
		demo.DecompositionGoal: {"manager_id=42", "April 2026", "USD"},
		demo.OrchestratorGoal:  {demo.Region, demo.ReportDate},
		demo.RoutingTicket:     {"user_id=42", "refund", "pro_monthly", "10 days"},
		demo.RefundGoal:        {"user_id=42", "1200 USD", "annual"},
	} {
		for _, fact := range facts {
			if !strings.Contains(goal, fact) {
				t.Errorf("goal %q does not say %q", goal, fact)
			}
		}
	}
}

// The tools read the world that they are given. In an empty one they find nothing.
func TestWorld(t *testing.T) {
	other := demo.Reference()
	other.Refunds = map[string][]demo.RefundDay{"2026-04": {{Day: "2026-04-02", RefundsUSD: 700}}}
	for name, tt := range map[string]struct {
		world *demo.World
		want  string
	}{
		"reference": {nil, "Refund spike detected on 2026-04-04: 590.0 USD"},
		"other":     {&other, "Refund spike detected on 2026-04-02: 700.0 USD"},
		"empty":     {&demo.World{}, "refund data for 2026-04 not found"},
	} {
		got := call(t, tools(t, demo.Config{World: tt.world}), "detect_risk_signals", `{"month":"2026-04"}`)
		if text := string(ijson.Canonical(got)); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %s, want %s", name, text, tt.want)
		}
	}
}
