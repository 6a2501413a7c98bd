package outcome

import (
	"fmt"

	"patterngate/server/sentence"
)

// This file has all texts of the package. Each constant and each function is one text; the callers choose which of them
// apply. Names and outside texts arrive cut and escaped. A text whose name ends in Say is for the person.

// What a successful run did. The last arguments are optional parts, from the next group but one.

func planCompleted(whose string, steps int, took string) string {
	return fmt.Sprintf("%s plan of %s was accepted and completed in %s.", whose, sentence.Count(steps, "step"), took)
}

func tasksCompleted(whose string, done, all int, took, retried, health string) string {
	return fmt.Sprintf("%s plan was accepted. %s done in %s.%s%s", whose, someOf(done, all, "task"), took, retried, health)
}

func routeAnswered(target, proposer, request, took, declined string) string {
	return fmt.Sprintf("%s was chosen by %s and answered the %s in %s.%s", target, proposer, request, took, declined)
}

func actionsCompleted(n int, proposers, took, judged string) string {
	return fmt.Sprintf("%s by %s %s carried out in %s.%s", sentence.Count(n, "action"), proposers, wasWere(n), took, judged)
}

func callAnswered(tool, took, attempt, long string) string {
	return fmt.Sprintf("%s answered in %s%s.%s", tool, took, attempt, long)
}

func callReportedError(tool, took, attempt, long string) string {
	return fmt.Sprintf("%s answered with an error in %s%s.%s", tool, took, attempt, long)
}

func callOnlyWarned(tool, took, attempt, long string) string {
	return fmt.Sprintf("%s returned only a warning in %s%s.%s", tool, took, attempt, long)
}

func finished(took string) string { return fmt.Sprintf("The run finished in %s.", took) }

// How far a stopped run came.

func tasksSoFar(whose string, done, all int, retried string) string {
	return fmt.Sprintf("%s plan was accepted. %s done.%s", whose, someOf(done, all, "task"), retried)
}

func stepsSoFar(whose string, done, all int) string {
	return fmt.Sprintf("%s plan was accepted. %s done.", whose, someOf(done, all, "step"))
}

func routesSoFar(n int, target, declined string) string {
	return fmt.Sprintf("%s asked.%s", countWere(n, target), declined)
}

func actionsSoFar(n int, proposers, judged string) string {
	return fmt.Sprintf("%s by %s %s carried out.%s", sentence.Count(n, "action"), proposers, wasWere(n), judged)
}

// Optional parts of the texts above.

func retriedTasks(n int) string { return fmt.Sprintf(" %s retried.", countWere(n, "task")) }

func healthIs(health string) string { return fmt.Sprintf(" Health: %s.", health) }

func targetsDeclined(n int, target string) string {
	return fmt.Sprintf(" %s declined.", sentence.Count(n, target))
}

// writesNotConsidered says which routes the offline rules left out. n is how many they are.
func writesNotConsidered(names string, n int) string {
	they := "it"
	if n > 1 {
		they = "they"
	}
	return fmt.Sprintf(" The offline rules did not consider %s, because %s can write. They choose a write only with llm: {provider: rules}.", names, they)
}

func policyChanged(n int) string { return fmt.Sprintf(" The policy changed %d.", n) }

func personApproved(n int) string { return fmt.Sprintf(" A person approved %d.", n) }

func simulatedApproved(n int) string { return fmt.Sprintf(" The simulated person approved %d.", n) }

func inAttempt(n int) string { return fmt.Sprintf(", in attempt %d", n) }

func resultIsLong(bytes int64, tool, step string) string {
	return fmt.Sprintf(" The result has %d bytes. Call %s with run_id and step %s to read everything that was recorded.", bytes, tool, step)
}

// Who proposed, and how long it took.

const (
	theCaller, theModel, theRules   = "the caller", "the model", "the offline rules"
	callersOwn, modelsOwn, rulesOwn = "The caller's", "The model's", "The offline rules'"

	noTime = "under 0.01 s"
)

func callerAnd(proposer string) string { return theCaller + " and " + proposer }

func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }

// Why a run stopped.

func stopped(phase, took, why, reason string) string {
	return fmt.Sprintf("Stopped in phase %s after %s: %s (%s).", phase, took, why, reason)
}

func stoppedSay(why, reason string) string {
	return fmt.Sprintf("The run stopped: %s (%s).", why, reason)
}

const (
	// unexplained is the meaning of a stop reason that this version does not have.
	unexplained = "this version does not know the reason"
	// badArguments is the meaning of tool_bad_args for a tool without a business key.
	badArguments = "the arguments do not fit the tool's schema"
)

func goalLacks(phase, argument, tool string) string {
	return fmt.Sprintf("Stopped in phase %s: the goal does not say what the argument %s of %s should be. The offline rules do not guess.", phase, argument, tool)
}

func goalLacksSay(argument, tool string) string {
	return fmt.Sprintf("The goal does not say what the argument %s of %s should be.", argument, tool)
}

func childStopped(run, reason string) string {
	return fmt.Sprintf("Its child run %s stopped with %s.", run, reason)
}

func taskMissing(workers, reason string) string {
	return fmt.Sprintf("Stopped before anything ran: the plan has no task for a critical worker: %s (%s).", workers, reason)
}

func taskMissingSay(workers string) string {
	return fmt.Sprintf("The plan has no task for a critical worker: %s.", workers)
}

// theIntent begins a sentence about the caller's own intent: The plan was refused.
const theIntent = "The"

func intentRefused(whose, intent, phase, problems, empty string) string {
	return fmt.Sprintf("%s %s was refused in phase %s for %s.%s", whose, intent, phase, problems, empty)
}

func intentRefusedAgain(whose, intent string, times int, phase, problems, empty string) string {
	return fmt.Sprintf("%s %s was refused %d times in phase %s, the last time for %s.%s The problems of each reply are listed.",
		whose, intent, times, phase, problems, empty)
}

func intentRefusedSay(whose, intent, problems string) string {
	return fmt.Sprintf("%s %s has %s and was not used.", whose, intent, problems)
}

func intentWasEmpty(json string) string { return fmt.Sprintf(" It was empty: %s.", json) }

// Calls that the policy blocked.

func blocked(call, phase, why, by string) string {
	return fmt.Sprintf("%s was blocked by the policy in phase %s: %s (%s).", call, phase, why, by)
}

func blockedSay(call, why, by string) string {
	return fmt.Sprintf("%s is not allowed by the policy: %s (%s).", call, why, by)
}

func byRule(rule string) string { return "rule " + rule }

func byRuleAnd(rule, reason string) string { return fmt.Sprintf("rule %s, %s", rule, reason) }

const (
	passesLater    = "The same call may pass later."
	passesLaterSay = "You can try the same call again later."
)

// The beginnings of sentences about a call without a tool's name.
const (
	theFinalAnswer = "The final answer"
	thePlan        = "The plan"
	aCall          = "A call"
)

// Calls that were not sent, or not answered.

func keyReused(call, phase, reason string) string {
	return fmt.Sprintf("%s was not sent in phase %s: its business key was used before, with other arguments or by a call whose outcome is unknown (%s).",
		call, phase, reason)
}

func keyReusedSay(call string) string {
	return fmt.Sprintf("%s was not sent. Its business key was used before, with other arguments or by a call whose outcome is unknown.", call)
}

func unavailable(tool, phase, why, reason string) string {
	return fmt.Sprintf("%s could not be called in phase %s, and nothing was sent: %s (%s).", tool, phase, why, reason)
}

func unavailableSay(tool, why string) string {
	return fmt.Sprintf("%s is not available: %s.", tool, why)
}

const notReady = "its server cannot be reached, or something that it needs is missing"

func timedOut(tool, phase, reason string) string {
	return fmt.Sprintf("%s did not answer in time in phase %s (%s). It only reads, so it changed nothing.", tool, phase, reason)
}

func timedOutSay(tool string) string {
	return fmt.Sprintf("%s did not answer in time. It only reads, so it changed nothing.", tool)
}

func switchIsOn(phase, reason string) string {
	return fmt.Sprintf("Stopped in phase %s: a kill switch is on (%s).", phase, reason)
}

const switchIsOnSay = "A kill switch stopped the run."

func switchedOff(phase, whatBy, reason, command string) string {
	return fmt.Sprintf("Stopped in phase %s: %s (%s). It stays blocked until a person runs `%s`.", phase, whatBy, reason, command)
}

func switchedOffSay(whatBy, command string) string {
	return fmt.Sprintf("A kill switch stopped the run: %s. To turn the switch off, run `%s`.", whatBy, command)
}

// Parts of SwitchWords: what was switched off, by whom, when and why.

const everything = "everything"

func thePattern(name string) string { return "pattern " + name }

func wasSwitchedOff(what string) string { return what + " was switched off" }

func offBy(who string) string { return " by " + who }

func offAt(time string) string { return " at " + time }

func offReason(json string) string { return ", reason: " + json }

// Calls that needed a person.

func approvalExpired(call, phase, reason string) string {
	return fmt.Sprintf("%s needed a person's approval in phase %s. No one decided before the deadline, so it was rejected (%s).", call, phase, reason)
}

func approvalExpiredSay(call string) string {
	return fmt.Sprintf("%s was rejected, because no one decided before the deadline.", call)
}

func approvalUsed(call, phase, reason string) string {
	return fmt.Sprintf("%s was stopped in phase %s: its approval was already used, and each approval is valid for one call (%s).", call, phase, reason)
}

func approvalUsedSay(call string) string {
	return fmt.Sprintf("%s was stopped, because its approval was already used for a call.", call)
}

func approvalInvalid(call, phase, reason string) string {
	return fmt.Sprintf("%s was stopped in phase %s: its approval is not valid for exactly this call (%s).", call, phase, reason)
}

func approvalInvalidSay(call string) string {
	return fmt.Sprintf("%s was stopped, because its approval is not valid for exactly this call.", call)
}

func rejected(call, phase, decision, reason string) string {
	return fmt.Sprintf("%s needed a person's approval in phase %s, and %s (%s).", call, phase, decision, reason)
}

func rejectedSay(call, decision string) string {
	return fmt.Sprintf("%s was not approved: %s.", call, decision)
}

const (
	rejectedUnasked   = "the configuration rejects such calls without asking"
	rejectedSimulated = "the simulated person rejected it"
)

func rejectedOnPage(by string) string { return by + " rejected it on the page" }

func rejectedOnCommandLine(by string) string { return by + " rejected it on the command line" }

func approverSaid(json string) string { return fmt.Sprintf("The comment: %s.", json) }

func lookAtCall(run string) string {
	return fmt.Sprintf("To see which call it allowed, run `patterngate runs show %s`.", run)
}

func lookAtApproval(run string) string {
	return fmt.Sprintf("Before you ask again, check the record (`patterngate runs show %s`) and the approver keys (`patterngate approvals keys`). "+
		"Also check who can write to the state file.", run)
}

// Runs without an account of their calls.

func internalFault(phase, fault string) string {
	return fmt.Sprintf("An internal fault ended the run in phase %s (fault %s).", phase, fault)
}

func internalFaultSay(fault string) string {
	return fmt.Sprintf("Patterngate had an internal fault. The server's log has the cause, under %s.", fault)
}

func recordBroken(phase, why, reason string) string {
	return fmt.Sprintf("Stopped in phase %s: %s (%s).", phase, why, reason)
}

const (
	recordBrokenSay = "The record of the run is damaged, so Patterngate cannot show what the run did."

	onlyReads     = "The tools of this run cannot write anything."
	perhapsWrote  = "It is not known whether something was written. Find out before you repeat anything."
	whatStaysDone = "Calls that the run made stay done. Find out which they were before you repeat anything."

	unrecorded    = "The run did not start, because its record cannot be written. Nothing ran."
	unrecordedSay = "Patterngate cannot write records, so it makes no calls. The operator must check the server's state directory: it may be full, read-only or damaged."
)

// Refused requests, and what to fix.

func requestRefused(problems string) string {
	return fmt.Sprintf("The call was refused for %s. Nothing ran.", problems)
}

const (
	unknownRun     = "You have no run with this id. Look for it in the list before you start another run."
	fixThese       = "Fix these arguments, then call again:"
	wholeCall      = "the arguments"
	changeOrRemove = "change or remove it"
)

func fixPlace(place, todo string) string { return fmt.Sprintf(" %s: %s.", place, todo) }

func morePlaces(places string) string { return fmt.Sprintf(" %s more: see problems.", places) }

func mustBe(want string) string { return "must be " + want }

func chooseFrom(choice, want string) string { return fmt.Sprintf("%s (%s)", choice, want) }

func answerHasForm(form string) string {
	return fmt.Sprintf(" The answer is JSON of this form: %s.", form)
}

func sendOwn(intent string) string { return fmt.Sprintf("Send your own %s.", intent) }

const (
	sendAllActions = "Send all actions up to the end. The last one is final."
	sendOwnActions = "Send your own actions."
)

func sendOtherRoute(declined string) string { return "Send another route." + declined }

func alreadyDeclined(targets string) string { return fmt.Sprintf(" Already declined: %s.", targets) }

func comeFirst(tools string) string { return fmt.Sprintf("%s must come first.", tools) }

func giveArguments(call, arguments string) string {
	return fmt.Sprintf("%s needs: %s.", call, arguments)
}

func whichIsMeant(names string) string { return fmt.Sprintf("Which one do you mean: %s?", names) }

// Calls without a result.

const noneReturned = "No call returned a result."

func answeredError(tool string) string { return tool + " answered with an error." }

func answeredWarning(tool string) string { return tool + " returned only a warning." }

func noneOf(calls int) string { return fmt.Sprintf("None of the %d calls returned a result.", calls) }

func someResults(missing int, calls, tools string) string {
	return fmt.Sprintf("%d of %s returned no result (%s).", missing, calls, tools)
}

func andMore(tools, more string) string { return fmt.Sprintf("%s and %s more", tools, more) }

const (
	tellWhatIsMissing = "Tell the user what is missing."
	tellTheUser       = "Tell the user."
	callCorrected     = "Call again with these corrections."
	callThis          = "Make this call."
)

// What a run wrote, and what it did not do.

const (
	nothingRan     = "Nothing ran."
	nothingRanYet  = "Nothing ran yet."
	nothingWritten = "Nothing was written."
	nothingElse    = "Nothing else was written."
)

func nothingDone(verb string) string { return fmt.Sprintf("Nothing was %s.", verb) }

// writtenVerb is the verb of [nothingDone] for a tool that declares none.
const writtenVerb = "written"

const (
	doneWrites     = "Done"
	unknownWrites  = "Outcome unknown"
	reservedWrites = "Started, outcome unknown"
	failedWrites   = "Failed"
)

func listed(heading, calls string) string { return fmt.Sprintf("%s: %s.", heading, calls) }

const (
	doneBefore    = " (done before; nothing was sent again)"
	reportedError = " (answered with an error)"
)

func notDone(calls string) string { return fmt.Sprintf("Not done: %s.", calls) }

func inStep(call, step string) string { return fmt.Sprintf("%s (step %s)", call, step) }

func forTask(worker, task string) string { return fmt.Sprintf("%s for task %s", worker, task) }

// Runs that wait for their caller.

func turnRefused(problems, refusals string) string {
	return fmt.Sprintf("What you sent was refused for %s, and nothing of it ran. After %s at one turn the run stops.", problems, refusals)
}

func sendNext(intent string, left, most int, unit string) string {
	return fmt.Sprintf("Send the next %s. %d of %d %ss are left.", intent, left, most, unit)
}

func waitsUntil(time string) string { return fmt.Sprintf("The run waits until %s.", time) }

func actionDone(action, decision, rule string) string {
	return fmt.Sprintf("%s was %s (%s) and done.", action, decision, rule)
}

const (
	decidedApprove  = "approved"
	decidedRevise   = "changed by the policy"
	decidedEscalate = "approved by a person"
)

func targetDeclined(target string) string { return fmt.Sprintf("%s declined.", target) }

func yourSubtasks(n int) string {
	return fmt.Sprintf("%s for you: do what waiting_for.ready lists, then send the results.", countAre(n, "subtask"))
}

const doSubtasks = "Do these subtasks. For each one, send its result and the status completed or failed."

// Runs that wait for a person's decision.

const (
	waitingForPerson = "WAITING for a person."
	doNotStartAgain  = "Do not start it again."
	cannotApprove    = "You cannot approve it, and no tool can."
	seeEffects       = "Earlier calls are listed in effects."
)

func needsApproval(call, rule string) string {
	return fmt.Sprintf("%s needs a person's approval (rule %s).", call, rule)
}

func needsApprovalBy(call, until, rule string) string {
	return fmt.Sprintf("%s needs a person's approval by %s (rule %s). Without a decision it is rejected.", call, until, rule)
}

func needsYourDecision(call, rule string) string {
	return fmt.Sprintf("%s needs your decision (rule %s).", call, rule)
}

func decideBy(until string) string {
	return fmt.Sprintf("If no one decides before %s, it is rejected.", until)
}

const onlySigned = "Only a decision that an approver key signed counts."

func runCommand(command string) string { return fmt.Sprintf("Run `%s`.", command) }

func runOnServer(command string) string {
	return fmt.Sprintf("On the machine of the server, run `%s`.", command)
}

func openOrRun(page, command string) string {
	return fmt.Sprintf("Open %s or run `%s`.", page, command)
}

func serveAndOpen(page, command string) string {
	return fmt.Sprintf("No server shows the page now: run `patterngate inbox`, then open %s. Or run `%s`.", page, command)
}

func ruleSays(text string) string { return fmt.Sprintf("The rule says: %s", text) }

func runWherePageIs(command string) string {
	return fmt.Sprintf("The approval page opens only on the machine of the server. There, run `%s`.", command)
}

func finalAnswerOf(pattern string) string { return fmt.Sprintf("%s of %s", theFinalAnswer, pattern) }

func forPattern(pattern, call string) string { return fmt.Sprintf("For %s, %s", pattern, call) }

func theCallOf(tool string) string { return "The call of " + tool }

// Runs with a call whose outcome is unknown.

func outcomeUnknown(call, cause string) string {
	return fmt.Sprintf("The outcome of one call is unknown: %s (%s).", call, cause)
}

const (
	mustSettle   = "A person must find out whether it happened, and settle it."
	cannotSettle = "You cannot settle it, and no tool can."
	doNotRepeat  = "Until then, do not repeat it."
)

func settleBy(until string) string {
	return fmt.Sprintf("Without an answer by %s the run stops, and the outcome stays unknown.", until)
}

func findOut(call, cause string) string {
	return fmt.Sprintf("Find out whether this happened: %s. Patterngate does not know, because %s.", call, cause)
}

func settleHere(happened, didNot string) string {
	return fmt.Sprintf("If it did, run `%s`. If not, run `%s`.", happened, didNot)
}

func settleThere(happened, didNot string) string {
	return fmt.Sprintf("If it did, run `%s` on the machine of the server. If not, run `%s` there.", happened, didNot)
}

const (
	causeCrash       = "the server stopped during the call"
	causeTimeout     = "the call was sent and no reply came in time"
	causeBrokenReply = "the call was sent and its reply could not be read"
)

// Runs that lack something.

func waitingFor(lack string) string { return fmt.Sprintf("WAITING: %s.", lack) }

func tellOperator(lack string) string {
	return fmt.Sprintf("Tell the operator of the server: %s.", lack)
}

const continuesOnceFixed = "The run continues by itself when this is fixed, and nothing is lost."

func lacksConfiguration(which, run string) string {
	return fmt.Sprintf("the run began under another configuration%s. Start the server with the file that was in force then, or cancel the run: "+
		"`patterngate runs cancel %s`", which, run)
}

func lacksTool(which string) string { return "a tool that the run needs is missing" + which }

func lacksSecret(which string) string { return "a secret that the run needs is not set" + which }

func lacksJournal(which string) string {
	return fmt.Sprintf("the record cannot be written%s, and no call is made without it", which)
}

func lacksOther(cause, which string) string {
	return fmt.Sprintf("the run cannot continue here: %s%s", cause, which)
}

func which(names string) string { return fmt.Sprintf(" (%s)", names) }

// Running runs.

func running(lasting, phase, doing, answered string) string {
	return fmt.Sprintf("Running%s in phase %s: %s; %s answered.", lasting, phase, doing, answered)
}

func forSeconds(n int) string { return fmt.Sprintf(" for %d s", n) }

func callsOf(done int, all string) string { return fmt.Sprintf("%d of %s", done, all) }

const (
	starting        = "starting"
	working         = "working"
	continuesItself = "It continues without you."
)

// What a run waits for, in lines of progress, and continuations that were not taken.

const (
	waitsForCaller = "waiting for the caller"
	waitsForLack   = "waiting for what is missing"
	waitsForPerson = "waiting for a person"

	wantIdle    = "a waiting run; another call is running this one"
	wantOpen    = "a waiting run; this one has ended"
	wantCurrent = "a waiting run; another call continued this one first, and its result is shown"
	wantAction  = "at least one action"
)

func wantForCaller(waits string) string {
	return fmt.Sprintf("a run that waits for its caller; this one is %s, so nothing that you sent was used", waits)
}

// WantRecorded says that a call was not used because nothing can be recorded.
const WantRecorded = "a record that can be written; nothing of this call was used, so send it again later"

// NotOffered says that the advised tool is missing on this server.
func NotOffered(tool string) string {
	return fmt.Sprintf("This server does not offer %s. A server whose configuration has it can continue the run.", tool)
}

func wantTurn(turn string) string { return "the current turn: " + turn }

// Plans of the planning tools.

func planIs(plan string) string { return fmt.Sprintf("Its plan is %s.", plan) }

func planValid(whose, subtasks string) string {
	return fmt.Sprintf("%s plan of %s is valid. This was a dry run, and nothing is stored.", whose, subtasks)
}

func planStored(whose, subtasks, plan string, revision int, ready string) string {
	return fmt.Sprintf("%s plan of %s was accepted and stored as %s, revision %d. %s", whose, subtasks, plan, revision, ready)
}

func planReplaced(plan string, revision int, kept string, added int, proposer string, removed int, ready string) string {
	return fmt.Sprintf("Plan %s now has revision %d: %s kept, %d added by %s, %d removed. %s", plan, revision, kept, added, proposer, removed, ready)
}

const (
	roundDone   = "This round is complete. The plan needs another one."
	notCritical = "No critical subtask is missing."
	notStored   = "Nothing is stored."
	unchanged   = "The plan is unchanged."
)

func itTook(took string) string { return fmt.Sprintf("It took %s.", took) }

func subtasksReady(n int) string { return fmt.Sprintf("%s ready.", countAre(n, "subtask")) }

func completedOf(done, all int) string {
	verb := "are"
	if done == 1 || all == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%d of %s %s completed", done, sentence.Count(all, "subtask"), verb)
}

func someInProgress(n int) string { return fmt.Sprintf("%d %s in progress", n, isAre(n)) }

func someWaiting(n int) string { return fmt.Sprintf("%d %s waiting for you", n, isAre(n)) }

func someFailed(n int) string { return fmt.Sprintf("%d failed", n) }

func someSkipped(n int) string { return fmt.Sprintf("%d %s skipped", n, isAre(n)) }

func someBlocked(n int) string { return fmt.Sprintf("%d %s blocked", n, isAre(n)) }

func someUnknown(n int) string {
	if n == 1 {
		return "1 has an unknown outcome"
	}
	return fmt.Sprintf("%d have an unknown outcome", n)
}

func somePending(n int) string { return fmt.Sprintf("%d %s pending", n, isAre(n)) }

const (
	unknownPlan   = "You have no plan with this id. Look for it in the list of your plans."
	restOfPlan    = "Send your own subtasks for the remaining work."
	restCannotRun = "Send your own subtasks for the remaining work. The problems name the old subtasks that cannot run here."
	planChanged   = "The plan has changed. Check that the call still fits it."
)

// Dry runs.

const (
	dryRunAdvice = "This was a dry run, and nothing was done. judged shows how each call would be decided without dry_run."
	wasDryRun    = "This was a dry run."
	isDryRun     = "Dry run: nothing was called or recorded."
	oneUnchanged = "The one call would be approved unchanged."
	dryAttempt   = "Attempt"
	dryStep      = "Step"
	dryTask      = "Task"
	dryBlocked   = "would be blocked"
	dryPerson    = "would need a person's approval"
	dryDepends   = "depends on the result of an earlier call"
	dryChanged   = "would be changed"
)

func allUnchanged(n int) string { return fmt.Sprintf("All %d calls would be approved unchanged.", n) }

func someUnchanged(calls string) string { return fmt.Sprintf("%s would be approved unchanged.", calls) }

func moreJudged(calls string) string {
	return fmt.Sprintf("%s more would not be approved unchanged.", calls)
}

func childNotRehearsed(pattern string) string {
	return fmt.Sprintf("The dry run does not include the runs of %s.", pattern)
}

func placedCall(what, step, call string) string { return fmt.Sprintf("%s %s %s", what, step, call) }

func judgedCall(call, decision, by string) string { return fmt.Sprintf("%s %s%s.", call, decision, by) }

func becauseOf(reason string) string { return fmt.Sprintf(" (%s)", reason) }

func itNeeds(names string) string { return "; it needs " + names }

// Numbers with their verbs.

// countWere returns, for example, "No step was", "1 step was" or "2 steps were".
func countWere(n int, thing string) string {
	if n == 0 {
		return "No " + thing + " was"
	}
	return sentence.Count(n, thing) + " " + wasWere(n)
}

// countAre returns, for example, "No subtask is", "1 subtask is" or "2 subtasks are".
func countAre(n int, thing string) string {
	if n == 0 {
		return "No " + thing + " is"
	}
	return sentence.Count(n, thing) + " " + isAre(n)
}

// someOf returns, for example, "2 of 3 tasks were" or "1 of 1 task was".
func someOf(n, all int, thing string) string {
	verb := "were"
	if n == 1 || all == 1 {
		verb = "was"
	}
	return fmt.Sprintf("%d of %s %s", n, sentence.Count(all, thing), verb)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
