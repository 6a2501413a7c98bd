package demo

import (
	"fmt"
	"math"

	"patterngate/catalog"
)

type manager struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Region string `json:"region"`
	Team   string `json:"team"`
}

type salesDay struct {
	Day      string  `json:"day"`
	GrossUSD float64 `json:"gross_usd"`
	Orders   int     `json:"orders"`
}

type refundDay struct {
	Day        string  `json:"day"`
	RefundsUSD float64 `json:"refunds_usd"`
}

var managers = map[int64]manager{
	42: {42, "Anna", "US", "Retail East"},
	7:  {7, "Max", "US", "Retail West"},
}

var salesOf = map[string][]salesDay{"2026-04": {
	{"2026-04-01", 5200, 120},
	{"2026-04-02", 4890, 113},
	{"2026-04-03", 6105, 141},
	{"2026-04-04", 5580, 127},
	{"2026-04-05", 6420, 149},
}}

var refundsOf = map[string][]refundDay{"2026-04": {
	{"2026-04-01", 140},
	{"2026-04-02", 260},
	{"2026-04-03", 210},
	{"2026-04-04", 590},
	{"2026-04-05", 170},
}}

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
	Manager *manager `json:"manager,omitempty"`
	Error   string   `json:"error,omitempty"`
}

type salesReport struct {
	Month      string     `json:"month,omitempty"`
	Currency   string     `json:"currency,omitempty"`
	DailySales []salesDay `json:"daily_sales,omitempty"`
	Error      string     `json:"error,omitempty"`
}

type refundReport struct {
	Month        string      `json:"month,omitempty"`
	Currency     string      `json:"currency,omitempty"`
	DailyRefunds []refundDay `json:"daily_refunds,omitempty"`
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
	PeakRefundDay *refundDay `json:"peak_refund_day,omitempty"`
	Error         string     `json:"error,omitempty"`
}

func (b *builder) addReport() {
	add(b, catalog.Tool{
		Name: "get_manager_profile", Title: "Manager profile",
		Description: "Looks up a manager by manager_id: name, region and team, for a report's heading.",
	}, managerProfile)
	add(b, catalog.Tool{
		Name: "fetch_sales_data", Title: "Daily sales",
		Description: "Fetches the daily gross sales in USD and the orders of one month.",
	}, fetchSales)
	add(b, catalog.Tool{
		Name: "fetch_refund_data", Title: "Daily refunds",
		Description: "Fetches the daily refunds in USD of one month.",
	}, fetchRefunds)
	add(b, catalog.Tool{
		Name: "calculate_monthly_kpis", Title: "Monthly KPIs",
		Description: "Calculates a month's KPIs: gross sales, refunds, net sales (revenue after refunds), orders, refund rate and top sales day.",
	}, monthlyKPIs)
	add(b, catalog.Tool{
		Name: "detect_risk_signals", Title: "Risk signals",
		Description: "Detects risk signals of a month, such as a refund spike, as warnings for a risk note.",
	}, riskSignals)
}

func managerProfile(in managerArgs) profile {
	if m, ok := managers[in.ManagerID]; ok {
		return profile{Manager: &m}
	}
	return profile{Error: fmt.Sprintf("manager %d not found", in.ManagerID)}
}

func fetchSales(in monthArgs) salesReport {
	if days, ok := salesOf[in.Month]; ok {
		return salesReport{Month: in.Month, Currency: "USD", DailySales: days}
	}
	return salesReport{Error: fmt.Sprintf("sales data for %s not found", in.Month)}
}

func fetchRefunds(in monthArgs) refundReport {
	if days, ok := refundsOf[in.Month]; ok {
		return refundReport{Month: in.Month, Currency: "USD", DailyRefunds: days}
	}
	return refundReport{Error: fmt.Sprintf("refund data for %s not found", in.Month)}
}

func monthlyKPIs(in monthArgs) kpis {
	sales, refunds := salesOf[in.Month], refundsOf[in.Month]
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

func riskSignals(in monthArgs) risks {
	days := refundsOf[in.Month]
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
