package demo

// World is the data of the simulated shop. In the zero World the tools find nothing. The tools only read it.
type World struct {
	Managers map[int64]Manager
	Sales    map[string][]SalesDay  // by month, YYYY-MM
	Refunds  map[string][]RefundDay // by month, YYYY-MM
	Morning  Morning                // of ReportDate in Region

	Subscribers map[string]Subscriber // by user id, for the specialists
	Customers   map[int64]Customer
	Accounts    map[int64]Account
}

// Reference returns the data of the reference programs.
func Reference() World {
	return World{
		Managers: map[int64]Manager{
			42: {42, "Anna", "US", "Retail East"},
			7:  {7, "Max", "US", "Retail West"},
		},
		Sales: map[string][]SalesDay{"2026-04": {
			{"2026-04-01", 5200, 120},
			{"2026-04-02", 4890, 113},
			{"2026-04-03", 6105, 141},
			{"2026-04-04", 5580, 127},
			{"2026-04-05", 6420, 149},
		}},
		Refunds: map[string][]RefundDay{"2026-04": {
			{"2026-04-01", 140},
			{"2026-04-02", 260},
			{"2026-04-03", 210},
			{"2026-04-04", 590},
			{"2026-04-05", 170},
		}},
		Morning: Morning{
			Sales:     SalesFigures{GrossSalesUSD: 182450, Orders: 4820, AOVUSD: 37.85},
			Payments:  PaymentFigures{FailedPaymentRate: 0.023, ChargebackAlerts: 3, GatewayIncident: "none"},
			Inventory: InventoryFigures{LowStockSKUs: []string{"SKU-4411", "SKU-8820"}, OutOfStockSKUs: []string{"SKU-9033"}, RestockETADays: 2},
		},
		Subscribers: map[string]Subscriber{
			"42": {"Anna", "pro_monthly", 49, 10},
			"7":  {"Max", "free", 0, 120},
		},
		Customers: map[int64]Customer{
			42: {42, "Anna", "US", "enterprise"},
			7:  {7, "Max", "US", "pro"},
		},
		Accounts: map[int64]Account{
			42: {"annual_enterprise", "USD", 1200, 10},
			7:  {"pro_monthly", "USD", 49, 35},
		},
	}
}

// Manager is the manager of a region.
type Manager struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Region string `json:"region"`
	Team   string `json:"team"`
}

// SalesDay is what was sold on a day.
type SalesDay struct {
	Day      string  `json:"day"` // YYYY-MM-DD
	GrossUSD float64 `json:"gross_usd"`
	Orders   int     `json:"orders"`
}

// RefundDay is what was paid back on a day.
type RefundDay struct {
	Day        string  `json:"day"` // YYYY-MM-DD
	RefundsUSD float64 `json:"refunds_usd"`
}

// Morning holds the figures that the three workers report. Each has either its figures, none of which is zero, or the warning.
type Morning struct {
	Sales     SalesFigures
	Payments  PaymentFigures
	Inventory InventoryFigures
}

// SalesFigures are the sales of a day.
type SalesFigures struct {
	GrossSalesUSD float64 `json:"gross_sales_usd,omitempty"`
	Orders        int     `json:"orders,omitempty"`
	AOVUSD        float64 `json:"aov_usd,omitempty"`
	Warning       string  `json:"warning,omitempty"`
}

// PaymentFigures are the payment risks of a day.
type PaymentFigures struct {
	FailedPaymentRate float64 `json:"failed_payment_rate,omitempty"`
	ChargebackAlerts  int     `json:"chargeback_alerts,omitempty"`
	GatewayIncident   string  `json:"gateway_incident,omitempty"`
	Warning           string  `json:"warning,omitempty"`
}

// InventoryFigures are the inventory risks of a day.
type InventoryFigures struct {
	LowStockSKUs   []string `json:"low_stock_skus,omitempty"`
	OutOfStockSKUs []string `json:"out_of_stock_skus,omitempty"`
	RestockETADays int      `json:"restock_eta_days,omitempty"`
	Warning        string   `json:"warning,omitempty"`
}

// Subscriber is a customer as the billing specialist knows them.
type Subscriber struct {
	Name     string
	Plan     string
	PriceUSD float64
	Days     int // since the first payment
}

// Customer is a customer as the refund tools know them.
type Customer struct {
	ID      int    `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country"`
	Tier    string `json:"tier"`
}

// Account is what a customer pays.
type Account struct {
	Plan             string  `json:"plan"`
	Currency         string  `json:"currency"`
	LastChargeUSD    float64 `json:"last_charge_usd"`
	DaysSincePayment int     `json:"days_since_payment"`
}
