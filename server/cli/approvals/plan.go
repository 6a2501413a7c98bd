package approvals

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
)

// maxStepName is the longest id and tool name of a step. Longer names would be cut, and two steps could then look the
// same.
const maxStepName = 64

// planLines lists the steps of a plan that a person approves as a whole, in execution order. Each step has all its
// arguments. If an argument comes from another step, the list shows what is known of it.
func planLines(plan planning.Envelope, width int) string {
	var b strings.Builder
	if c := plan.Change; c != nil {
		ids := make([]string, len(c.Removed))
		for i, id := range c.Removed {
			ids[i] = console.Clip(id, maxStepName)
		}
		text := fmt.Sprintf("These are new since the plan was changed (%s, revision %d); removed: %s.", console.Clip(c.Kind, console.MaxName), plan.Revision, strings.Join(ids, ", "))
		b.WriteString(console.Fold(text, console.FoldWidth(width), "") + "\n\n")
	}
	for i, s := range plan.Steps {
		fmt.Fprintf(&b, "%d. %s: %s%s\n%s", i+1, console.Clip(s.ID, maxStepName), console.Clip(s.Tool, maxStepName), stepWords(s), argumentLines(s.Args, nil, width))
		for _, at := range slices.Sorted(maps.Keys(s.Bounds)) {
			text := fmt.Sprintf("%s: a value from another step, of any kind", at)
			if bounds, _ := s.Bounds[at].(map[string]any); len(bounds) > 0 {
				text = fmt.Sprintf("%s: a value from another step that fits %s", at, ijson.Canonical(bounds))
			}
			b.WriteString(console.FencedTo(math.MaxInt, "  ", text, width))
		}
	}
	return b.String() + "\nSteps: " + strings.Join(record.StepCounts(plan), ", ") + ". Each can run once, as shown here.\n"
}

// stepWords says what a step can change, or names its executor.
func stepWords(s planning.EnvelopeStep) string {
	switch {
	case s.Effect != "":
		return recordtext.EffectWords(string(s.Effect))
	case s.Tool == planning.ModelExecutor:
		return " (the model works on its description)"
	case s.Tool == planning.CallerExecutor:
		return " (the client's agent does it)"
	}
	return " (an unknown tool: it will not run)"
}

// planClaims quotes the goal and the steps in the words of the plan's author. Nothing checks these words.
func planClaims(plan planning.Envelope, width int) string {
	var lines []string
	if plan.Goal != "" {
		lines = append(lines, "goal: "+plan.Goal)
	}
	for _, s := range plan.Steps {
		lines = append(lines, s.ID+": "+s.Claim)
	}
	return "\nThe plan, in the words of its author (a claim, not checked):\n" + console.Fenced("", strings.Join(lines, "\n"), width)
}
