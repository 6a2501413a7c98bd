package record

import (
	"cmp"
	"time"

	"patterngate/patterns"
)

// Paid is the cost of one question of a run with one model.
type Paid struct {
	At    time.Time // of the answer
	Model string    // "" if the record does not say
	patterns.Usage
}

// PaidOf lists the cost of a run's own questions, in the order of the answers. The cost of its child runs is in their own records. It
// is not in this list, although it counts against the run's budget.
func PaidOf(events []patterns.Event) []Paid {
	asked := map[string]bool{}
	var all []Paid
	model := ""
	for _, e := range events {
		body, err := patterns.DecodeBody(e)
		if err != nil { // of a newer version or damaged; [Check] reports it
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

// paid returns the cost of one answer by model. Records of earlier builds do not name the models.
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
