package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

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
		return sentence.Paragraph(a.progress(), a.refusal(), a.written())
	}
	return sentence.Paragraph(a.progress(), a.why(), a.written())
}

// outcome says how a successful run ended.
func (a account) outcome() string {
	switch a.Spec.Kind {
	case gateway.TaskDecomposition:
		return fmt.Sprintf("Plan of %s by %s accepted and carried out in %s.", sentence.Count(planned(a.Plan), "step"), a.proposer(), a.time())
	case gateway.Orchestrator:
		return fmt.Sprintf("Plan of %s by %s accepted; %s in %s%s.",
			sentence.Count(planned(a.Plan), "task"), a.proposer(), a.tasksDone(), a.time(), a.health())
	case gateway.Routing:
		return fmt.Sprintf("%s was chosen by %s and answered the %s in %s%s.",
			printable.Name(a.SelectedRoute), a.proposer(), cmp.Or(a.Spec.Words.Request, "request"), a.time(), a.declined())
	case gateway.Supervisor:
		return fmt.Sprintf("%s by %s carried out in %s%s.", sentence.Count(a.actionsDone(), "action"), a.proposers(), a.time(), a.judged())
	case gateway.Call:
		return a.singleOutcome()
	}
	return fmt.Sprintf("Carried out in %s.", a.time())
}

// progress says how far a stopped run came. It returns "" if nothing was accepted.
func (a account) progress() string {
	switch steps := planned(a.Plan); {
	case a.Spec.Kind == gateway.Orchestrator && steps > 0:
		return fmt.Sprintf("Plan of %s by %s accepted; %s.", sentence.Count(steps, "task"), a.proposer(), a.tasksDone())
	case steps > 0:
		return fmt.Sprintf("Plan of %s by %s accepted; %s carried out.", sentence.Count(steps, "step"), a.proposer(), were(len(a.History)))
	case a.Spec.Kind == gateway.Routing && len(a.History) > 0:
		return fmt.Sprintf("%s asked%s.", sentence.Count(len(a.History), cmp.Or(a.Spec.Words.Target, "route")), a.declined())
	case a.Spec.Kind == gateway.Supervisor && len(a.History) > 0:
		return fmt.Sprintf("%s by %s carried out%s.", sentence.Count(a.actionsDone(), "action"), a.proposers(), a.judged())
	}
	return ""
}

// refusal says that an intent was not accepted.
func (a account) refusal() string {
	whose := "The"
	switch {
	case a.ByCall:
	case a.author() == "rules":
		whose = "The rules'"
	default:
		whose = "The model's"
	}
	what := strings.TrimPrefix(a.RawName, "raw_")
	if len(a.Problems) > 0 && a.Problems[0].Turn > 1 {
		turn := a.Problems[0].Turn
		last := slices.DeleteFunc(slices.Clone(a.Problems), func(p document.Problem) bool { return p.Turn != turn })
		return fmt.Sprintf("%s %s was refused %d times in phase %s, the last time for %s.%s The problems of each reply are listed.",
			whose, what, turn, a.Phase, sentence.Count(len(last), "fault"), a.hollow())
	}
	return fmt.Sprintf("%s %s was refused in phase %s for %s.%s", whose, what, a.Phase, sentence.Count(arguments.CountProblems(a.Problems), "fault"), a.hollow())
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
	return " It was " + string(ijson.Canonical(a.Raw)) + "."
}

// why says why a run stopped, in the registry's words.
func (a account) why() string {
	reason := sentence.Reason(a.StopReason)
	if why := a.ownToolStop(); why != "" {
		return why
	}
	if why := a.blockedWhy(); why != "" {
		return why
	}
	if why := a.leftOut(); why != "" {
		return why
	}
	switch about, name, _ := strings.Cut(a.StopReason, ":"); about {
	case "goal_incomplete":
		tool, argument, _ := strings.Cut(name, ".")
		return fmt.Sprintf("Stopped in phase %s: the goal does not say what %s of %s should be, and nothing is guessed.",
			a.Phase, printable.Name(argument), printable.Name(tool))
	case humanRejected, gateway.ApprovalExpired, gateway.ApprovalConsumed, gateway.ApprovalInvalid:
		return a.unapproved()
	}
	why := meaning(a.StopReason)
	if strings.HasPrefix(a.StopReason, "tool_bad_args:") && !a.keyed() {
		why = badArguments
	}
	return sentence.Joined(fmt.Sprintf("Stopped in phase %s after %s: %s (%s).", a.Phase, a.time(), why, reason), a.below(), a.Estimated)
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
	return fmt.Sprintf("Its run %s stopped with %s.", child, sentence.Reason(why))
}

// leftOut names the critical workers that a plan has no task for, if that is why nothing ran. Otherwise it returns "".
func (a account) leftOut() string {
	tasks, _ := a.Plan.([]gateway.Task)
	if a.StopReason != criticalFailed || len(a.FailedCritical) > 0 || len(tasks) == 0 {
		return ""
	}
	var names []string
	for _, worker := range a.Spec.Critical {
		if !slices.ContainsFunc(tasks, func(t gateway.Task) bool { return t.Worker == worker }) {
			names = append(names, printable.Name(worker))
		}
	}
	return fmt.Sprintf("Stopped before anything ran: the plan has no task for %s, without which the pattern is nothing (%s).", sentence.List(names), criticalFailed)
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
		return "for a reason without a meaning"
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
	return "The final answer"
}

// author returns the name of the part that proposes if the caller does not.
func (a account) author() string {
	if a.Model == "rules" {
		return "rules"
	}
	return "model"
}

func (a account) proposer() string {
	if a.ByCall {
		return "the caller"
	}
	return "the " + a.author()
}

// proposers returns all parts whose proposals were used, for runs that can have several.
func (a account) proposers() string {
	if a.Taken > 0 && !a.ByCall {
		return "the caller and " + a.proposer()
	}
	return a.proposer()
}

// time returns how long the run took.
func (a account) time() string {
	if a.took < 5*time.Millisecond {
		return "under 0.01 s"
	}
	return fmt.Sprintf("%.2f s", a.took.Seconds())
}

func (a account) tasksDone() string {
	done, retried := 0, 0
	for _, row := range a.History {
		task, _ := row.(patterns.TaskRow)
		if task.Done() {
			done++
		}
		if task.Retried {
			retried++
		}
	}
	said := fmt.Sprintf("%d of %d done", done, planned(a.Plan))
	if retried > 0 {
		said += fmt.Sprintf(", %d retried", retried)
	}
	return said
}

func (a account) health() string {
	if a.Aggregate == nil || a.Aggregate.Health == "" {
		return ""
	}
	return ", health " + printable.Name(a.Aggregate.Health)
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
	return fmt.Sprintf("; %d declined", n)
}

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
	revised, asked, by := 0, 0, ""
	for _, row := range a.History {
		done, _ := row.(patterns.ActionDone)
		switch {
		case done.Human != nil:
			asked++
			if done.Human.Channel == "simulated" {
				by = "simulated "
			}
		case len(done.Supervisor.Revisions) > 0:
			revised++
		}
	}
	said := ""
	if revised > 0 {
		said += fmt.Sprintf("; %d changed by the policy", revised)
	}
	if asked > 0 {
		said += fmt.Sprintf("; %d approved by a %sperson", asked, by)
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

func were(n int) string {
	switch n {
	case 0:
		return "none was"
	case 1:
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}
