package demo

import (
	"fmt"
	"math"

	"patterngate/catalog"
)

// spikeUSD is the smallest refund total of a day that gives a warning.
const spikeUSD = 500

type managerArgs struct {
	ManagerID int64 `json:"manager_id" jsonschema:"example=42" jsonschema_description:"The manager's number."`
}

type monthArgs struct {
	Month string `json:"month" jsonschema:"example=2026-04" jsonschema_description:"The month, as YYYY-MM." jsonschema_extras:"x-spelling=YYYY-MM"`
}

// The results omit the fields of the other outcome. The fields that are present are never zero.
type profile struct {
	Manager *Manager `json:"manager,omitempty"`
	Error   string   `json:"error,omitempty"`
}

type salesReport struct {
	Month      string     `json:"month,omitempty"`
	Currency   string     `json:"currency,omitempty"`
	DailySales []SalesDay `json:"daily_sales,omitempty"`
	Error      string     `json:"error,omitempty"`
}

type refundReport struct {
	Month        string      `json:"month,omitempty"`
	Currency     string      `json:"currency,omitempty"`
	DailyRefunds []RefundDay `json:"daily_refunds,omitempty"`
	Error        string      `json:"error,omitempty"`
}

type kpis struct {
	Month         string  `json:"month,omitempty"`
	Currency      string  `json:"currency,omitempty"`
	GrossSalesUSD float64 `json:"gross_sales_usd,omitempty"`
	RefundsUSD    float64 `json:"refunds_usd,omitempty"`
	NetSalesUSD   float64 `json:"net_sales_usd,omitempty"`
	Orders        int     `json:"orders,omitempty"`
	RefundRate    float64 `json:"refund_rate,omitempty"`
	TopSalesDay   string  `json:"top_sales_day,omitempty"`
	Error         string  `json:"error,omitempty"`
}

type risks struct {
	Month         string     `json:"month,omitempty"`
	Currency      string     `json:"currency,omitempty"`
	RiskWarnings  []string   `json:"risk_warnings,omitempty"`
	PeakRefundDay *RefundDay `json:"peak_refund_day,omitempty"`
	Error         string     `json:"error,omitempty"`
}

func (b *builder) addReport() {
	add(b, catalog.Tool{
		Name: "get_manager_profile", Title: "Manager profile",
		Description: "Looks up a manager by manager_id: name, region and team, for a report's heading.",
	}, b.world.managerProfile)
	add(b, catalog.Tool{
		Name: "fetch_sales_data", Title: "Daily sales",
		Description: "Fetches the daily gross sales in USD and the orders of one month.",
	}, b.world.fetchSales)
	add(b, catalog.Tool{
		Name: "fetch_refund_data", Title: "Daily refunds",
		Description: "Fetches the daily refunds in USD of one month.",
	}, b.world.fetchRefunds)
	add(b, catalog.Tool{
		Name: "calculate_monthly_kpis", Title: "Monthly KPIs",
		Description: "Calculates a month's KPIs: gross sales, refunds, net sales (revenue after refunds), orders, refund rate and top sales day.",
	}, b.world.monthlyKPIs)
	add(b, catalog.Tool{
		Name: "detect_risk_signals", Title: "Risk signals",
		Description: "Detects risk signals of a month, such as a refund spike, as warnings for a risk note.",
	}, b.world.riskSignals)
}

func (w World) managerProfile(in managerArgs) profile {
	if m, ok := w.Managers[in.ManagerID]; ok {
		return profile{Manager: &m}
	}
	return profile{Error: fmt.Sprintf("manager %d not found", in.ManagerID)}
}

func (w World) fetchSales(in monthArgs) salesReport {
	if days, ok := w.Sales[in.Month]; ok {
		return salesReport{Month: in.Month, Currency: "USD", DailySales: days}
	}
	return salesReport{Error: fmt.Sprintf("sales data for %s not found", in.Month)}
}

func (w World) fetchRefunds(in monthArgs) refundReport {
	if days, ok := w.Refunds[in.Month]; ok {
		return refundReport{Month: in.Month, Currency: "USD", DailyRefunds: days}
	}
	return refundReport{Error: fmt.Sprintf("refund data for %s not found", in.Month)}
}

func (w World) monthlyKPIs(in monthArgs) kpis {
	sales, refunds := w.Sales[in.Month], w.Refunds[in.Month]
	if len(sales) == 0 || len(refunds) == 0 {
		return kpis{Error: fmt.Sprintf("kpi inputs for %s not found", in.Month)}
	}
	k := kpis{Month: in.Month, Currency: "USD"}
	top := sales[0]
	for _, day := range sales {
		k.GrossSalesUSD += day.GrossUSD
		k.Orders += day.Orders
		if day.GrossUSD > top.GrossUSD {
			top = day
		}
	}
	for _, day := range refunds {
		k.RefundsUSD += day.RefundsUSD
	}
	k.NetSalesUSD = k.GrossSalesUSD - k.RefundsUSD
	k.RefundRate = math.Round(k.RefundsUSD/k.GrossSalesUSD*1e4) / 1e4
	k.TopSalesDay = top.Day
	return k
}

func (w World) riskSignals(in monthArgs) risks {
	days := w.Refunds[in.Month]
	if len(days) == 0 {
		return risks{Error: fmt.Sprintf("refund data for %s not found", in.Month)}
	}
	peak := days[0]
	for _, day := range days {
		if day.RefundsUSD > peak.RefundsUSD {
			peak = day
		}
	}
	warning := "No critical risk signals detected for this month."
	if peak.RefundsUSD >= spikeUSD {
		warning = fmt.Sprintf("Refund spike detected on %s: %.1f USD", peak.Day, peak.RefundsUSD)
	}
	return risks{Month: in.Month, Currency: "USD", RiskWarnings: []string{warning}, PeakRefundDay: &peak}
}
