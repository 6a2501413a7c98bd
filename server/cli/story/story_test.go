package story_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog/demo"
	"patterngate/catalog/upstream"
	"patterngate/server/assembly"
	"patterngate/server/cli/call"
	"patterngate/server/cli/console"
	"patterngate/server/cli/story"
	"patterngate/server/settings"
)

// setting is the input of the story.
type setting struct {
	world   demo.World
	capUSD  string
	payment []float64 // in the ledger after the kill
	joined  bool
	json    bool
}

// reference is the setting of the command demo, four times as fast.
func reference() setting {
	return setting{world: demo.Reference(), capUSD: "800", payment: []float64{800}, joined: true}
}

// tell plays the story over a server in this process, and returns what it prints and how it ends.
func tell(t *testing.T, s setting, cap float64) (string, error) {
	t.Helper()
	var out bytes.Buffer
	teller := story.New(&console.Console{Out: &out, Err: &out, Color: "never", JSON: s.json}, cap)
	client := connect(t, s)
	if err := teller.Play(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	reply, err := client.Call(t.Context(), "supervised_refund", map[string]any{"goal": demo.RefundGoal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	again := story.Read(reply.Structured)
	again.Joined = s.joined // this server was not killed
	teller.Crash()
	teller.Survived(again, s.payment, time.Now())
	err = teller.End()
	return out.String(), err
}

// connect returns a client of a server with a world of its own.
func connect(t *testing.T, s setting) *upstream.Client {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "version: 1\nllm: {provider: rules}\ndemo: {delay_factor: 0.25}\npatterns:\n  supervised_refund: {approver: {kind: simulated, cap_usd: " + s.capUSD + "}}\n" +
		"  run_orchestrator: {budget: {task_timeout_seconds: 0.5}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := assembly.Load(settings.Sources{Path: config, State: settings.MemoryState, Environ: []string{"HOME=" + t.TempDir()}}, assembly.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Demo.World = &s.world
	service, err := assembly.Open(loaded, assembly.ServiceOptions{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	client, ended, err := call.Server{Serve: service.ServeStdio, CarryOn: service.CarryOn, Close: service.Close}.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close() // the server has ended
		ended()
	})
	return client
}

// The story has the figures of the results, whatever they are.
func TestFiguresComeFromResults(t *testing.T) {
	t.Parallel()
	other := setting{world: demo.Reference(), capUSD: "650", payment: []float64{650}, joined: true}
	w := &other.world
	w.Sales = map[string][]demo.SalesDay{"2026-04": {{Day: "2026-04-01", GrossUSD: 4000, Orders: 90}, {Day: "2026-04-02", GrossUSD: 1000.5, Orders: 10}}}
	w.Refunds = map[string][]demo.RefundDay{"2026-04": {{Day: "2026-04-01", RefundsUSD: 100}, {Day: "2026-04-02", RefundsUSD: 900}}}
	w.Morning = demo.Morning{
		Sales:     demo.SalesFigures{GrossSalesUSD: 1234567, Orders: 9876, AOVUSD: 125},
		Payments:  demo.PaymentFigures{FailedPaymentRate: 0.0175, ChargebackAlerts: 1, GatewayIncident: "none"},
		Inventory: demo.InventoryFigures{LowStockSKUs: []string{"SKU-1"}, OutOfStockSKUs: []string{"SKU-2", "SKU-3"}, RestockETADays: 1},
	}
	w.Subscribers = map[string]demo.Subscriber{"42": {Name: "Anna", Plan: "pro_monthly", PriceUSD: 77, Days: 3}}
	incident := setting{world: demo.Reference(), capUSD: "800", payment: []float64{800}, joined: true}
	incident.world.Morning.Payments.GatewayIncident = "INC-9"
	incident.world.Refunds = map[string][]demo.RefundDay{"2026-04": {{Day: "2026-04-01", RefundsUSD: 100}}}
	for name, tt := range map[string]struct {
		setting setting
		cap     float64
		want    []string
	}{
		"reference": {reference(), 800, []string{
			"Plan accepted: ✓ Manager profile ✓ Daily sales ✓ Daily refunds ✓ Monthly KPIs ✓ Risk signals",
			"28,195 USD gross, 26,825 USD net, 4.86 % refunds. Refund spike on 4 April: 590 USD.",
			"182,450 USD from 4,820 orders.", "2.3 % of payments failed. Attempt 1 timed out after 0.5 s, attempt 2 worked.",
			"yellow, because SKU-9033 is out of stock (restock in 2 days).", "billing_specialist 49 USD back. ",
			"above 1,000 USD, a person decides.", "allowed 800 of 1,200 USD", "1 payment: 800 USD.", "All 9 calls ended as they should",
		}},
		"other": {other, 650, []string{
			"5,000.50 USD gross, 4,000.50 USD net, 20 % refunds. Refund spike on 2 April: 900 USD.",
			"1,234,567 USD from 9,876 orders.", "1.75 % of payments failed.", "1 product low in stock, 2 out of stock.",
			"yellow, because SKU-2, SKU-3 are out of stock (restock in 1 day).", "billing_specialist 77 USD back. ",
			"allowed 650 of 1,200 USD", "asked, and allowed 650 USD.", "1 payment: 650 USD.", "All 9 calls ended as they should",
		}},
		"no spike, an incident": {incident, 800, []string{
			"No critical risk signals detected for this month.", "red, because the payment gateway reports an incident (INC-9), and SKU-9033",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tell(t, tt.setting, tt.cap)
			if err != nil {
				t.Errorf("the story ends with %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(strings.Join(strings.Fields(got), " "), want) { // a line can be folded
					t.Errorf("the story does not say %q:\n%s", want, got)
				}
			}
			if strings.Contains(got, "\x1b") || strings.Contains(got, "\r") {
				t.Errorf("a story without a terminal has escape sequences: %q", got)
			}
			lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
			if name != "no spike, an incident" && len(lines) > 35 {
				t.Errorf("%d lines, want 35 at most:\n%s", len(lines), got)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > 100 || strings.TrimRight(line, " ") != line {
					t.Errorf("a line of %d characters: %q", n, line)
				}
			}
		})
	}
}

// A result that is not as it should be is marked, and the demo fails.
func TestWrongResults(t *testing.T) {
	t.Parallel()
	nobody, twice, apart := reference(), reference(), reference()
	nobody.world.Accounts, nobody.world.Customers = nil, nil
	twice.payment = []float64{800, 800}
	apart.joined = false
	noMonth := reference()
	noMonth.world.Sales = nil
	for name, tt := range map[string]struct {
		setting setting
		want    []string
	}{
		"no customer":        {nobody, []string{"✗ ", "Not as it should be: refund of 1200 USD ended with ", "did not end as they should."}},
		"no sales":           {noMonth, []string{"Not as it should be: April report ended with ", "1 of 9 calls did not end as they should."}},
		"paid twice":         {twice, []string{"✗ Ledger A separate process counted 2 payments: 800 USD, 800 USD.", "1 of 9 calls did not end as they should."}},
		"another run":        {apart, []string{"✗ Run A new server got the same call, and began another run.", "1 of 9 calls did not end as they should."}},
		"a smaller approval": {setting{world: demo.Reference(), capUSD: "700", payment: []float64{700}, joined: true}, []string{"✗ Person allowed 700 of 1,200 USD", "2 of 9 calls did not end"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tell(t, tt.setting, 800)
			if failed, ok := errors.AsType[*console.Error](err); !ok || failed.Code != console.ExitFault || !strings.Contains(err.Error(), "did not end as they should") {
				t.Errorf("the story ends with %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(strings.Join(strings.Fields(got), " "), want) { // a line can be folded
					t.Errorf("the story does not say %q:\n%s", want, got)
				}
			}
		})
	}
}

// With --json there is one document, with the words that scripts read.
func TestStoryAsJSON(t *testing.T) {
	t.Parallel()
	s := reference()
	s.json = true
	text, err := tell(t, s, 800)
	var document struct {
		Acts       []story.Act `json:"acts"`
		AsExpected int         `json:"as_expected"`
		Seconds    float64     `json:"seconds"`
	}
	if err := errors.Join(err, json.Unmarshal([]byte(text), &document)); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const capped = "refund_reason_required, then escalate (high_refund_requires_human), the simulated person approved_with_cap:800.0"
	const notAllowed = "invalid_plan:tool_not_allowed:issue_refund"
	want := []story.Act{
		{Act: 1, Title: "April report", Tool: "run_task_decomposition", StopReason: "success", Decided: "plan of 5 steps accepted", Done: "5 look-ups"},
		{Act: 2, Title: "morning operations report", Tool: "run_orchestrator", StopReason: "success", Decided: "3 tasks side by side, 1 retried, health yellow", Done: "3 look-ups"},
		{Act: 3, Title: "refund ticket", Tool: "route_ticket", StopReason: "success", Decided: "routed to billing_specialist", Done: "1 look-up"},
		{Act: 4, Title: "refund of 1200 USD", Tool: "supervised_refund", StopReason: "success", Decided: capped, Done: "1 look-up, 2 writes, 800.00 USD paid"},
		{Act: 5, Title: "a plan that names a forbidden tool", Tool: "run_task_decomposition", StopReason: notAllowed, Decided: "refused at /plan/steps/2/tool (tool_not_allowed:issue_refund)", Done: "nothing was called"},
		{Act: 5, Title: "a plan that says the tool twice", Tool: "run_task_decomposition", StopReason: "invalid_request:type:plan", Decided: "refused at /plan/steps/0/tool (repeated member)", Done: "nothing was called"},
		{Act: 5, Title: "1200 USD without a reason", Tool: "supervised_refund", StopReason: "success", Decided: capped, Done: "1 look-up, 1 write, 800.00 USD paid"},
		{Act: 5, Title: `the same, "already approved by the CFO"`, Tool: "supervised_refund", StopReason: "success", Decided: capped, Done: "1 look-up, 1 write, 800.00 USD paid"},
		{Act: 6, Title: "kill -9 between payment and answer", Tool: "supervised_refund", StopReason: "success", Decided: "started again, the same call joined the run", Done: "1 look-up, 2 writes, 800.00 USD paid, once"},
	}
	for i := range document.Acts {
		document.Acts[i].Seconds = 0
	}
	for i := range want {
		want[i].AsExpected = true
	}
	if diff := cmp.Diff(want, document.Acts); diff != "" || document.AsExpected != len(want) || document.Seconds <= 0 {
		t.Errorf("as expected: %d, in %v s (-want +got):\n%s", document.AsExpected, document.Seconds, diff)
	}
}
