package outcome

import (
	"strings"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// maxRuleText is the length at which a rule's text is cut, in characters.
const maxRuleText = 300

// block returns what the policy said. It returns nil if the policy did not stop the run, or if it adds nothing to the
// stop reason.
func (a account) block() *envelope.Block {
	b := a.Result.Blocked
	if b == nil || b.Text == "" && len(b.Values) == 0 && (b.Rule == b.Reason || b.Rule == "") {
		return nil
	}
	return &envelope.Block{
		Tool: b.Tool, Rule: b.Rule, Reason: b.Reason, Text: sentence.AtMost(oneParagraph(b.Text), maxRuleText),
		Values: b.Values, Need: a.Need, Retryable: b.Retryable, Passes: b.Passes,
	}
}

// oneParagraph returns a text with every run of white space, line ends too, replaced by one space.
func oneParagraph(text string) string { return strings.Join(strings.Fields(text), " ") }

// blockedWhy returns what the summary says about a call that the policy blocked, and what to tell the person. It uses
// the rule's own text if there is one. It never shows a value that the rule read. Both are "" if the run stopped for
// another reason.
func (a account) blockedWhy() (summary, say string) {
	family, name, _ := strings.Cut(a.StopReason, ":")
	if family != "supervisor_block" && family != "policy_block" {
		return "", ""
	}
	why, by := meaning(a.StopReason), printable.Name(name)
	if b := a.Result.Blocked; b != nil {
		if text := oneParagraph(b.Text); text != "" && !strings.HasPrefix(name, "policy_error:") { // a rule's text applies only if the rule was evaluated
			why = printable.Text(sentence.AtMost(strings.TrimSuffix(text, "."), maxRuleText))
		}
		switch b.Rule {
		case "":
		case name:
			by = byRule(by)
		default:
			if "policy_error:"+b.Rule != name {
				by = byRuleAnd(printable.Name(b.Rule), by)
			}
		}
	}
	summary, say = blocked(a.blockedCall(), a.Phase, why, by), blockedSay(a.blockedCall(), why, by)
	if a.sameMayPass() {
		return sentence.Joined(summary, passesLater), sentence.Joined(say, passesLaterSay)
	}
	return summary, say
}

// sameMayPass reports whether the policy may approve the blocked call later without a change. It is false if the call
// needs another one first, or if other arguments are what the policy asks for.
func (a account) sameMayPass() bool {
	b := a.Result.Blocked
	return b != nil && b.Retryable && len(a.Need) == 0 && b.Argument == ""
}

// blockedCall names the blocked call, for the beginning of a sentence.
func (a account) blockedCall() string {
	switch b := a.Result.Blocked; {
	case a.Spec.Kind == gateway.Supervisor:
		return a.stoppedAt()
	case b == nil:
		call, _ := a.putToPerson()
		return call
	default:
		return printable.Name(b.Tool)
	}
}

// near returns the argument of the blocked call to change, and the nearest value with which the policy does not block
// the call.
func (a account) near() (name string, value any, ok bool) {
	b := a.Result.Blocked
	if b == nil || b.Argument == "" {
		return "", nil, false
	}
	value, ok = b.Nearest[b.Argument]
	return b.Argument, value, ok
}
