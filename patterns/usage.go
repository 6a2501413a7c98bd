package patterns

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Price is what a model's tokens cost, in USD per million. The zero Price is free, or not known.
type Price struct{ InputUSD, OutputUSD float64 }

// Of is what so many tokens cost.
func (p Price) Of(input, output int) float64 {
	return RoundUSD((float64(input)*p.InputUSD + float64(output)*p.OutputUSD) / 1e6)
}

// RoundUSD rounds an amount to what sums of amounts keep: a billionth of a USD.
func RoundUSD(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// Prices are what the questions of a run are estimated at: of the models that may answer them the dearest.
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

func Seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
