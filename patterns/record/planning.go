package record

import (
	"fmt"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// isPlanning reports whether the story is of a run of the planning tools.
func (s Story) isPlanning() bool { return s.Kind == string(gateway.Planning) }

// PlanID returns the id of the stored plan that a run of the planning tools is about. It is the plan that the run read or stored last,
// otherwise the plan in its arguments; "" for none.
func (s Story) PlanID() string {
	if !s.isPlanning() {
		return ""
	}
	id := ""
	for _, r := range s.Rows {
		if step, ok := r.planStep(); ok && step.PlanID != "" && r.State == string(patterns.OK) {
			id = step.PlanID
		}
	}
	if id != "" {
		return id
	}
	var said struct {
		PlanID string `json:"plan_id"`
		Parent string `json:"parent_plan_id"`
	}
	readKnown(s.Arguments, &said)
	for _, id := range []string{said.PlanID, said.Parent} {
		if isPlanID(id) {
			return id
		}
	}
	return ""
}

// Subtask returns the id of the subtask if the row's branch is an attempt at one; "" if it is not. The story must be of a run of the
// planning tools.
func (r Row) Subtask() string {
	branch := r.Branch()
	at := strings.LastIndexByte(branch, '#')
	if at < 0 || strings.Contains(branch, "/") || r.Kind == string(patterns.TimerEffect) {
		return ""
	}
	return branch[:at]
}

// planStep is the recorded input of an operation on a stored plan.
type planStep struct {
	PlanID   string `json:"plan_id"`
	Claim    bool   `json:"claim"`
	Revision int    `json:"revision"`
	Keep     bool   `json:"keep"`
}

// planStep returns the operation on a stored plan that the row is about; false for another kind of row. It leaves out an id that does
// not have the form of a plan id.
func (r Row) planStep() (planStep, bool) {
	var step planStep
	if r.Kind != string(patterns.PlanEffect) {
		return step, false
	}
	readKnown(r.input, &step)
	if !isPlanID(step.PlanID) {
		step.PlanID = ""
	}
	return step, true
}

// PlanWords describes the operation on a stored plan, in words for use in a sentence; "" if the row is about no plan.
func (r Row) PlanWords() string {
	step, ok := r.planStep()
	if !ok {
		return ""
	}
	plan := step.PlanID
	if plan == "" {
		plan = unnamedPlan
	}
	switch patterns.PlanOp(r.Name) {
	case patterns.LoadOp:
		if step.Claim {
			return planClaimed(plan)
		}
		return planRead(plan)
	case patterns.CreateOp:
		return planStored(plan, step.Revision)
	case patterns.CommitOp:
		if step.Keep {
			return progressStored(plan, step.Revision)
		}
		return progressReleased(plan, step.Revision)
	case patterns.ReleaseOp:
		return planReleased(plan)
	}
	return ""
}

// AskWords describes what a model was asked for, in words for use in a sentence.
func AskWords(name string) string {
	switch patterns.Ask(name) {
	case patterns.AskSubtasks:
		return askedPlan
	case patterns.AskReplan:
		return askedRest
	case patterns.AskWork:
		return askedResult
	}
	return name
}

// StepCounts counts the steps of a plan by kind, in words for use in a list. A step that cannot run is not counted.
func StepCounts(plan planning.Envelope) []string {
	n := map[string]int{}
	for _, s := range plan.Steps {
		if s.Effect != "" {
			n[string(s.Effect)]++
		} else {
			n[s.Tool]++
		}
	}
	var list []string
	for _, kind := range []struct{ name, words string }{
		{"read", stepsRead}, {"write", stepsWrite}, {"destructive", stepsDestroy}, {planning.ModelExecutor, stepsModel},
		{planning.CallerExecutor, stepsCaller},
	} {
		if n[kind.name] > 0 {
			list = append(list, fmt.Sprintf(kind.words, n[kind.name]))
		}
	}
	return list
}

// planningPhase returns the phase of an effect of the planning tools; "" if the effect may belong to any phase.
func planningPhase(b patterns.IntentBody) string {
	switch b.EffectKind {
	case patterns.ModelEffect:
		return map[string]string{
			string(patterns.AskSubtasks): patterns.PhasePlan, string(patterns.AskReplan): patterns.PhaseReplan,
			string(patterns.AskWork): patterns.PhaseExecute, string(patterns.AskAnswer): patterns.PhaseFinalize,
		}[b.Name]
	case patterns.CallerEffect:
		if b.Name == "turn" {
			return patterns.PhaseExecute
		}
	case patterns.HumanEffect:
		if b.Name != settlement {
			return patterns.PhaseHuman
		}
		return patterns.PhaseExecute
	case patterns.ToolEffect, patterns.TimerEffect:
		return patterns.PhaseExecute
	case patterns.PlanEffect:
		if b.Name == string(patterns.CreateOp) {
			return patterns.PhasePlan
		}
	}
	return ""
}

func isPlanID(id string) bool {
	digits, ok := strings.CutPrefix(id, "plan_")
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// ofSubtask returns a function that matches the rows of the attempts at a subtask.
func ofSubtask(id string) func(Row) bool {
	return func(r Row) bool { return id != "" && r.Subtask() == id }
}

// sameBranch reports whether two rows belong together: they are of one branch, or attempts at one subtask.
func (s *Story) sameBranch(a, b Row) bool {
	if s.isPlanning() && a.Subtask() != "" {
		return a.Subtask() == b.Subtask()
	}
	return a.Branch() == b.Branch()
}

// meanwhile reports whether the rest of the run may have continued while the row waited. This is true for a pause before another
// attempt.
func (s *Story) meanwhile(r Row) bool {
	return s.isPlanning() && r.Kind == string(patterns.TimerEffect)
}
