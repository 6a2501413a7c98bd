package patterns

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Price is the price of a model's tokens, in USD per million. The zero Price is free or not known.
type Price struct{ InputUSD, OutputUSD float64 }

// Of returns the cost of this many tokens.
func (p Price) Of(input, output int) float64 {
	return RoundUSD((float64(input)*p.InputUSD + float64(output)*p.OutputUSD) / 1e6)
}

// RoundUSD rounds an amount to a billionth of a USD, the precision of sums.
func RoundUSD(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// Prices are the prices for the estimates of a run's questions. Each is that of the most expensive model that may answer.
type Prices struct {
	Decide Price // plans, routes, actions
	Write  Price // final texts, results of subtasks
}

func (p Prices) Of(q Question) Price {
	if q.Ask == AskAnswer || q.Ask == AskWork {
		return p.Write
	}
	return p.Decide
}

// ModelUsage is the cost of one model.
type ModelUsage struct {
	Model string `json:"model"`
	Usage
}

// PlusModels adds the cost of models to a list, in the order in which they were first asked.
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

// Answerers returns the names of the models that were asked anything, in the order in which they were first asked; "" for none.
func Answerers(list []ModelUsage) string {
	var names []string
	for _, m := range list {
		if m.Requests > 0 && m.Model != "" {
			names = append(names, m.Model)
		}
	}
	return strings.Join(names, ", ")
}

// Answerers returns the names of the models that answered the questions of a run and its child runs. The argument own names the run's
// own model. It counts for the requests that no other model is known to have answered.
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

func Seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
