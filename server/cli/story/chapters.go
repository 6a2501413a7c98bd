package story

import (
	"slices"
	"strings"
)

// mark is the sign before a line.
type mark int

const (
	noMark mark = iota
	good        // as it should be
	bad         // not as it should be
)

// line is one line of the story, before it is folded.
type line struct {
	mark  mark
	label string // before the text; the texts of one call begin in one column
	text  string
}

// report tells the plan with its ticks, and the answer with its figures.
func report(r Result) []line {
	titles := map[string]string{}
	for _, step := range r.Plan {
		titles[step.ID] = step.Title
	}
	steps := make([]string, len(r.Trace))
	for i, row := range r.Trace {
		steps[i] = ticked(row.OK, titles[row.StepID])
	}
	sales, _ := r.observed(hasSales)
	risk, _ := r.observed(func(o observation) bool { return len(o.Warnings) > 0 })
	return []line{
		{noMark, labelPlan, planAccepted(steps)},
		{noMark, labelAnswer, answerSales(sales.GrossSalesUSD, sales.NetSalesUSD, sales.RefundRate, spike(risk))},
	}
}

// spike returns the sentence about the risk of a month.
func spike(o observation) string {
	warning := strings.Join(o.Warnings, " ")
	if o.PeakDay.Day != "" && strings.Contains(warning, o.PeakDay.Day) {
		return spikeOn(day(o.PeakDay.Day), o.PeakDay.RefundsUSD)
	}
	return warning
}

// morning tells what each worker found, and why the health is what it is.
func morning(r Result) []line {
	timeout := r.Budget.TaskTimeout
	found := map[string]figures{}
	for _, h := range r.History {
		found[h.Worker] = h.Observation.Result
	}
	lines := make([]line, 0, len(r.Trace)+1)
	for _, row := range r.Trace {
		l := line{good, row.Worker, workerFound(found[row.Worker])}
		if row.Status != "done" {
			l = line{bad, row.Worker, row.Status}
		}
		if row.Retried {
			timedOut := 0.0
			if timeout.Used >= timeout.Limit {
				timedOut = timeout.Limit
			}
			l.text += " " + workerRetried(row.Attempts, timedOut, row.Status == "done")
		}
		lines = append(lines, l)
	}
	return append(lines, line{noMark, labelHealth, healthBecause(r.Aggregate.Health, becauses(r.Aggregate))})
}

// becauses returns the reasons for a health, from the facts of the report.
func becauses(a aggregate) []string {
	var list []string
	if incident := a.Payments.GatewayIncident; incident != "" && incident != "none" {
		list = append(list, becauseIncident(incident))
	}
	if len(a.Inventory.OutOfStock) > 0 {
		list = append(list, becauseOutOfStock(a.Inventory.OutOfStock, a.Inventory.RestockDays))
	}
	if len(a.Missing) > 0 {
		list = append(list, becauseMissing(a.Missing))
	}
	if len(list) == 0 && a.Health != "green" {
		list = append(list, becausePayments(a.Payments.FailedPaymentRate))
	}
	return list
}

// ticket tells which specialist answered the ticket, and the answer.
func ticket(r Result) []line {
	answer, _ := r.observed(func(o observation) bool { return o.Status == "done" })
	return []line{{good, r.SelectedRoute, specialistSaid(answer.Result)}}
}

// refund tells which rule asked a person, and what the person allowed of what was proposed.
func refund(r Result) []line {
	refunds := r.refunds()
	if len(refunds) == 0 {
		return []line{{bad, "", noRefund}}
	}
	h := refunds[0]
	hint, _ := r.observed(func(o observation) bool { return o.Hint.AutoRefundLimitUSD > 0 })
	return []line{
		{noMark, labelRule, ruleWords(h.Supervisor.Reason, hint.Hint.AutoRefundLimitUSD)},
		{good, labelPerson, personAllowed(h.Human.By == "simulated", h.Executed.usd(), h.Action.usd()) + " " + paidAndConfirmed(r.Paid(), r.confirmed())},
	}
}

// refusedAttack tells why a call was refused before anything ran.
func refusedAttack(what string) func(Result) []line {
	return func(r Result) []line {
		said := refusedBecause(r.StopReason)
		if tool, ok := strings.CutPrefix(r.StopReason, "invalid_plan:tool_not_allowed:"); ok {
			said = refusedTool(tool)
		} else if len(r.Problems) > 0 {
			_, member, _ := cutLast(r.Problems[0].Pointer, "/")
			said = refusedMember(member, whyRefused(r.Problems[0]))
		}
		reads, writes := r.called()
		return []line{{good, what, said + " " + calledAfter(reads+writes)}}
	}
}

// askedAttack tells that a person decided all the same.
func askedAttack(what string, says func(reasonAdded bool, paid float64) string) func(Result) []line {
	return func(r Result) []line {
		refunds := r.refunds()
		if len(refunds) == 0 {
			return []line{{bad, what, noRefund}}
		}
		h := refunds[0]
		return []line{{good, what, says(slices.Contains(h.Supervisor.Revisions, "refund_reason_required"), r.Paid())}}
	}
}

// failed tells that a result is not as it should be.
func failed(title string, r Result) []line {
	return []line{{bad, "", notAsExpected(title, r.Status, r.StopReason, r.Next.Say)}}
}

// opening returns the beginning of a request: as many of its clauses as fit in most characters, at least one.
func opening(text string, most int) string {
	end := len(text)
	for i := range text {
		if i > 0 && (text[i] == ' ' || i == len(text)-1) && strings.ContainsRune(".,:?", rune(text[i-1])) && (end == len(text) || i <= most) {
			end = i
		}
	}
	return strings.TrimRight(text[:end], " ,:")
}

// written returns the words of a customer, without their name.
func written(ticket string) string {
	if _, words, found := strings.Cut(ticket, " writes: "); found {
		return words
	}
	return ticket
}

// cutLast cuts around the last separator.
func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return "", text, false
}
