package step

import (
	"fmt"
	"unicode/utf8"

	"patterngate/gateway"
	"patterngate/patterns"
)

// What a question is estimated at before it is asked: a token for every 4 bytes of its payload, as it is sent in ASCII; besides,
// what prompts, tools' schemas and the reply usually take. The payload stands in the record, so a replay estimates the same.
const (
	bytesPerToken = 4
	promptTokens  = 1000
	replyTokens   = 500
)

// Estimate is what a question may cost.
type Estimate struct {
	Input, Output int     // tokens
	USD           float64 // by the price that is known
}

// Tokens are all of them.
func (e Estimate) Tokens() int { return e.Input + e.Output }

// Plus adds two estimates; minus takes one back.
func (e Estimate) Plus(f Estimate) Estimate {
	return Estimate{e.Input + f.Input, e.Output + f.Output, patterns.RoundUSD(e.USD + f.USD)}
}

func (e Estimate) Minus(f Estimate) Estimate {
	return Estimate{e.Input - f.Input, e.Output - f.Output, patterns.RoundUSD(e.USD - f.USD)}
}

// EstimateOf estimates a question by the length of its payload in canonical form.
func EstimateOf(payload []byte, price patterns.Price) Estimate {
	e := Estimate{Input: promptTokens + (sentBytes(payload)+bytesPerToken-1)/bytesPerToken, Output: replyTokens}
	e.USD = price.Of(e.Input, e.Output)
	return e
}

// sentBytes is how long a text is with everything beyond ASCII escaped.
func sentBytes(text []byte) int {
	const escape = len(`\uffff`)
	n := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r < utf8.RuneSelf:
			n++
		case r > 0xffff: // two halves
			n += 2 * escape
		default:
			n += escape
		}
		text = text[size:]
	}
	return n
}

// Unaffordable is the stop of a question that the run's budget of tokens or money does not allow, while others that are estimated
// at so much are under way; nil: it may be asked.
//
// The limit of tokens of a built-in pattern is read as its contract has it: the question after it was reached is not asked. For
// patterns of a file, and for money, the question that would go beyond it is not.
func (l *Log) Unaffordable(phase string, q patterns.Question, underWay Estimate) *Stop {
	b := l.Spec.Budget
	used := l.Usage.InputTokens + l.Usage.OutputTokens
	if b.MaxTokens.Named() && used >= int(b.MaxTokens) {
		return Stopped(phase, "max_tokens")
	}
	if !l.Spec.LLM || !(b.MaxTokens.Named() && l.Spec.Declared || b.MaxCost.Named()) {
		return nil // rules cost nothing
	}
	e := EstimateOf(q.Canonical(), l.Spec.Prices.Of(q))
	if left := int(b.MaxTokens) - used - underWay.Tokens(); b.MaxTokens.Named() && l.Spec.Declared && e.Tokens() > left {
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

// grouped is a whole number with its thousands apart.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// Charge enters what a question cost.
func (l *Log) Charge(out patterns.Outcome) {
	l.asked = l.asked || out.State != patterns.Canceled
	l.Usage = l.Usage.Plus(out.Usage)
	l.Models = patterns.PlusModels(l.Models, out.Models)
}

// limitedUSD notes a limit of money that is in force.
func limitedUSD(spent map[string]patterns.Spent, limit gateway.USD, used float64) {
	if limit.Named() {
		spent["max_cost_usd"] = patterns.Spent{Limit: float64(limit), Used: used}
	}
}
