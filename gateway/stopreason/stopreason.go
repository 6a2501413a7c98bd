package stopreason

import (
	"slices"
	"strings"

	"patterngate/gateway"
)

// Next is what a reader should do after a stop (spec/surface.md section 1, next).
type Next string

// The advices of the registry.
const (
	NextAnswer    Next = "answer_user"
	NextFix       Next = "fix_and_retry"
	NextCall      Next = "call"
	NextTell      Next = "tell_user"
	NextFixOrCall Next = "fix_and_retry or call" // a caller's intent is repaired, a model's replaced by the caller's
	NextFixOrTell Next = "fix_and_retry or tell_user"
	NextCallOrAns Next = "call or answer_user" // before the final text: call; after: the history is there
	NextCallOrTel Next = "call or tell_user"
	NextOfBlock   Next = "call, fix_and_retry or tell_user" // what must come first, the nearest that is allowed, or neither
	NextNone      Next = ""                                 // never ends a run
)

// Exit is the exit code class of a stop (spec/surface.md section 4).
type Exit int

// The exit codes of a call.
const (
	ExitNone    Exit = -1 // never ends a run
	ExitOK      Exit = 0
	ExitFault   Exit = 1 // ours
	ExitRequest Exit = 2 // usage, refused request, incomplete goal
	ExitRefused Exit = 3 // the gate or a person said no, nothing was called
	ExitSpent   Exit = 4 // budget, time, loop, expired
	ExitModel   Exit = 5
	ExitTool    Exit = 6 // something was called and failed
	ExitBusy    Exit = 7 // something else goes on; also of what runs or waits
	ExitStopped Exit = 8 // cancelled from outside
)

// Place is where a stop reason occurs: a pattern's kind and the phases it has there.
type Place struct {
	Kind   gateway.Kind
	Phases []string
}

// Reason is one row of the registry. Name may end in placeholders in capitals, each standing for a name or
// value that the run brings: tool_denied:T. A stop_reason has only what is a row here.
type Reason struct {
	Name    string
	Meaning string
	// Task says that it ends a task of an orchestrator or a subtask of a plan, never the run.
	Task   bool
	Places []Place
	Exit   Exit
	Next   Next
}

// Level is "task" for reasons that only tasks and subtasks have, else "run".
func (s Reason) Level() string {
	if s.Task {
		return "task"
	}
	return "run"
}

// Occurs reports whether a run of this kind may stop so in this phase.
func (s Reason) Occurs(kind gateway.Kind, phase string) bool {
	return slices.ContainsFunc(s.Places, func(p Place) bool {
		return p.Kind == kind && (len(p.Phases) == 0 && phase == "" || slices.Contains(p.Phases, phase))
	})
}

// Lookup finds the row of a stop reason as a result shows it. Of several that fit the one with the
// longest fixed beginning counts. The meaning names the rule that failed.
func Lookup(reason string) (Reason, bool) {
	if !strings.ContainsFunc(reason, placeholder) { // the quick way to most
		if i := slices.IndexFunc(registry, func(s Reason) bool { return s.Name == reason }); i >= 0 {
			return registry[i], true
		}
	}
	best, length, found := Reason{}, -1, false
	for _, s := range registry {
		fixed := strings.IndexFunc(s.Name, placeholder)
		if fixed < 0 {
			fixed = len(s.Name)
		}
		if fixed > length && fits(reason, s.Name) {
			best, length, found = s, fixed, true
		}
	}
	if before, ok := strings.CutSuffix(best.Name, "R"); ok && strings.HasSuffix(before, "policy_error:") {
		best.Meaning = strings.Replace(best.Meaning, " R ", " "+strings.TrimPrefix(reason, before)+" ", 1)
	}
	if best.Meaning == ruleBlocks && strings.HasSuffix(reason, ":"+noRule) {
		best.Meaning = noRuleAllows
	}
	return best, found
}

// All lists the registry in its order. What the rows hold must not be changed.
func All() []Reason { return slices.Clone(registry) }

// placeholder reports whether a byte of a row's name is a capital: a placeholder.
func placeholder(r rune) bool { return r >= 'A' && r <= 'Z' }

// fits compares a reason with a row's name. I is a number from 1 on, of a policy's block
// R for what policies call their rules and reasons, other capitals for anything, but a name that something follows ends where that
// begins.
func fits(reason, name string) bool {
	i := strings.IndexFunc(name, placeholder)
	if i < 0 {
		return reason == name
	}
	tail, ok := strings.CutPrefix(reason, name[:i])
	if !ok {
		return false
	}
	what, after := name[i], name[i+1:]
	if what == 'I' {
		rest := strings.TrimLeft(tail, "0123456789")
		return len(rest) < len(tail) && tail[0] != '0' && fits(rest, after)
	}
	if strings.HasSuffix(name, "_block:R") || strings.HasSuffix(name, "policy_error:R") {
		return IsReason(tail)
	}
	if after == "" {
		return tail != ""
	}
	end := strings.IndexByte(tail, after[0])
	return end > 0 && fits(tail[end:], after)
}

// IsReason reports whether a policy may give a rule this id or this reason: a small letter, then up to 63 small letters, digits
// and _.
func IsReason(name string) bool {
	if name == "" || len(name) > 64 || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Blocked is the row of a reason by which the policy of a pattern of this kind may block: the registry's own where it has one,
// else one that is made of the row for all. It is false where no run of the kind is blocked so.
func Blocked(kind gateway.Kind, reason string) (row Reason, ok bool) {
	for _, family := range []string{"supervisor_block:", "policy_block:"} {
		row, ok = Lookup(family + reason)
		if ok && slices.ContainsFunc(row.Places, func(p Place) bool { return p.Kind == kind }) {
			if row.Name == family+"R" {
				row.Name = family + reason
			}
			return row, true
		}
	}
	return Reason{}, false
}
