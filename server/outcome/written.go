package outcome

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// written says what the run changed outside, as far as the record shows.
func (a account) written() string {
	if len(a.Ledger) == 0 {
		return nothingRan
	}
	by := map[gateway.EffectStatus][]string{}
	for _, e := range a.Ledger {
		if e.Effect != catalog.Read {
			by[e.Status] = append(by[e.Status], a.phrase(e.Tool, e.Args)+before(e)+reported(e))
		}
	}
	if len(by) == 0 {
		return nothingWritten
	}
	var said []string
	for _, s := range []struct {
		status gateway.EffectStatus
		words  string
	}{
		{gateway.Finished, doneWrites},
		{gateway.InDoubt, unknownWrites},
		{gateway.Reserved, reservedWrites},
		{gateway.Failed, failedWrites},
	} {
		if list := by[s.status]; len(list) > 0 {
			said = append(said, listed(s.words, sentence.List(list)))
		}
	}
	return strings.Join(said, " ")
}

// WrittenSoFar says what a run that waits for its caller has changed outside. It returns "" for other runs.
func WrittenSoFar(c arguments.Call, ended patterns.Ended) string {
	w := ended.Waiting
	if w == nil || WaitKind(w) != string(patterns.ForCaller) || c.Spec.Catalog == nil {
		return ""
	}
	return account{Call: c, Result: w.SoFar, runID: ended.RunID}.written()
}

// before marks a call that was not sent, because the same action was done before.
func before(e gateway.Entry) string {
	if e.Duplicate && e.Effect != catalog.Read {
		return doneBefore
	}
	return ""
}

// reported marks a call that was answered with an error.
func reported(e gateway.Entry) string {
	if _, failed := gateway.Reported(e.Observation); failed && e.Status == gateway.Finished {
		return reportedError
	}
	return ""
}

// notDone says which proposed calls were not made.
func (a account) notDone() string {
	var list []string
	switch a.Spec.Kind {
	case gateway.TaskDecomposition:
		steps, _ := a.Plan.([]gateway.Step)
		for _, s := range steps[min(len(a.History), len(steps)):] {
			if !a.tried(s.Tool, len(list)) {
				list = append(list, inStep(a.phrase(s.Tool, s.Args), sentence.Label(s.ID)))
			}
		}
	case gateway.Orchestrator:
		for i, row := range a.History {
			if task, ok := row.(patterns.TaskRow); ok && !task.Done() && !task.InDoubt && !a.acted(fmt.Sprintf("task#%d/", i+1)) {
				list = append(list, forTask(printable.Name(task.Worker), sentence.Label(task.TaskID)))
			}
		}
	case gateway.Supervisor:
		list = a.actionsLeft()
	}
	if len(list) == 0 {
		return ""
	}
	return notDone(sentence.List(list))
}

// acted reports whether a call of a branch changed something, or may have, although the branch did not succeed.
func (a account) acted(branch string) bool {
	return slices.ContainsFunc(a.Ledger, func(e gateway.Entry) bool {
		return strings.HasPrefix(e.Key, branch) && e.Effect != catalog.Read && e.Status != gateway.Failed
	})
}

// tried reports whether the step at which a run stopped was called. That is the first step that is not in the history.
// The ledger then has its outcome.
func (a account) tried(tool string, before int) bool {
	last := len(a.Ledger) - 1
	return before == 0 && last >= len(a.History) && a.Ledger[last].Tool == tool
}

// actionsLeft returns the calls that a supervised run's proposer wanted and that were not made. These are the one at
// which the run stopped, and later ones of a caller.
func (a account) actionsLeft() []string {
	var left []string
	leave := func(i int, action any) {
		row, _ := action.(map[string]any)
		name, isCall := row["name"].(string)
		if isCall {
			args, _ := row["args"].(map[string]any)
			left = append(left, inStep(a.phrase(ijson.Trim(name), args), strconv.Itoa(i+1)))
		}
	}
	next := len(a.History)
	if a.Action != nil {
		if len(a.Ledger) <= next { // otherwise it was called, and the ledger has its outcome
			leave(next, a.Action)
		}
		next++
	}
	own, _ := a.Intents["actions"].([]any)
	for i := next; a.ByCall && i < len(own); i++ {
		leave(i, own[i])
	}
	return left
}

// phrase describes a call for people: the tool's own phrase with judged values, or its name.
func (a account) phrase(tool string, args map[string]any) string {
	if t, ok := a.Spec.Catalog.Tool(tool); ok {
		return printable.Text(t.Say(args))
	}
	return printable.Name(tool)
}
