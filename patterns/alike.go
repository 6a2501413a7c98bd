package patterns

import (
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
)

const (
	// alikeFor is how long an approval is shown to the approver of an equal call.
	alikeFor = 24 * time.Hour
	// maxAlike is how many of the newest questions are searched for equal ones.
	maxAlike = 1000
)

// Alike returns the other questions about an equal call, newest first: the same tool with the same arguments. They wait, or a person
// approved such a call within the last 24 hours, perhaps as an edit. It returns the error of the journal.
func Alike(all Approvals, a Asked, now time.Time) ([]Asked, error) {
	page, err := all.ListApprovals(ApprovalFilter{All: true, Limit: maxAlike})
	if err != nil {
		return nil, err
	}
	hash := ijson.ArgsHash(a.Question.Args)
	var list []Asked
	for _, other := range page.Rows {
		args, told := other.Question.Args, other.State == AskedOpen
		if g := other.Given; other.State == AskedDecided && g != nil {
			told = g.Choice != gateway.ChooseReject && now.Sub(g.At) < alikeFor
			if g.Choice == gateway.ChooseEdit {
				args = g.Args
			}
		}
		if told && other.ID != a.ID && other.Question.Tool == a.Question.Tool && args != nil && ijson.ArgsHash(args) == hash {
			list = append(list, other)
		}
	}
	return list, nil
}
