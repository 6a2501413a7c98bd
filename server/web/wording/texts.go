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
	SourceVars    = "from earlier results, or calculated by the policy"
	SourceClient  = "claimed by the client, not checked"
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

// WrittenBy names the author of a text; "" if it is not known.
func WrittenBy(by string) string {
	if who := Proposer(by); who != "" {
		return fmt.Sprintf("written by %s", who)
	}
	return ""
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

// MoreBelow says how many more values the details of the page have.
func MoreBelow(n int) string { return fmt.Sprintf("%s below", Count(n, "more value")) }

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

// ProposedTitle returns the title of a call that a person approved with changes.
func ProposedTitle(title string) string { return fmt.Sprintf("Proposed: %s", title) }

// How a question ended.
const (
	StateExpired = "expired"
	StateClosed  = "closed"
	StateDecided = "decided"
	StateBlocked = "blocked"

	TitleExpired     = "Not decided in time"
	TitleOver        = "The run ended without a decision"
	TitleNotOpen     = "This question is not open"
	TitleDecided     = "Decided"
	TitleApproved    = "Approved"
	TitleEdited      = "Approved with changes"
	TitleRejected    = "Rejected"
	TitleThenBlocked = "Approved, then blocked by the policy"

	ExpiredMeans         = "Without a decision the request is rejected. The call was not made, and you cannot decide it any more."
	OverMeans            = "The call was not made, and you cannot decide it any more."
	DecisionDoesNotCount = "The record has no decision in a form that counts."
	ApprovedMeans        = "Exactly this call may run, once."
	EditedMeans          = "The call has other arguments now. The policy judges it again before it may run, once."
	RejectedMeans        = "This call does not run."
	EditedBegan          = "The call has other arguments than the proposed one."
	ArgsApproved         = "The arguments that were approved"
	ArgsExecuted         = "The arguments of the call that was started"
	CallBegan            = "The call was started, and the approval is used up."
	PlanApprovedMeans    = "Each of these steps may run once, exactly as shown."
	PlanRejectedMeans    = "Nothing of this plan runs."
	FirstStepBegan       = "The first step was started."

	RunContinues      = "The run continues by itself."
	RunTakesRejection = "The run handles the rejection by itself: it stops, or continues without the call, as its pattern says."
	RunStopsHere      = "The run stops here because of the rejection."
	RunHasEnded       = "The run has ended."
)

// ThenBlocked says that the policy blocked a call after a person had approved it. says is the text of the rule; it can be "".
func ThenBlocked(rule, says string) string {
	text := fmt.Sprintf("The policy judged the approved call again, and rule %s blocked it. Nothing was sent.", Name(rule))
	if says != "" {
		text += " The rule says: " + Clip(says, 3*MaxName)
	}
	return text
}

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

const (
	DependsOn      = "Depends on"
	LabelFinalText = "The final text of the newest run, word for word"
	WorksOnIt      = "Works on it"
	LabelLevel     = "Level"
	LabelCritical  = "Critical"
	IsCritical     = "yes: without it the plan fails"
	PartOf         = "Part of"
	ItsParts       = "Its parts"
	BlockedBy      = "Blocked by"
	LabelTried     = "Tried"
	LabelArguments = "Arguments"
	LabelExpect    = "Schema that the caller's result must fit"
	RemovedBy      = "Removed by"
)

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
	return cmp.Or(map[string]string{"tool": "Result", "plan": "The plan at that time"}[kind], "Answer")
}

// Decisions that are not accepted.
const (
	NoButton            = "No button was pressed: the decision is approve, edit or reject."
	NoSuchDecision      = "The decision is approve, edit or reject."
	NoDigest            = "The form does not say which call it is about. The digest is sha256: and 64 hexadecimal digits."
	CommentNotUTF8      = "The comment is not valid UTF-8."
	CannotEdit          = "The arguments of this call cannot be changed here, because the schema of the tool is not known. Approve or reject the call."
	NothingChanged      = "Nothing is changed. Change an argument, or approve the call unchanged."
	ChangedButApproved  = "You changed arguments and pressed Approve, which is for the proposed call. Press Approve with changes, or restore the arguments."
	UnreadableArguments = "The changed arguments cannot be read."
	MisfitArguments     = "The tool does not accept the changed arguments."
	MustSign            = "Only a decision that an approver key signs counts here. Choose a key and type its passphrase."
	KeyRemoved          = "The key was removed, so its signatures do not count any more. To list the keys that count, run \"patterngate approvals keys\"."
	KeyNotEnrolled      = "The signature does not count, because the key is not enrolled here. To list the keys that count, run \"patterngate approvals keys\"."
	CallChanged         = "Changed: the call is not the one that you saw. Check it again."
	DecidedBefore       = "Decided before: somebody else has decided this. Their decision is below."
	TooLate             = "Expired: the time for a decision is over."
	RunOver             = "Over: the run has ended in the meantime."
	NotAccepted         = "Your decision was not accepted."
	NothingDecided      = "Nothing was decided."
	NoSuchKey           = "This machine has no such key. Choose a key from the form."
	TooManyPassphrases  = "There were too many wrong passphrases. Wait a minute. This one was not tried."
	WrongPassphrase     = "The passphrase does not open this key, or its file is damaged."
)

// Fields for changed arguments.
const (
	HintWhole    = "A whole number."
	HintJSON     = "JSON, for example a text in quotes."
	HintOptional = "Leave it empty to omit it."
	WantWhole    = "want a whole number such as 12"
	WantNumber   = "want a number such as 12.50"
	WantChoice   = "want one of the choices"
	WantJSON     = "want JSON such as \"text\", 12, true or [\"a\"]"
)

// Refused requests and sign-in.
const (
	TitleNotFromPage    = "Not from this page"
	NotFromPage         = "The form did not come from a page of this sign-in. Nothing was decided. Open the page again and check it."
	TitleNotNow         = "Not now"
	StateUnusable       = "The state file cannot be used now. Nothing was decided. Try again. The log of the program that serves this page has the cause."
	TitleNotFromHere    = "Not from here"
	OtherPage           = "Another page sent this request. Only this page can send it."
	TitleOtherUser      = "Another user"
	OtherUser           = "Only programs of the user who started Patterngate can use this page."
	TitleOtherAddress   = "Another address"
	TitleWrongMethod    = "Wrong method"
	GetOrPost           = "Use GET or POST."
	TitleNoForm         = "Not a form"
	WantForm            = "Send a form of this page (application/x-www-form-urlencoded). Nothing was decided."
	TitleTooLong        = "Too long"
	TitleTooSlow        = "Too slow"
	FormTooSlow         = "The form did not arrive in time. Nothing was decided."
	FormUnreadable      = "The form cannot be read. Nothing was decided."
	TitleNoSignIn       = "No such sign-in"
	LinkCut             = "The link is incomplete."
	TitleSignIn         = "Sign in"
	TitleTooMany        = "Too many attempts"
	TitleNotSignedIn    = "Not signed in"
	SignInUsed          = "This sign-in was used before, or its 60 seconds are over."
	SignInOver          = "Nothing was decided, because the sign-in of this page is over. It ends after 12 hours, and with the program that served the page."
	LinkedFromElsewhere = "A link of another page led here. If this browser is signed in, continue:"
	TooManyPages        = "Too many pages are open. This page does not update itself."
	NoSuchPage          = "There is no such page."
	NoSuchQuestion      = "There is no such question. It may be older than the runs that are kept."
	NoSuchRun           = "There is no such run. It may be older than the runs that are kept."
	NoSuchPlan          = "There is no such plan."
	PlanDamaged         = "This plan is damaged: it cannot be read, or the run that held it ended without returning it. Other plans are not affected."
	NotAPage            = "The address does not name a page of this list. Start at its first page."
	StateUnreadable     = "The state file cannot be read at the moment. Nothing was decided. The log of the program that serves this page has the cause."
	FormTooLarge        = "The form has more than 64 KiB. Nothing was decided."
	NoForm              = "This is not a form. Nothing was decided."
	OtherSignIn         = "The form was not made for this sign-in: it is from before a restart, or from elsewhere. Nothing was decided."
	OpenAgain           = "Open the page again and decide there."
	NoSuchStatus        = "A run is running, waiting, ok or stopped. There is no other status."
	LinkInbox           = "What waits for a decision"
	LinkRuns            = "All runs"
	PageFailed          = "this page could not be made"
	HeadTooSlow         = "The head of the request took too long."
)

// Runs and receipts.
const (
	OfflineRules        = "none (the offline rules answered)"
	NoneAsked           = "none asked"
	WaitsForYou         = "waits for your decision"
	ClosedUndecided     = "closed without a decision"
	NobodyKnown         = "unknown"
	PageFull            = "Not shown, because this page is full. See the export."
	ArgumentsUnreadable = "They cannot be read."
	NoArguments         = "None."
	OnAllowList         = "on the allow list of this tool; no rule judged it"
	NothingProposed     = "no one: nothing was proposed"
	NoValue             = "nothing"
	SwitchAll           = "Everything"
)

// CommentTooLong says how long a comment may be.
func CommentTooLong(n, most int) string {
	return fmt.Sprintf("The comment has %s characters. The limit is %s.", Grouped(n), Grouped(most))
}

// UnknownArgument names an argument that a form must not change.
func UnknownArgument(name string) string {
	return fmt.Sprintf("The form changes an argument that it does not offer: %s.", Name(name))
}

// HintSpelling says how an argument is written.
func HintSpelling(spelling string) string { return fmt.Sprintf("Written as %s.", Name(spelling)) }

// IsRequired says that an argument cannot be omitted.
func IsRequired(want string) string { return fmt.Sprintf("it is required; %s", want) }

// Got says what a person typed and what is right.
func Got(text, want string) string { return fmt.Sprintf("got %s; %s", Name(text), want) }

// NotJSON says that a typed value is not JSON.
func NotJSON(want string) string { return fmt.Sprintf("this is not JSON; %s", want) }

// Misfit says what an argument must be.
func Misfit(at, want string) string { return fmt.Sprintf("%s: %s", Visible(at), Visible(want)) }

// OtherAddress says at which address the page is.
func OtherAddress(url string) string {
	return fmt.Sprintf("This page is not at the requested address. It is at %s.", url)
}

// FormLimit says how large a form may be, in KiB.
func FormLimit(kib int) string {
	return fmt.Sprintf("A form can have at most %d KiB. Nothing was decided.", kib)
}

// Takes says which methods a page takes.
func Takes(methods string) string { return fmt.Sprintf("This page takes only %s.", methods) }

// SignsIn says what a sign-in link does.
func SignsIn(url string) string {
	return fmt.Sprintf("This signs this browser in to the Patterngate inbox at %s. It lasts 12 hours, or until the program that serves the page ends. The link works once.", url)
}

// WrongSignIns says that there were too many wrong sign-ins.
func WrongSignIns(most int) string {
	return fmt.Sprintf("%d sign-ins were wrong within a minute. Wait a minute, then:", most)
}

// Asked says how often a model was asked, and with how many tokens.
func Asked(requests, in, out int) string {
	return fmt.Sprintf("%s, %s tokens in, %s out", Count(requests, "request"), Grouped(in), Grouped(out))
}

// AskedModel is [Asked] for one model; "" if its name is not known.
func AskedModel(model string, requests, in, out int) string {
	return fmt.Sprintf("%s to %s: %s tokens in, %s out", Count(requests, "question"), Name(cmp.Or(model, "a model")), Grouped(in), Grouped(out))
}

// ReceiptPage returns the title of a receipt in the browser's tab.
func ReceiptPage(id string) string { return fmt.Sprintf("Receipt of %s", id) }

// WithoutWaits says how long a run worked.
func WithoutWaits(seconds float64) string { return fmt.Sprintf("%s without waits", Duration(seconds)) }

// Limit says how much of a limit is used; used "" is not known.
func Limit(name, used, limit string) string {
	if used == "" {
		return fmt.Sprintf("%s: at most %s", name, limit)
	}
	return fmt.Sprintf("%s: %s of %s", name, used, limit)
}

// AndMore says how many more there are, at the end of a list.
func AndMore(n int) string { return fmt.Sprintf("and %s more", Grouped(n)) }

// FromTo says how a person changed an argument.
func FromTo(name, from, to string) string {
	return fmt.Sprintf("%s from %s to %s", Name(name), from, to)
}

// WasJudged says what the policy decided about a proposal that led to no call.
func WasJudged(name, judged string) string {
	return fmt.Sprintf("%s was %s", cmp.Or(Name(name), "a proposal"), judged)
}

// AttemptRefused says that somebody's attempt to decide was refused.
func AttemptRefused(approval, reason string) string {
	return fmt.Sprintf("an attempt to decide %s was refused (%s)", Name(approval), Name(reason))
}

// NotAnswered says that a person has not decided.
func NotAnswered(name, rule string) string {
	return fmt.Sprintf("%s waits for a person by rule %s. Without a decision it is rejected", Name(name), Name(rule))
}

// Judged says what the policy decided, by which rule and why. Each of rule, why and text can be "".
func Judged(decision, rule, why, text string) string {
	words := Decision(decision)
	if rule != "" {
		words = fmt.Sprintf("%s by rule %s", words, Name(rule))
	}
	if why != "" {
		words = fmt.Sprintf("%s (%s)", words, Name(why))
	}
	if text != "" {
		words = fmt.Sprintf("%s: %s", words, text)
	}
	return words
}

// InTurn names several in the order of time.
func InTurn(list []string) string { return strings.Join(list, ", then ") }

// SwitchTool names what a kill switch of a tool stops.
func SwitchTool(name string) string { return fmt.Sprintf("The tool %s", Name(name)) }

// SwitchPattern names what a kill switch of a pattern stops.
func SwitchPattern(name string) string { return fmt.Sprintf("The pattern %s", Name(name)) }

// CutAt says how much of a text is shown, in bytes.
func CutAt(shown, of int) string {
	return fmt.Sprintf("Cut: the first %s of %s bytes are shown.", Grouped(shown), Grouped(of))
}

// KeptInPart says that only the beginning of a result was kept.
func KeptInPart(of int) string {
	return fmt.Sprintf("Cut: of %s bytes only the beginning was kept.", Grouped(of))
}

// NoRoomFor says how many subtasks are not shown.
func NoRoomFor(n int) string {
	return fmt.Sprintf("And %s. This page has no room for more.", Count(n, "more subtask"))
}

// Of says the place of something in a row of several.
func Of(n, all int) string { return fmt.Sprintf("%d of %d", n, all) }

// TriedTimes says how often a subtask was tried.
func TriedTimes(n int) string { return fmt.Sprintf("%s in its newest run", Count(n, "time")) }

// Revision names a revision of a plan.
func Revision(n int) string { return fmt.Sprintf("revision %d", n) }

// RevisionsBefore says how many older revisions are not shown.
func RevisionsBefore(n int) string { return fmt.Sprintf("And %s before.", Grouped(n)) }

// MostSubtasks says how many subtasks a plan may have.
func MostSubtasks(n int) string { return fmt.Sprintf("at most %s", Count(n, "subtask")) }

// Replanned says how often a plan was replanned; most below 0 is no limit.
func Replanned(n, most int) string {
	if most < 0 {
		return fmt.Sprintf("replanned %s", Count(n, "time"))
	}
	return fmt.Sprintf("replanned %d of %d times", n, most)
}

// Round says in which round of planning a plan is.
func Round(n, most int, last bool) string {
	if last {
		return fmt.Sprintf("round %d of %d, the last one", n, most)
	}
	return fmt.Sprintf("round %d of %d", n, most)
}
