package outcome

import (
	"fmt"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// This file explains calls of the user's own tools that could not be made or were not answered (spec/surface.md section
// 4, from 6).

const (
	KillSwitch = "kill_switch"
	onceReused = "once_reused"
)

// ownToolStop says why a run stopped at a tool that may belong to the user. It returns "" for other reasons.
func (a account) ownToolStop() string {
	family, name, _ := strings.Cut(a.StopReason, ":")
	kind := strings.TrimPrefix(family[max(0, strings.IndexByte(family, '_')):], "_")
	switch {
	case a.StopReason == KillSwitch:
		return a.switchedOffAt()
	case name == onceReused:
		return fmt.Sprintf("%s was not sent in phase %s: its business key was used before, with other arguments or by a call that nobody "+
			"knows the end of (%s).", a.lastTool(), a.Phase, onceReused)
	case name != "" && kind == "unavailable":
		return fmt.Sprintf("%s could not be called in phase %s, and nothing was sent: %s (%s).",
			printable.Name(name), a.Phase, a.unready(name), sentence.Reason(a.StopReason))
	case name != "" && kind == "timeout" && family != "llm_timeout":
		return fmt.Sprintf("%s was called in phase %s and did not answer in time; it only reads, so nothing was changed by it (%s).",
			printable.Name(name), a.Phase, sentence.Reason(a.StopReason))
	}
	return ""
}

// maxWhy is how much of a readiness text about a tool is repeated, in bytes.
const maxWhy = 300

// unready says why a tool cannot be called, and what a person can do about it.
func (a account) unready(name string) string {
	t, ok := a.Spec.Catalog.Tool(name)
	state := readiness(t)
	if ok && state.Here != "" && a.IsLocal() {
		return printable.Text(sentence.Short(state.Here, maxWhy))
	}
	if ok && state.State != catalog.Ready && state.Why != "" {
		return printable.Text(sentence.Short(state.Why, maxWhy))
	}
	return "its server could not be reached, or what it needs is missing here"
}

// lastTool returns the tool that a run would have called next, for the beginning of a sentence.
func (a account) lastTool() string {
	switch a.Spec.Kind {
	case gateway.Call:
		return printable.Name(a.Spec.Tool)
	case gateway.Supervisor:
		return a.stoppedAt()
	}
	call, _ := a.putToPerson()
	return call
}

// readiness returns whether a tool can be called now.
func readiness(t catalog.Tool) catalog.Readiness {
	if t.Ready == nil {
		return catalog.Readiness{}
	}
	return t.Ready()
}

// switchedOffAt says that a run stopped because a person switched off the run or a tool that it wanted to call.
func (a account) switchedOffAt() string {
	if a.Off == nil {
		return fmt.Sprintf("Stopped in phase %s: a kill switch is on (%s).", a.Phase, KillSwitch)
	}
	return fmt.Sprintf("Stopped in phase %s: %s (%s). Nothing of it is called until `%s`.",
		a.Phase, SwitchWords(*a.Off), KillSwitch, SwitchCommand(*a.Off))
}

// maxReasonShown is how much of a person's reason is repeated, in bytes.
const maxReasonShown = 120

// SwitchWords returns what a kill switch stops, with its author and reason. For example: read_order was switched off by
// local:1000 at 2026-11-21T09:30:00Z, with the words "wrong orders". A person's words are quoted and cut.
func SwitchWords(s patterns.Switch) string {
	what := "everything"
	switch {
	case s.Tool != "":
		what = printable.Name(s.Tool)
	case s.Pattern != "":
		what = "pattern " + printable.Name(s.Pattern)
	}
	words := what + " was switched off"
	if s.By != "" {
		words += " by " + printable.Name(s.By)
	}
	if !s.At.IsZero() {
		words += " at " + sentence.Time(s.At)
	}
	if s.Reason != "" {
		words += ", with the words " + printable.Text(arguments.JSONText(sentence.Short(s.Reason, maxReasonShown)))
	}
	return words
}

// SwitchCommand returns the command that ends a kill switch.
func SwitchCommand(s patterns.Switch) string {
	const off = "patterngate kill-switch off"
	switch {
	case s.Tool != "":
		return off + " --tool " + sentence.ShellWord(s.Tool)
	case s.Pattern != "":
		return off + " --pattern " + sentence.ShellWord(s.Pattern)
	}
	return off
}
