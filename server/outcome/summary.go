package outcome

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// account describes one run from its record alone. It never uses a model's words or raw arguments.
type account struct {
	arguments.Call
	patterns.Result
	runID string
	took  time.Duration
}

func newAccount(c arguments.Call, ended patterns.Ended) account {
	if c.Spec.Kind == gateway.Call { // its arguments always come from the caller
		ended.Result.ByCall = true
	}
	return account{c, ended.Result, ended.RunID, ended.Ended.Sub(ended.Began) - ended.Waited}
}

// summary says in one paragraph what was decided, what was done and why the run stopped.
func (a account) summary() string {
	switch {
	case a.Spec.Kind == gateway.Planning:
		return a.planSummary()
	case a.OK():
		return sentence.Paragraph(a.outcome(), a.written())
	case a.RawName != "":
		refused, _ := a.refusal()
		return sentence.Paragraph(a.progress(), refused, a.written())
	}
	why, _ := a.why()
	return sentence.Paragraph(a.progress(), why, a.written())
}

// outcome says how a successful run ended.
func (a account) outcome() string {
	switch a.Spec.Kind {
	case gateway.TaskDecomposition:
		return planCompleted(a.whose(), planned(a.Plan), a.time())
	case gateway.Orchestrator:
		done, retried := a.tasksDone()
		return tasksCompleted(a.whose(), done, planned(a.Plan), a.time(), retried, a.health())
	case gateway.Routing:
		return routeAnswered(printable.Name(a.SelectedRoute), a.proposer(), cmp.Or(a.Spec.Words.Request, "request"), a.time(), a.declined()+a.notConsidered())
	case gateway.Supervisor:
		return actionsCompleted(a.actionsDone(), a.proposers(), a.time(), a.judged())
	case gateway.Call:
		return a.singleOutcome()
	}
	return finished(a.time())
}

// progress says how far a stopped run came. It returns "" if nothing was accepted.
func (a account) progress() string {
	switch steps := planned(a.Plan); {
	case a.Spec.Kind == gateway.Orchestrator && steps > 0:
		done, retried := a.tasksDone()
		return tasksSoFar(a.whose(), done, steps, retried)
	case steps > 0:
		return stepsSoFar(a.whose(), len(a.History), steps)
	case a.Spec.Kind == gateway.Routing && len(a.History) > 0:
		return routesSoFar(len(a.History), a.target(), a.declined())
	case a.Spec.Kind == gateway.Supervisor && len(a.History) > 0:
		return actionsSoFar(a.actionsDone(), a.proposers(), a.judged())
	}
	return ""
}

// refusal says that an intent was not accepted: for the summary, and for the person.
func (a account) refusal() (summary, say string) {
	whose := theIntent
	if !a.ByCall {
		whose = a.whose()
	}
	what := strings.TrimPrefix(a.RawName, "raw_")
	faults := sentence.Count(arguments.CountProblems(a.Problems), "problem")
	if len(a.Problems) > 0 && a.Problems[0].Turn > 1 {
		turn := a.Problems[0].Turn
		last := slices.DeleteFunc(slices.Clone(a.Problems), func(p document.Problem) bool { return p.Turn != turn })
		faults = sentence.Count(len(last), "problem")
		return intentRefusedAgain(whose, what, turn, a.Phase, faults, a.hollow()), intentRefusedSay(whose, what, faults)
	}
	return intentRefused(whose, what, a.Phase, faults, a.hollow()), intentRefusedSay(whose, what, faults)
}

// hollow quotes a refused intent that is empty: {}, [] or null. Such an intent is an answer, unlike an empty text.
func (a account) hollow() string {
	switch v := a.Raw.(type) {
	case nil:
	case map[string]any:
		if len(v) > 0 {
			return ""
		}
	case []any:
		if len(v) > 0 {
			return ""
		}
	default:
		return ""
	}
	return intentWasEmpty(string(ijson.Canonical(a.Raw)))
}

// why says why a run stopped: for the summary, with phase and stop reason, and for the person. Both use the registry's
// words.
func (a account) why() (summary, say string) {
	for _, special := range []func() (string, string){a.ownToolStop, a.blockedWhy, a.leftOut} {
		if summary, say := special(); summary != "" {
			return summary, say
		}
	}
	switch about, name, _ := strings.Cut(a.StopReason, ":"); about {
	case "goal_incomplete":
		tool, argument, _ := strings.Cut(name, ".")
		argument, tool = printable.Name(argument), printable.Name(tool)
		return goalLacks(a.Phase, argument, tool), goalLacksSay(argument, tool)
	case humanRejected, gateway.ApprovalExpired, gateway.ApprovalConsumed, gateway.ApprovalInvalid:
		return a.unapproved()
	}
	why := meaning(a.StopReason)
	if strings.HasPrefix(a.StopReason, "tool_bad_args:") && !a.keyed() {
		why = badArguments
	}
	reason := sentence.Reason(a.StopReason)
	return sentence.Joined(stopped(a.Phase, a.time(), why, reason), a.below(), a.Estimated), stoppedSay(why, reason)
}

// below says why the child run stopped, if this run stopped because of it. Otherwise it returns "".
func (a account) below() string {
	if len(a.Trace) == 0 {
		return ""
	}
	child, why := "", ""
	switch row := a.Trace[len(a.Trace)-1].(type) {
	case patterns.RouteRow:
		child, why = row.ChildRunID, row.ObservationError
	case patterns.TaskTrace:
		for _, row := range a.FailedCritical {
			for _, t := range a.Trace {
				if t, ok := t.(patterns.TaskTrace); ok && t.TaskID == row.TaskID && child == "" {
					child, why = t.ChildRunID, t.ObservationError
				}
			}
		}
	}
	if child == "" || why == "" {
		return ""
	}
	return childStopped(child, sentence.Reason(why))
}

// leftOut names the critical workers that a plan has no task for, if that is why nothing ran: for the summary, and for
// the person. Otherwise both are "".
func (a account) leftOut() (summary, say string) {
	tasks, _ := a.Plan.([]gateway.Task)
	if a.StopReason != criticalFailed || len(a.FailedCritical) > 0 || len(tasks) == 0 {
		return "", ""
	}
	var names []string
	for _, worker := range a.Spec.Critical {
		if !slices.ContainsFunc(tasks, func(t gateway.Task) bool { return t.Worker == worker }) {
			names = append(names, printable.Name(worker))
		}
	}
	return taskMissing(sentence.List(names), criticalFailed), taskMissingSay(sentence.List(names))
}

const criticalFailed = "critical_task_failed"

// keyed reports whether the tool that a stop reason names has a business key.
func (a account) keyed() bool {
	_, name, _ := strings.Cut(a.StopReason, ":")
	if a.Spec.Catalog == nil {
		return false
	}
	tool, _ := a.Spec.Catalog.Tool(name)
	return tool.Once != nil
}

// meaning returns the registry's meaning of a stop reason, in a form that can follow a colon.
func meaning(reason string) string {
	row, ok := stopreason.Lookup(reason)
	if !ok {
		return unexplained
	}
	m := strings.TrimSuffix(row.Meaning, ".")
	return strings.ToLower(m[:1]) + m[1:]
}

// stoppedAt returns the name of the action at which a supervised run stopped, for the beginning of a sentence.
func (a account) stoppedAt() string {
	if row, ok := a.Action.(map[string]any); ok && row["kind"] == "tool" {
		name, _ := row["name"].(string)
		return printable.Name(name)
	}
	return theFinalAnswer
}

// author returns the name of the part that proposes if the caller does not.
func (a account) author() string {
	if a.Model == "rules" {
		return "rules"
	}
	return "model"
}

func (a account) proposer() string {
	switch {
	case a.ByCall:
		return theCaller
	case a.author() == "rules":
		return theRules
	}
	return theModel
}

// whose names the proposer of a plan, for the beginning of a sentence: "The caller's".
func (a account) whose() string {
	switch a.proposer() {
	case theCaller:
		return callersOwn
	case theRules:
		return rulesOwn
	}
	return modelsOwn
}

// proposers returns all parts whose proposals were used, for runs that can have several.
func (a account) proposers() string {
	if a.Taken > 0 && !a.ByCall {
		return callerAnd(a.proposer())
	}
	return a.proposer()
}

// time returns how long the run took.
func (a account) time() string {
	if a.took < 5*time.Millisecond {
		return noTime
	}
	return seconds(a.took.Seconds())
}

// tasksDone counts the tasks that were done, and says how many were retried.
func (a account) tasksDone() (done int, retried string) {
	again := 0
	for _, row := range a.History {
		task, _ := row.(patterns.TaskRow)
		if task.Done() {
			done++
		}
		if task.Retried {
			again++
		}
	}
	if again > 0 {
		retried = retriedTasks(again)
	}
	return done, retried
}

func (a account) health() string {
	if a.Aggregate == nil || a.Aggregate.Health == "" {
		return ""
	}
	return healthIs(printable.Name(a.Aggregate.Health))
}

// declined says how many specialists declined the ticket.
func (a account) declined() string {
	n := 0
	for _, row := range a.Trace {
		if row, ok := row.(patterns.RouteRow); ok && row.Status == "needs_reroute" {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return targetsDeclined(n, a.target())
}

// notConsidered says that the request names a route that the offline rules did not consider, because it can write. It returns "" if
// there is none, or someone else chose.
func (a account) notConsidered() string {
	if a.proposer() != theRules || a.Spec.RulesMayWrite || a.Spec.Catalog == nil {
		return ""
	}
	goal, _ := a.Arguments[a.Spec.GoalArgument()].(string)
	said := wordsOf(goal)
	var names []string
	for _, name := range a.Spec.Policy {
		tool, ok := a.Spec.Catalog.Tool(name)
		if ok && name != a.SelectedRoute && tool.Effect != catalog.Read && !tool.Simulated && slices.ContainsFunc(wordsOf(name), func(w string) bool { return slices.Contains(said, w) }) {
			names = append(names, printable.Name(name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return writesNotConsidered(sentence.List(names), len(names))
}

// wordsOf returns the words of a text or a name in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// target returns what a routing pattern calls its targets.
func (a account) target() string { return cmp.Or(a.Spec.Words.Target, "route") }

// actionsDone counts the executed actions without the final answer.
func (a account) actionsDone() int {
	n := 0
	for _, row := range a.History {
		if done, ok := row.(patterns.ActionDone); ok && done.Executed["kind"] == "tool" {
			n++
		}
	}
	return n
}

// judged says how many actions the policy changed and how many a person approved.
func (a account) judged() string {
	revised, asked, simulated := 0, 0, false
	for _, row := range a.History {
		done, _ := row.(patterns.ActionDone)
		switch {
		case done.Human != nil:
			asked++
			simulated = simulated || done.Human.Channel == "simulated"
		case len(done.Supervisor.Revisions) > 0:
			revised++
		}
	}
	said := ""
	if revised > 0 {
		said += policyChanged(revised)
	}
	switch {
	case asked > 0 && simulated:
		said += simulatedApproved(asked)
	case asked > 0:
		said += personApproved(asked)
	}
	return said
}

// planned returns how many steps or tasks a plan has.
func planned(plan any) int {
	switch plan := plan.(type) {
	case []gateway.Step:
		return len(plan)
	case []gateway.Task:
		return len(plan)
	}
	return 0
}
