package step

import (
	"fmt"
	"unicode/utf8"

	"patterngate/gateway"
	"patterngate/patterns"
)

// A question is estimated before it is asked. Its payload counts one token for every 4 bytes of its ASCII form. Fixed
// amounts are added for prompts with tool schemas, and for the reply. The payload is recorded, so a replay makes the same
// estimate.
const (
	bytesPerToken = 4
	promptTokens  = 1000
	replyTokens   = 500
)

// Estimate is what a question may cost. The zero Estimate is no cost.
type Estimate struct {
	Input, Output int     // tokens
	USD           float64 // at the known price
}

// Tokens returns the input and output tokens together.
func (e Estimate) Tokens() int { return e.Input + e.Output }

// Plus returns the sum of two estimates.
func (e Estimate) Plus(f Estimate) Estimate {
	return Estimate{e.Input + f.Input, e.Output + f.Output, patterns.RoundUSD(e.USD + f.USD)}
}

// Minus returns an estimate without the other one, which was added before.
func (e Estimate) Minus(f Estimate) Estimate {
	return Estimate{e.Input - f.Input, e.Output - f.Output, patterns.RoundUSD(e.USD - f.USD)}
}

// EstimateOf estimates a question by the length of its payload, which is canonical JSON.
func EstimateOf(payload []byte, price patterns.Price) Estimate {
	e := Estimate{Input: promptTokens + (sentBytes(payload)+bytesPerToken-1)/bytesPerToken, Output: replyTokens}
	e.USD = price.Of(e.Input, e.Output)
	return e
}

// sentBytes returns the length of a text in which everything beyond ASCII is escaped.
func sentBytes(text []byte) int {
	const escape = len(`\uffff`)
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r < utf8.RuneSelf:
			n++
		case r > 0xffff: // a surrogate pair
			n += 2 * escape
		default:
			n += escape
		}
		text = text[size:]
	}
	return n
}

// Unaffordable returns the stop of a question that the run's budget of tokens or money does not allow. It returns nil if the
// question may be asked. underWay is the estimate of other questions that are being asked.
//
// A pattern stops at the question that would exceed its token limit. If it overruns tokens, it stops at the first question
// after the limit was reached. A money limit is never overrun.
func (l *Log) Unaffordable(phase string, q patterns.Question, underWay Estimate) *Stop {
	b := l.Spec.Budget
	used := l.Usage.InputTokens + l.Usage.OutputTokens
	if b.MaxTokens.Named() && used >= int(b.MaxTokens) {
		return Stopped(phase, "max_tokens")
	}
	tokens := b.MaxTokens.Named() && !l.Spec.OverrunsTokens
	if !l.Spec.LLM || !tokens && !b.MaxCost.Named() {
		return nil // the offline rules cost nothing
	}
	e := EstimateOf(q.Canonical(), l.Spec.Prices.Of(q))
	if left := int(b.MaxTokens) - used - underWay.Tokens(); tokens && e.Tokens() > left {
		return overEstimated(phase, "max_tokens", fmt.Sprintf("The question was estimated at %s tokens; %s are left.", grouped(e.Tokens()), grouped(max(0, left))))
	}
	if left := patterns.RoundUSD(float64(b.MaxCost) - l.Usage.CostUSD - underWay.USD); b.MaxCost.Named() && e.USD > left {
		return overEstimated(phase, "max_cost_usd", fmt.Sprintf("The question was estimated at %.6f USD; %.6f are left.", e.USD, max(0, left)))
	}
	return nil
}

func overEstimated(phase, reason, words string) *Stop {
	return &Stop{phase, reason, func(r *patterns.Result) { r.Estimated = words }}
}

// grouped formats a whole number with commas between its thousands.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// Charge adds what a question cost to the run's usage.
func (l *Log) Charge(out patterns.Outcome) {
	l.asked = l.asked || out.State != patterns.Canceled
	l.Usage = l.Usage.Plus(out.Usage)
	l.Models = patterns.PlusModels(l.Models, out.Models)
}

// limitedUSD adds a limit of money to spent if it is set.
func limitedUSD(spent map[string]patterns.Spent, limit gateway.USD, used float64) {
	if limit.Named() {
		spent["max_cost_usd"] = patterns.Spent{Limit: float64(limit), Used: used}
	}
}
