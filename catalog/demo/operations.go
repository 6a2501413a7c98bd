package demo

import (
	"context"
	"strings"

	"patterngate/catalog"
)

type workerArgs struct {
	ReportDate string `json:"report_date" jsonschema:"example=2026-02-26" jsonschema_description:"The day, as YYYY-MM-DD." jsonschema_extras:"x-spelling=YYYY-MM-DD"`
	Region     string `json:"region" jsonschema:"example=US" jsonschema_description:"The market's code, such as US or EU."`
	RequestID  string `json:"request_id,omitempty" jsonschema_description:"Set by the orchestrator for all tasks of a run."`
}

// hasData reports whether the call is for the only day and market with data.
func (a workerArgs) hasData() bool {
	return a.ReportDate == ReportDate && strings.ToUpper(a.Region) == Region
}

// done is the answer of every worker.
type done[Result any] struct {
	Status string `json:"status"`
	Worker string `json:"worker"`
	Result Result `json:"result"`
}

// A result has either the figures or the warning. No figure is zero.
type salesFigures struct {
	GrossSalesUSD float64 `json:"gross_sales_usd,omitempty"`
	Orders        int     `json:"orders,omitempty"`
	AOVUSD        float64 `json:"aov_usd,omitempty"`
	Warning       string  `json:"warning,omitempty"`
}

type paymentFigures struct {
	FailedPaymentRate float64 `json:"failed_payment_rate,omitempty"`
	ChargebackAlerts  int     `json:"chargeback_alerts,omitempty"`
	GatewayIncident   string  `json:"gateway_incident,omitempty"`
	Warning           string  `json:"warning,omitempty"`
}

type inventoryFigures struct {
	LowStockSKUs   []string `json:"low_stock_skus,omitempty"`
	OutOfStockSKUs []string `json:"out_of_stock_skus,omitempty"`
	RestockETADays int      `json:"restock_eta_days,omitempty"`
	Warning        string   `json:"warning,omitempty"`
}

// The delays of the workers, in seconds. The first attempt of payments_worker takes longer than a task's time-out, to
// show a retry.
const (
	salesSeconds         = 0.4
	paymentsSlowSeconds  = 2.6
	paymentsQuickSeconds = 0.3
	inventorySeconds     = 0.5
)

func (b *builder) addOperations(d delays) {
	addFunc(b, catalog.Tool{
		Name: "sales_worker", Title: "Sales figures",
		Description: "Reports a day's sales figures in a region: gross sales, orders and average order value.",
	}, work(d, "sales_worker", func(int) float64 { return salesSeconds }, func(known bool) salesFigures {
		if !known {
			return salesFigures{Warning: "sales_data_missing"}
		}
		return salesFigures{GrossSalesUSD: 182450, Orders: 4820, AOVUSD: 37.85}
	}))
	addFunc(b, catalog.Tool{
		Name: "payments_worker", Title: "Payment risks",
		Description: "Reports a day's payment risk in a region: failed payment rate, chargeback alerts and gateway incidents.",
	}, work(d, "payments_worker", paymentsSeconds, func(known bool) paymentFigures {
		if !known {
			return paymentFigures{Warning: "payments_data_missing"}
		}
		return paymentFigures{FailedPaymentRate: 0.023, ChargebackAlerts: 3, GatewayIncident: "none"}
	}))
	addFunc(b, catalog.Tool{
		Name: "inventory_worker", Title: "Inventory risks",
		Description: "Reports a day's inventory risk in a region: products low in stock, out of stock, and days until restock.",
	}, work(d, "inventory_worker", func(int) float64 { return inventorySeconds }, func(known bool) inventoryFigures {
		if !known {
			return inventoryFigures{Warning: "inventory_data_missing"}
		}
		return inventoryFigures{
			LowStockSKUs: []string{"SKU-4411", "SKU-8820"}, OutOfStockSKUs: []string{"SKU-9033"}, RestockETADays: 2,
		}
	}))
}

func paymentsSeconds(attempt int) float64 {
	if attempt <= 1 {
		return paymentsSlowSeconds
	}
	return paymentsQuickSeconds
}

// work returns a worker that waits for the delay of an attempt and then reports.
func work[Result any](d delays, worker string, seconds func(attempt int) float64, report func(known bool) Result,
) func(context.Context, workerArgs, catalog.Call) (done[Result], error) {
	return func(ctx context.Context, in workerArgs, call catalog.Call) (done[Result], error) {
		if err := d.sleep(ctx, seconds(call.Attempt)); err != nil {
			return done[Result]{}, err
		}
		return done[Result]{Status: "done", Worker: worker, Result: report(in.hasData())}, nil
	}
}
