package runs

// The texts of the commands "runs" that depend on the state of a run.

// noResult is the state in a list of a run that ended well, but none of its calls returned a result.
const noResult = "no result"

// decidedContinue says how a run continues after a person decided.
func decidedContinue(decided, run string) string {
	return decided + "; continue it with: patterngate runs resume " + run
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
