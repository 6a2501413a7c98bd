package server

import (
	"fmt"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson/printable"
)

// block is what the policy said of the call at which a run stopped: the rule, what it says to people, and what made it true.
type block struct {
	Tool      string         `json:"tool"`
	Rule      string         `json:"rule,omitempty"`
	Reason    string         `json:"reason"`
	Text      string         `json:"text,omitempty"` // of the rule, for people
	Values    map[string]any `json:"values,omitempty"`
	Need      []string       `json:"need,omitempty"`
	Retryable bool           `json:"retryable,omitempty"` // the same call may be let through later
	Passes    int            `json:"passes,omitempty"`
}

// maxRuleText is how much of what a rule says to people is repeated, in characters.
const maxRuleText = 300

// block is what the policy said; nil where it did not stop the run, or said no more than the stop reason does.
func (a account) block() *block {
	b := a.Result.Blocked
	if b == nil || b.Text == "" && len(b.Values) == 0 && (b.Rule == b.Reason || b.Rule == "") {
		return nil
	}
	return &block{b.Tool, b.Rule, b.Reason, atMost(oneParagraph(b.Text), maxRuleText), b.Values, a.Need, b.Retryable, b.Passes}
}

// oneParagraph is a text without line ends and the like.
func oneParagraph(text string) string { return strings.Join(strings.Fields(text), " ") }

// blockedWhy tells that the policy blocked a call: by which rule and why, in the rule's own words where it has any; never a value
// that it read. It is empty for what was stopped otherwise.
func (a account) blockedWhy() string {
	family, name, _ := strings.Cut(a.StopReason, ":")
	if family != "supervisor_block" && family != "policy_block" {
		return ""
	}
	why, by := meaning(a.StopReason), shownName(name)
	if b := a.Result.Blocked; b != nil {
		if text := oneParagraph(b.Text); text != "" && !strings.HasPrefix(name, "policy_error:") { // what a rule says holds where it is true
			why = printable.Text(atMost(strings.TrimSuffix(text, "."), maxRuleText))
		}
		if b.Rule != "" && b.Rule != name && "policy_error:"+b.Rule != name {
			by = "rule " + shownName(b.Rule) + ", " + by
		}
	}
	said := fmt.Sprintf("%s was blocked by the policy in phase %s: %s (%s).", a.blockedCall(), a.Phase, why, by)
	if b := a.Result.Blocked; b != nil && b.Retryable {
		said += " It may be let through later."
	}
	return said
}

// blockedCall is the call that was blocked, at the beginning of a sentence.
func (a account) blockedCall() string {
	switch b := a.Result.Blocked; {
	case a.Spec.Kind == gateway.Supervisor:
		return a.stoppedAt()
	case b == nil:
		call, _ := a.putToPerson()
		return call
	default:
		return shownName(b.Tool)
	}
}

// appendBlocked writes what the policy said of the call at which the run stopped.
func (e *Envelope) appendBlocked(dst []byte) []byte {
	if e.Block == nil {
		return dst
	}
	dst = append(dst, "BLOCK "...)
	at := len(dst)
	dst, _ = appendJSON(dst, e.Block) // the same value is in structuredContent, where a fault is reported
	return append(revealed(dst, at), '\n')
}

// squeezed is the block with short texts and values.
func (b *block) squeezed(bytes int) *block {
	if b == nil {
		return nil
	}
	less := *b
	less.Tool, less.Rule, less.Reason, less.Text = short(b.Tool, bytes), short(b.Rule, bytes), short(b.Reason, bytes), short(b.Text, bytes)
	less.Values = squeezedArgs(b.Values, bytes)
	less.Need = b.Need[:min(len(b.Need), bytes)]
	return &less
}

// near is the argument of the blocked call that would have to be another, and the nearest value by which it is not blocked.
func (a account) near() (name string, value any, ok bool) {
	b := a.Result.Blocked
	if b == nil || b.Argument == "" {
		return "", nil, false
	}
	value, ok = b.Nearest[b.Argument]
	return b.Argument, value, ok
}
