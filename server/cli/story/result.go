package story

import (
	"encoding/json"

	"patterngate/ijson"
)

// Result is the part of a tool's structured result that the demo reads. The zero Result is of no run.
type Result struct {
	Status string `json:"status"`
	Next   struct {
		Say string `json:"say"`
	} `json:"next"`
	StopReason    string      `json:"stop_reason"`
	Joined        bool        `json:"joined"` // to the run of an earlier equal call
	Plan          []planItem  `json:"plan"`
	SelectedRoute string      `json:"selected_route"`
	Aggregate     aggregate   `json:"aggregate"`
	Problems      []problem   `json:"problems"`
	Trace         []traceRow  `json:"trace"`
	History       []turn      `json:"history"`
	Effects       []effectRow `json:"effects"`
	Budget        struct {
		TaskTimeout struct {
			Limit float64 `json:"limit"`
			Used  float64 `json:"used"`
		} `json:"task_timeout_seconds"`
	} `json:"budget"`
}

// planItem is a step or a task of a plan.
type planItem struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// aggregate is the report of the orchestrator.
type aggregate struct {
	Health      string   `json:"health"`
	Sales       figures  `json:"sales"`
	Payments    figures  `json:"payments"`
	Inventory   figures  `json:"inventory"`
	FailedTasks []any    `json:"failed_tasks"`
	Missing     []string `json:"missing"`
}

// figures are those of one worker. Each worker has its own members.
type figures struct {
	GrossSalesUSD     float64  `json:"gross_sales_usd"`
	Orders            int      `json:"orders"`
	FailedPaymentRate float64  `json:"failed_payment_rate"`
	ChargebackAlerts  int      `json:"chargeback_alerts"`
	GatewayIncident   string   `json:"gateway_incident"`
	LowStock          []string `json:"low_stock_skus"`
	OutOfStock        []string `json:"out_of_stock_skus"`
	RestockDays       int      `json:"restock_eta_days"`

	UserName  string  `json:"user_name"`
	Eligible  bool    `json:"refund_eligible"`
	RefundUSD float64 `json:"refund_amount_usd"`
	Reason    string  `json:"reason"`
}

// problem is a fault of a refused call.
type problem struct {
	Pointer string `json:"pointer"`
	Reason  string `json:"reason"`
	Want    string `json:"want"`
}

// traceRow is one step, task or attempt of a run.
type traceRow struct {
	StepID   string `json:"step_id"`
	Worker   string `json:"worker"`
	OK       bool   `json:"ok"`
	Status   string `json:"status"`
	Attempts int    `json:"attempts_used"`
	Retried  bool   `json:"retried"`
}

// turn is one entry of a run's history.
type turn struct {
	Worker     string `json:"worker"`
	Action     action `json:"action"` // as it was proposed
	Supervisor struct {
		Decision  string   `json:"decision"`
		Reason    string   `json:"reason"`
		Revisions []string `json:"revisions"`
	} `json:"supervisor"`
	Executed action `json:"executed_action"`
	Human    struct {
		Approved bool   `json:"approved"`
		Comment  string `json:"comment"`
		By       string `json:"by"`
	} `json:"human_approval"`
	Observation observation `json:"observation"`
}

type action struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args"`
}

func (a action) usd() float64 {
	amount, _ := a.Args["amount_usd"].(float64)
	return amount
}

// observation is what a tool answered. Each tool has its own members.
type observation struct {
	Status        string  `json:"status"`
	Result        figures `json:"result"`
	GrossSalesUSD float64 `json:"gross_sales_usd"`
	NetSalesUSD   float64 `json:"net_sales_usd"`
	RefundsUSD    float64 `json:"refunds_usd"`
	RefundRate    float64 `json:"refund_rate"`
	PeakDay       struct {
		Day        string  `json:"day"`
		RefundsUSD float64 `json:"refunds_usd"`
	} `json:"peak_refund_day"`
	Warnings []string `json:"risk_warnings"`
	Hint     struct {
		AutoRefundLimitUSD float64 `json:"auto_refund_limit_usd"`
	} `json:"policy_hint"`
}

type effectRow struct {
	Tool   string `json:"tool"`
	Effect string `json:"effect"`
	Status string `json:"status"`
}

// Read reads a structured result. An invalid result becomes one that no act expects.
func Read(structured any) Result {
	var r Result
	if structured == nil {
		return r
	}
	if err := json.Unmarshal(ijson.Canonical(structured), &r); err != nil {
		return Result{StopReason: "unreadable: " + err.Error()}
	}
	return r
}

// Succeeded reports whether the run ended with its result.
func (r Result) Succeeded() bool { return r.StopReason == "success" }

func (r Result) retried() int {
	n := 0
	for _, row := range r.Trace {
		if row.Retried {
			n++
		}
	}
	return n
}

// refunds returns the turns that executed a refund, paid or not.
func (r Result) refunds() []turn {
	var list []turn
	for _, h := range r.History {
		if h.Executed.Name == "issue_refund" {
			list = append(list, h)
		}
	}
	return list
}

// Paid returns the sum of the refunds that were paid, in USD.
func (r Result) Paid() float64 {
	total := 0.0
	for _, h := range r.refunds() {
		if h.Observation.Status == "ok" {
			total += h.Executed.usd()
		}
	}
	return total
}

// asked reports whether a person had to approve every refund, and there was one.
func (r Result) asked() bool {
	for _, h := range r.refunds() {
		if h.Supervisor.Decision != "escalate" {
			return false
		}
	}
	return len(r.refunds()) > 0
}

// confirmed reports whether an email was sent.
func (r Result) confirmed() bool {
	for _, h := range r.History {
		if h.Executed.Name == "send_refund_email" && h.Observation.Status == "ok" {
			return true
		}
	}
	return false
}

// called returns how many calls read and how many wrote.
func (r Result) called() (reads, writes int) {
	for _, e := range r.Effects {
		switch {
		case e.Status != "done":
		case e.Effect == "read":
			reads++
		default:
			writes++
		}
	}
	return reads, writes
}

// observed returns the first observation of the history for which found is true.
func (r Result) observed(found func(observation) bool) (observation, bool) {
	for _, h := range r.History {
		if found(h.Observation) {
			return h.Observation, true
		}
	}
	return observation{}, false
}
