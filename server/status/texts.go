package status

import (
	"fmt"

	"patterngate/server/sentence"
)

// This file has all texts of the package but the descriptions of arguments, which are in schema.go. Names and outside texts
// arrive cut and escaped.

// The titles and descriptions of the tools about runs. A client's model reads them before it calls a tool.
const (
	statusTitle = "Show a run"
	statusAbout = "Shows a run: what was done, what it waits for and what to do next. Use it after a call was cut off or when the person " +
		"writes again. Without run_id: your newest waiting or finished run. With step: one whole observation."
	waitTitle = "Wait for a run"
	waitAbout = "Waits until a run ends or changes. Use it after `running`, and once after `waiting`. When `next` says end_turn, stop " +
		"calling."
	cancelTitle = "Cancel a run"
	cancelAbout = "Stops a run before its next call. Finished calls stay done and are listed in effects. Use it only when the person asks."
	listTitle   = "List runs"
	listAbout   = "Lists your runs, newest first, with status, stop reason and one line each. Use it to find the id of a run."
)

// Runs.

const (
	noRunYet      = "You have no run here yet."
	noMoreRuns    = "There are no more runs."
	noRunMatches  = "None of your runs matches."
	runsHeading   = "\nRUNS (status | pattern | started | what happened)\n"
	runContinues  = "The run continues by itself. Write again to ask for its state."
	working       = "working"
	wantOwnRun    = "the id of one of your runs"
	wantStep      = "a step number, task or subtask id, attempt or effect key of this run"
	wantOpenRun   = "a running or waiting run; this one has ended, and its end is shown"
	wantRecorded  = "a record that can be written; the cancellation is not recorded, so send it again later"
	wantRunCursor = "the next_cursor of a call with the same filters; leave it out to start again"
)

func requestRefused(problems string) string {
	return fmt.Sprintf("The call was refused for %s.", problems)
}

func startedBy(parent string) string { return fmt.Sprintf("started by %s. ", parent) }

// Pages of lists. The thing is run or plan.

func newestFirst(n int, thing string) string {
	return fmt.Sprintf("%s, newest first.", sentence.Count(n, thing))
}

func newestFirstMore(n int, thing string) string {
	return fmt.Sprintf("%s, newest first. Call again with cursor for older ones.", sentence.Count(n, thing))
}

func newestFirstLast(n int, thing string) string {
	return fmt.Sprintf("%s, newest first. There are no older ones.", sentence.Count(n, thing))
}

// Plans.

const (
	noPlanYet      = "You have no plan here yet."
	noMorePlans    = "There are no more plans."
	unknownPlan    = "You have no plan with this id. Nothing was done."
	lookAmongPlans = "Look for it in the list of your plans."
	wantPlanCursor = "the next_cursor of a call without plan_id; leave it out to start again"
	wantRowCursor  = "the next_cursor of a call with the same arguments and the current plan; leave it out to start again"
)

func planDamaged(plan string) string {
	return fmt.Sprintf("The stored plan %s is damaged, so it cannot be shown or run. Other plans are not affected.", plan)
}

func planDamagedSay(plan string) string {
	return fmt.Sprintf("The stored plan %s is damaged. The operator of the server must restore it, or you can make a new plan.", plan)
}

func workedOn(run string) string { return fmt.Sprintf("Run %s is working on it.", run) }

func workWaits(run, waits string) string { return fmt.Sprintf("Its run %s is %s.", run, waits) }

// The page of a plan, in Markdown.

func pageHead(plan, goal string) string { return fmt.Sprintf("# Plan %s\n\nGoal: %s\n\n", plan, goal) }

func pageState(strategy string, revision int, stands, holder string) string {
	return fmt.Sprintf("Strategy %s, revision %d. %s %s\n\n", strategy, revision, stands, holder)
}

const pageTable = "\n| subtask | status | tool | after | what it is for |\n|---|---|---|---|---|\n"

func moreRows(n int) string { return fmt.Sprintf("\n%d more.\n", n) }

func drawnOf(n, all int) string {
	return fmt.Sprintf("The drawing shows the first %d of %d subtasks.\n\n", n, all)
}

func arrowsLeft(n int) string { return fmt.Sprintf("\n%d more arrows are not drawn.\n", n) }
