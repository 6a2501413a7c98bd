package patterns

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"patterngate/gateway"
)

// MaxDepth is how deep runs nest: a run that nobody's call began, and three below it.
const MaxDepth = 4

// Parent says whose call began a run.
type Parent struct {
	RunID, Key string
	// Within are the patterns of the runs that the run lies in, the outermost first; the parent's is the last.
	Within []string
	// Share bounds the run besides its own budget.
	Share Share
}

// ChildID is the id of the run that a call begins: of the parent, which nobody guesses, and of the call's place there, so that who
// goes on with a call that was begun joins the same run.
func ChildID(parent, key string) string {
	sum := sha256.Sum256([]byte("child/" + parent + "/" + key))
	return "run_" + hex.EncodeToString(sum[:8])
}

// NoTime is the [Share.Time] of a call that nothing cuts.
const NoTime time.Duration = 1 << 31 * time.Second

// Begun is the job of a run that a call of another run began, within what that left for it; nil: nobody's call did. A child run waits
// for no caller, and is equal to no call.
func (j Job) Begun(by *Parent) Job {
	if by == nil {
		return j
	}
	j.Parent, j.Equal, j.ByKey, j.Wait, j.Progress = by, "", "", 0, nil
	j.Spec.Budget = by.Share.Within(j.Spec.Budget)
	j.Task.Caller, j.Task.Handover = nil, true
	return j
}

// Observed is what a child run that did what it was asked is to its parent: an observation.
func Observed(spec Spec, r Result) any {
	v := map[string]any{"status": "ok"}
	switch {
	case r.AnswerValue != nil: // whole, where the text is cut
		v["answer"] = r.AnswerValue
	case r.Answer != "":
		v["answer"] = r.Answer
	}
	if r.Aggregate != nil {
		v["aggregate"] = r.Aggregate.Payload()
	}
	if spec.Kind == gateway.Call {
		v["result"] = r.Observation
	}
	return v
}
