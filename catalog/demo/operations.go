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
	}, work(d, "sales_worker", func(int) float64 { return salesSeconds }, func(known bool) SalesFigures {
		if !known {
			return SalesFigures{Warning: "sales_data_missing"}
		}
		return b.world.Morning.Sales
	}))
	addFunc(b, catalog.Tool{
		Name: "payments_worker", Title: "Payment risks",
		Description: "Reports a day's payment risk in a region: failed payment rate, chargeback alerts and gateway incidents.",
	}, work(d, "payments_worker", paymentsSeconds, func(known bool) PaymentFigures {
		if !known {
			return PaymentFigures{Warning: "payments_data_missing"}
		}
		return b.world.Morning.Payments
	}))
	addFunc(b, catalog.Tool{
		Name: "inventory_worker", Title: "Inventory risks",
		Description: "Reports a day's inventory risk in a region: products low in stock, out of stock, and days until restock.",
	}, work(d, "inventory_worker", func(int) float64 { return inventorySeconds }, func(known bool) InventoryFigures {
		if !known {
			return InventoryFigures{Warning: "inventory_data_missing"}
		}
		return b.world.Morning.Inventory
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
