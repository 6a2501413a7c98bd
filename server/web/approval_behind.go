package web

import (
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// behind holds what an approver needs to know besides the call: its author, the results that the policy read, and equal calls.
type behind struct {
	WrittenBy string
	Alike     []alikeRow
	MoreAlike string
	Observed  []observedRow
	Earlier   string // how many earlier calls are not shown
}

// alikeRow is an equal call that waits or was approved.
type alikeRow struct {
	ID, Words string
	At        wording.Moment
}

// observedRow is the result of an earlier call.
type observedRow struct {
	Tool   string
	Values []argument
	More   string
}

// maxAlike is the number of equal calls that are shown.
const maxAlike = 5

func (b *behind) alike(list []patterns.Asked, now time.Time) {
	for _, other := range list[:min(len(list), maxAlike)] {
		row := alikeRow{ID: other.ID, Words: wording.AlikeWaits, At: wording.MomentOf(other.Since, now)}
		if g := other.Given; g != nil {
			row.Words, row.At = wording.AlikeApproved, wording.MomentOf(g.At, now)
			if g.Choice == gateway.ChooseEdit {
				row.Words = wording.AlikeEdited
			}
		}
		b.Alike = append(b.Alike, row)
	}
	if more := len(list) - len(b.Alike); more > 0 {
		b.MoreAlike = wording.More(more, "more equal call")
	}
}

// read fills b from the record of the question.
func (b *behind) read(of record.Behind, a patterns.Asked) {
	b.WrittenBy = wording.Clip(of.WrittenBy(a.Question.Args), maxSaid)
	for _, o := range of.Observed {
		row := observedRow{Tool: wording.Name(o.Tool)}
		for _, v := range o.Result {
			row.Values = append(row.Values, argument{Name: wording.Visible(v.Name), Value: wording.Visible(v.Text())})
		}
		if o.Left > 0 {
			row.More = wording.More(o.Left, "more value")
		}
		b.Observed = append(b.Observed, row)
	}
	if of.Left > 0 {
		b.Earlier = wording.EarlierNotShown(of.Left)
	}
}
