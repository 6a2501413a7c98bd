package transport

import "patterngate/ijson"

// onlyOnce refuses a message that has a member twice, at any depth outside the arguments of a call. Readers differ
// about which of the two counts, so a filter before Patterngate could check another message than the one that runs. The
// arguments of a call are checked with the call, whose answer names the repeated member. f and err are what [readFrame]
// returned for the message.
func onlyOnce(message []byte, f frame, err error) error {
	skip := ""
	if f.method == methodCall {
		skip = "arguments"
	}
	if ijson.Repeats(message, skip) {
		return &frameFault{codeParse, "null", repeatedMember}
	}
	return err
}
