package patterns

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/gateway"
)

// Price is what a model's tokens cost, in USD per million. The zero Price is free, or not known.
type Price struct{ InputUSD, OutputUSD float64 }

// Of is what so many tokens cost.
func (p Price) Of(input, output int) float64 {
	return nanos((float64(input)*p.InputUSD + float64(output)*p.OutputUSD) / 1e6)
}

// nanos rounds an amount to what sums of amounts keep: a billionth of a USD.
func nanos(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// Prices are what the questions of a run are estimated at: of the models that may answer them the dearest.
type Prices struct {
	Decide Price // plans, routes, actions
	Write  Price // final texts, results of subtasks
}

func (p Prices) of(q Question) Price {
	if q.Ask == AskAnswer || q.Ask == AskWork {
		return p.Write
	}
	return p.Decide
}

// ModelUsage is what one model cost.
type ModelUsage struct {
	Model string `json:"model"`
	Usage
}

// PlusModels adds what models cost to a list of them, in the order in which they were first asked.
func PlusModels(list, more []ModelUsage) []ModelUsage {
	for _, m := range more {
		at := slices.IndexFunc(list, func(l ModelUsage) bool { return l.Model == m.Model })
		if at < 0 {
			list = append(slices.Clip(list), m)
			continue
		}
		list = slices.Clone(list)
		list[at].Usage = list[at].Plus(m.Usage)
	}
	return list
}

// Answerers are the names of the models that were asked anything, in the order in which they first were; "" for none.
func Answerers(list []ModelUsage) string {
	var names []string
	for _, m := range list {
		if m.Requests > 0 && m.Model != "" {
			names = append(names, m.Model)
		}
	}
	return strings.Join(names, ", ")
}

// Answerers are the names of the models that answered a run's questions, those of its child runs too. own is the run's own model: it
// answered what no other is known to have.
func (r Result) Answerers(own string) string {
	list, rest := r.Models, r.Usage.Requests
	for _, m := range list {
		rest -= m.Requests
	}
	if rest > 0 {
		list = PlusModels([]ModelUsage{{Model: own, Usage: Usage{Requests: rest}}}, list)
	}
	return cmp.Or(Answerers(list), own)
}

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

// plus adds two estimates; minus takes one back.
func (e Estimate) plus(f Estimate) Estimate {
	return Estimate{e.Input + f.Input, e.Output + f.Output, nanos(e.USD + f.USD)}
}

func (e Estimate) minus(f Estimate) Estimate {
	return Estimate{e.Input - f.Input, e.Output - f.Output, nanos(e.USD - f.USD)}
}

// EstimateOf estimates a question by the length of its payload in canonical form.
func EstimateOf(payload []byte, price Price) Estimate {
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

// unaffordable is the stop of a question that the run's budget of tokens or money does not allow, while others that are estimated
// at so much are under way; nil: it may be asked.
//
// The limit of tokens of a built-in pattern is read as its contract has it: the question after it was reached is not asked. For
// patterns of a file, and for money, the question that would go beyond it is not.
func (l *log) unaffordable(phase string, q Question, underWay Estimate) *stop {
	b := l.spec.Budget
	used := l.usage.InputTokens + l.usage.OutputTokens
	if b.MaxTokens.Named() && used >= int(b.MaxTokens) {
		return stopped(phase, "max_tokens")
	}
	if !l.spec.LLM || !(b.MaxTokens.Named() && l.spec.Declared || b.MaxCost.Named()) {
		return nil // rules cost nothing
	}
	e := EstimateOf(q.canonical(), l.spec.Prices.of(q))
	if left := int(b.MaxTokens) - used - underWay.Tokens(); b.MaxTokens.Named() && l.spec.Declared && e.Tokens() > left {
		return overEstimated(phase, "max_tokens", fmt.Sprintf("The question was estimated at %s tokens; %s are left.", grouped(e.Tokens()), grouped(max(0, left))))
	}
	if left := nanos(float64(b.MaxCost) - l.usage.CostUSD - underWay.USD); b.MaxCost.Named() && e.USD > left {
		return overEstimated(phase, "max_cost_usd", fmt.Sprintf("The question was estimated at %.6f USD; %.6f are left.", e.USD, max(0, left)))
	}
	return nil
}

func overEstimated(phase, reason, words string) *stop {
	return &stop{phase, reason, func(r *Result) { r.Estimated = words }}
}

// grouped is a whole number with its thousands apart.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// charge enters what a question cost.
func (l *log) charge(out Outcome) {
	l.asked = l.asked || out.State != Canceled
	l.usage = l.usage.Plus(out.Usage)
	l.models = PlusModels(l.models, out.Models)
}

// limitedUSD notes a limit of money that is in force.
func limitedUSD(spent map[string]Spent, limit gateway.USD, used float64) {
	if limit.Named() {
		spent["max_cost_usd"] = Spent{float64(limit), used}
	}
}
