package wording

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"patterngate/patterns/record"
)

// This file holds the sentences of the pages: constants, and functions that fill one template each. The files in ../html hold those that
// belong to one place of a page.

// Where a value came from that a rule read.
const (
	SourceRule    = "read by the rule"
	SourceParams  = "policy setting"
	SourceVars    = "calculated by the policy"
	SourceWindows = "counted over earlier runs"
	SourceInput   = "request to the run"
)

// ResultOf names the result of an earlier call as a source.
func ResultOf(tool string) string { return fmt.Sprintf("result of %s", Name(tool)) }

// WrittenByRule names the rules of the policy that wrote an argument.
func WrittenByRule(rules []string) string {
	return fmt.Sprintf("written by rule %s", Clip(strings.Join(rules, ", "), 2*MaxName))
}

// Proposer names the author of a proposal: caller, rules, model, plan or a model's name; "" if it is not known.
func Proposer(by string) string {
	known, plain := map[string]string{
		"": "", "caller": "the caller", "rules": "the offline rules", "model": "a model", "plan": "the stored plan",
	}[by]
	if plain {
		return known
	}
	return fmt.Sprintf("the model %s", Name(by))
}

// ProposedBy says who proposed something; "" if it is not known.
func ProposedBy(by string) string {
	if who := Proposer(by); who != "" {
		return fmt.Sprintf("proposed by %s", who)
	}
	return ""
}

// Labels of texts from outside.
const (
	LabelRequest   = "What the run was asked to do"
	LabelPlanClaim = "What the author of the plan says about it"
)

// What is not shown.

// MoreInExport says how many more things only the export has.
func MoreInExport(n int, thing string) string {
	return fmt.Sprintf("And %s. See the export of the run.", Count(n, thing))
}

// More says how many more things there are.
func More(n int, thing string) string { return fmt.Sprintf("And %s.", Count(n, thing)) }

// EarlierNotShown says how many earlier calls are not shown.
func EarlierNotShown(n int) string {
	return fmt.Sprintf("%s not shown. The page of the run shows all.", Count(n, "earlier call"))
}

// The list of what waits.
const (
	NotARule       = "The address does not name a rule. The name of a rule has only small letters, digits and _."
	NeedsSignature = "signed only"
	NeedsKey       = "needs a key; none is enrolled"
)

// WaitingCalls says how many calls wait.
func WaitingCalls(n int) string {
	if n == 1 {
		return "1 call waits for your decision"
	}
	return fmt.Sprintf("%s wait for your decision", Count(n, "call"))
}

// InboxPage returns the title of the list in the browser's tab.
func InboxPage(waiting int) string {
	if waiting == 0 {
		return "Inbox"
	}
	return fmt.Sprintf("Inbox: %s waiting", Grouped(waiting))
}

// The page of a question.
const (
	PlanNeedsPerson = "The configuration wants a person to approve such a plan before anything of it runs."
	CallNeedsPerson = "The policy wants a person for this call."

	AlikeWaits    = "also waits, since"
	AlikeApproved = "was approved"
	AlikeEdited   = "was approved with changes to these arguments"

	UnknownValue = "The value of another step. Nothing is known about it."
	StepByModel  = "The model works on its description."
	StepByCaller = "The client's agent does it."
	StepUnknown  = "No such tool is known here: it will not run."
)

// BoundedValue says what a value of another step must fit.
func BoundedValue(bounds string) string {
	return fmt.Sprintf("The value of another step, which fits %s", bounds)
}

// AskedPage returns the title of a question's page in the browser's tab.
func AskedPage(state, id string) string {
	word := map[string]string{"waiting": "Decide", "decided": "Decided", "expired": "Expired"}[state]
	return fmt.Sprintf("%s %s", cmp.Or(word, "Closed"), id)
}

// AskedTitle returns the consequence of a call as a heading. "refunding 1200.00 USD to user 42" becomes "Refund 1200.00 USD to user 42".
// A phrase that does not begin with a known verb stays; if the question is open, "Approve: " stands before it.
func AskedTitle(phrase string, open bool) string {
	first, rest, _ := strings.Cut(phrase, " ")
	if verb, known := verbs()[first]; known {
		return strings.TrimSpace(Capitalize(verb) + " " + rest)
	}
	if open {
		return fmt.Sprintf("Approve: %s", phrase)
	}
	return phrase
}

// How a question ended.
const (
	StateExpired = "expired"
	StateClosed  = "closed"
	StateDecided = "decided"

	TitleExpired  = "Nobody decided in time"
	TitleOver     = "The run ended without a decision"
	TitleNotOpen  = "This question is not open"
	TitleDecided  = "Decided"
	TitleApproved = "Approved"
	TitleEdited   = "Approved with changes"
	TitleRejected = "Rejected"

	ExpiredMeans         = "Without a decision the request is rejected. The call was not made, and you cannot decide it any more."
	OverMeans            = "The call was not made, and you cannot decide it any more."
	DecisionDoesNotCount = "The record has no decision in a form that counts."
	ApprovedMeans        = "Exactly this call may run, once."
	EditedMeans          = "The call has other arguments now. The policy judges it again before it may run, once."
	RejectedMeans        = "This call does not run."
	CallBegan            = "The call was started, and the approval is used up."
	PlanApprovedMeans    = "Each of these steps may run, once, as it is."
	PlanRejectedMeans    = "Nothing of this plan runs."
	FirstStepBegan       = "The first step was started."

	RunContinues      = "The run continues by itself."
	RunTakesRejection = "The run handles the rejection by itself: it stops, or continues without the call, as its pattern says."
	RunStopsHere      = "The run stops here because of the rejection."
	RunHasEnded       = "The run has ended."
)

// CallCameTo says how the call ended that was asked about.
func CallCameTo(tool, state string) string {
	return fmt.Sprintf("%s: %s.", Name(tool), cmp.Or(state, "no outcome is recorded"))
}

// StoppedBecause says why a run stopped. meaning is the meaning of the stop reason; "" if it is not known.
func StoppedBecause(reason, meaning string) string {
	if meaning == "" {
		return fmt.Sprintf("It stopped with %s.", Clip(reason, 2*MaxName))
	}
	return fmt.Sprintf("It stopped with %s. %s", Clip(reason, 2*MaxName), meaning)
}

// EndedAfter says how long after the decision the run ended.
func EndedAfter(d time.Duration) string {
	return fmt.Sprintf("It ended %s after the decision.", Duration(d.Seconds()))
}

// AssuranceProves says what the assurance of a decision proves.
func AssuranceProves(assurance, key string) string {
	switch assurance {
	case "signed":
		return fmt.Sprintf("Signed with approver key %s. The approver had the key file and its passphrase. To check the signature, run \"patterngate runs verify\".", Name(key))
	case "user":
		return "Any program of the same user of this computer could have decided this, also an agent with a shell. Nothing proves that it was a person. An approver key does (\"patterngate approvals enroll\")."
	}
	return "Nothing proves that a person decided this."
}

// The page of a plan.

// DependsOn is the label of the subtasks that a subtask needs.
const DependsOn = "Depends on"

// The timeline of a run.

// EarlierRunsRead says that a judgment read earlier runs.
const EarlierRunsRead = "Earlier runs were read"

// RuleSays gives the words of a rule.
func RuleSays(words string) string { return fmt.Sprintf("The rule says: %s", words) }

// SoFar says how long something has taken that goes on.
func SoFar(seconds float64) string { return fmt.Sprintf("%s so far", Duration(seconds)) }

// PhaseLine describes the line of phases in words.
func PhaseLine(phases []string) string { return fmt.Sprintf("Phases: %s", strings.Join(phases, ", ")) }

// ChangedBy says what a rule changed in a proposal, such as "reason added by refund_reason_required".
func ChangedBy(edits []record.Edit, rule string) string {
	const most = 3
	var parts []string
	for _, e := range edits[:min(len(edits), most)] {
		parts = append(parts, fmt.Sprintf("%s %s", Clip(e.Name, MaxName), changeWord(e)))
	}
	if more := len(edits) - len(parts); more > 0 {
		parts = append(parts, Count(more, "more change"))
	}
	what := strings.Join(parts, ", ")
	if rule == "" {
		return what
	}
	return fmt.Sprintf("%s by %s", what, Name(rule))
}

// changeWord says what became of an argument.
func changeWord(e record.Edit) string {
	switch {
	case e.From == nil:
		return "added"
	case e.To == nil:
		return "removed"
	}
	return "changed"
}

// Changes returns a line with the values of each changed argument, at most 8.
func Changes(edits []record.Edit) []string {
	const most, length = 8, 120
	var list []string
	for _, e := range edits[:min(len(edits), most)] {
		name, from, to := Clip(e.Name, MaxName), Clip(string(e.From), length), Clip(string(e.To), length)
		switch {
		case e.From == nil:
			list = append(list, fmt.Sprintf("%s: added %s", name, to))
		case e.To == nil:
			list = append(list, fmt.Sprintf("%s: removed, was %s", name, from))
		default:
			list = append(list, fmt.Sprintf("%s: %s, was %s", name, to, from))
		}
	}
	return list
}

// InputLabel returns the label of what a row was given, by its kind.
func InputLabel(kind string) string {
	return cmp.Or(map[string]string{
		"tool": "Arguments", "model": "Question", "human": "Question", record.Judged: "Proposal", "plan": "Step",
	}[kind], "Input")
}

// OutputLabel returns the label of what came of a row, by its kind.
func OutputLabel(kind string) string {
	return cmp.Or(map[string]string{"tool": "Result", "plan": "The plan, as it was"}[kind], "Answer")
}
