package outcome

import (
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

// ownToolStop says why a run stopped at a tool that may belong to the user: for the summary, and for the person. It
// returns "" for other reasons.
func (a account) ownToolStop() (summary, say string) {
	family, name, _ := strings.Cut(a.StopReason, ":")
	kind := strings.TrimPrefix(family[max(0, strings.IndexByte(family, '_')):], "_")
	switch {
	case a.StopReason == KillSwitch:
		return a.switchedOffAt()
	case name == onceReused:
		return keyReused(a.lastTool(), a.Phase, onceReused), keyReusedSay(a.lastTool())
	case name != "" && kind == "unavailable":
		tool, why := printable.Name(name), a.unready(name)
		return unavailable(tool, a.Phase, why, sentence.Reason(a.StopReason)), unavailableSay(tool, why)
	case name != "" && kind == "timeout" && family != "llm_timeout":
		return timedOut(printable.Name(name), a.Phase, sentence.Reason(a.StopReason)), timedOutSay(printable.Name(name))
	}
	return "", ""
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
	return notReady
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
func (a account) switchedOffAt() (summary, say string) {
	if a.Off == nil {
		return switchIsOn(a.Phase, KillSwitch), switchIsOnSay
	}
	words, command := SwitchWords(*a.Off), SwitchCommand(*a.Off)
	return switchedOff(a.Phase, words, KillSwitch, command), switchedOffSay(words, command)
}

// maxReasonShown is how much of a person's reason is repeated, in bytes.
const maxReasonShown = 120

// SwitchWords returns what a kill switch stops, with its author and reason. For example: read_order was switched off by
// local:1000 at 2026-11-21T09:30:00Z, reason: "wrong orders". A person's words are quoted and cut.
func SwitchWords(s patterns.Switch) string {
	what := everything
	switch {
	case s.Tool != "":
		what = printable.Name(s.Tool)
	case s.Pattern != "":
		what = thePattern(printable.Name(s.Pattern))
	}
	words := wasSwitchedOff(what)
	if s.By != "" {
		words += offBy(printable.Name(s.By))
	}
	if !s.At.IsZero() {
		words += offAt(sentence.Time(s.At))
	}
	if s.Reason != "" {
		words += offReason(printable.Text(arguments.JSONText(sentence.Short(s.Reason, maxReasonShown))))
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
