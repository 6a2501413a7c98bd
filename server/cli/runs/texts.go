package runs

// The texts of the commands "runs" that depend on the state of a run.

// noResult is the state in a list of a run that ended well, but none of its calls returned a result.
const noResult = "no result"

const noResultIsOK = "runs with no result have the status ok"

// moreRuns says how to see the next page.
func moreRuns(cursor string) string {
	return "more runs: the same command with --cursor " + cursor
}

// decidedContinue says how a run continues after a person decided.
func decidedContinue(decided, run string) string {
	return decided + "; continue it with: patterngate runs resume " + run
}

// Remarks after "runs resume".

func otherConfiguration(run string) string {
	return run + " began under another configuration. Give the file that was in force then (--config FILE), or cancel the run: " +
		"patterngate runs cancel " + run
}

func approvalSpent(run, approval string) string {
	return run + " used the approval " + approval + ", and its call failed. A new call asks a person again."
}

// Runs that cannot be resumed or settled.

func waitsForDecision(approval string) (what, try string) {
	return "it waits for a person's decision", "patterngate approvals show " + approval
}

func waitsForSettlement(run, effect string) (what, try string) {
	return "it waits until a person settles a call", "patterngate runs settle " + run + " " + effect + " --happened or --did-not-happen"
}

func waitsForCaller(run string) (what, try string) {
	return "it waits for its caller, who continues it by the same tool with run_id", "patterngate runs show " + run
}

func alreadySettled(how string) string { return "already settled: " + how }
