package approvals

// The texts of the commands "approvals".

// The state of a question in a list.

const expired = "expired"

// openFor is the state of a question that waits, with the time that is left.
func openFor(left string) string { return "open " + left }

// What is wrong with an argument of an edit.

func badValue(place, want string) string { return place + ": " + want }

func badArgument(place, reason, want string) string { return place + ": " + reason + "; want " + want }

const otherValues = "--edit with a value that the tool takes"

// notAsProposed is the answer to an approval with changed arguments. The changed arguments follow it.
func notAsProposed(proposed string) string {
	return ". Proposed was: " + proposed + "\napproved with these arguments instead, which the policy judges again:\n"
}

// thenBlocked is the state of a call that a person approved and that the policy then blocked. says is the text of the rule; it can be "".
func thenBlocked(rule, says string) string {
	text := "decided; the policy then blocked the call (rule " + rule + "), and nothing was sent"
	if says != "" {
		text += ". The rule says: " + says
	}
	return text
}

// stoppedBySwitch warns of an approval under a kill switch for a tool, for a pattern, or with neither for everything.
func stoppedBySwitch(tool, pattern string) string {
	what, flag := "every call", ""
	switch {
	case tool != "":
		what, flag = tool, " --tool "+tool
	case pattern != "":
		what, flag = pattern, " --pattern "+pattern
	}
	return "warning: a kill switch stops " + what + ". Approved now, the run stops, and a new call needs a new approval. Turn the switch off first: " +
		"patterngate kill-switch off" + flag
}
