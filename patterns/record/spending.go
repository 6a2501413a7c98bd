package record

import (
	"cmp"
	"time"

	"patterngate/patterns"
)

// Paid is what one question of a run cost with one model.
type Paid struct {
	At    time.Time // of the answer
	Model string    // "" where the record does not say
	patterns.Usage
}

// PaidOf lists what a run's own questions cost, in the order in which they were answered. What its child runs asked is in their own
// records, and not in this list, though it counts against the run's budget.
func PaidOf(events []patterns.Event) []Paid {
	asked := map[string]bool{}
	var all []Paid
	model := ""
	for _, e := range events {
		body, err := patterns.DecodeBody(e)
		if err != nil { // of a newer version, or damaged: who verifies the record says so
			continue
		}
		switch body := body.(type) {
		case *patterns.IntentBody:
			asked[e.Key] = body.EffectKind == patterns.ModelEffect
		case *patterns.OutcomeBody:
			if e.Kind == patterns.OutcomeEvent && asked[e.Key] {
				all = append(all, paid(*body, e.At)...)
			}
		case *patterns.EndBody:
			model = body.Usage.Model
		}
	}
	for i := range all {
		all[i].Model = cmp.Or(all[i].Model, model)
	}
	return all
}

// paid is what one answer cost, by model; in records of before the models are not told.
func paid(b patterns.OutcomeBody, at int64) []Paid {
	when := time.UnixMicro(at).UTC()
	if len(b.Usage.Models) == 0 {
		if b.Usage.Usage == (patterns.Usage{}) {
			return nil
		}
		return []Paid{{At: when, Usage: b.Usage.Usage}}
	}
	var list []Paid
	for _, m := range b.Usage.Models {
		list = append(list, Paid{when, m.Model, m.Usage})
	}
	return list
}
