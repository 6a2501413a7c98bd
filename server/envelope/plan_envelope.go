package envelope

import (
	"math"
	"slices"
	"strings"

	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// planMembers holds the members that only planning's results have (spec/planning-reference.md section 15, Results).
// Each view of a plan has lists of ids, and it has counts even where they are 0. Any other member is absent if it is
// empty. The plan itself and its history are members of [Envelope].
type planMembers struct {
	PlanID   string `json:"plan_id,omitempty"`
	Revision int    `json:"revision,omitempty"`

	SubtaskCount  *int       `json:"subtask_count,omitempty"`
	Levels        [][]string `json:"levels,omitzero"`
	LevelsOmitted int        `json:"levels_omitted,omitempty"`
	// Counts plan.subtasks or subtasks.
	SubtasksOmitted int `json:"subtasks_omitted,omitempty"`

	PlanStatus  *patterns.PlanCounts `json:"plan_status,omitempty"`
	Progress    *float64             `json:"progress,omitempty"`
	ReplanCount *int                 `json:"replan_count,omitempty"`
	Ready       []string             `json:"ready,omitzero"`
	RunningIDs  []string             `json:"running,omitzero"`
	WaitingIDs  []string             `json:"waiting,omitzero"`
	Failed      []string             `json:"failed,omitzero"`
	Skipped     []string             `json:"skipped,omitzero"`
	Blocked     []string             `json:"blocked,omitzero"`
	InDoubt     []string             `json:"in_doubt,omitzero"`
	IDsOmitted  int                  `json:"ids_omitted,omitempty"` // across all lists of ids

	Preserved []string `json:"preserved,omitzero"`
	Added     []string `json:"added,omitzero"`
	Removed   []string `json:"removed,omitzero"`
	Rationale string   `json:"rationale,omitempty"`

	Results        map[string]any `json:"subtask_results,omitzero"`
	ResultsOmitted int            `json:"results_omitted,omitempty"`
	Open           []string       `json:"open,omitzero"`
	Resumable      *bool          `json:"resumable,omitempty"`
	Details        *planDetails   `json:"details,omitempty"`

	// These belong to plan_status.
	Goal           string                  `json:"goal,omitempty"`
	Strategy       planning.Strategy       `json:"strategy,omitempty"`
	Metadata       *patterns.PlanMetadata  `json:"metadata,omitempty"`
	LastRun        *patterns.PlanRun       `json:"last_run,omitempty"`
	LastStopReason string                  `json:"last_stop_reason,omitempty"`
	Revisions      []patterns.PlanRevision `json:"revisions,omitzero"`
	Subtasks       []patterns.SubtaskRow   `json:"subtasks,omitzero"`
	Plans          []PlanRow               `json:"plans,omitzero"`
	NextCursor     string                  `json:"next_cursor,omitempty"`
}

// planDetails gives more details of a fault.
type planDetails struct {
	Cycle []string `json:"cycle"` // ids, each before the one that depends on it; the first is repeated at the end
}

// PlanRow describes a plan in a list.
type PlanRow struct {
	PlanID         string              `json:"plan_id"`
	Goal           string              `json:"goal"`
	Strategy       planning.Strategy   `json:"strategy"`
	Revision       int                 `json:"revision"`
	Progress       float64             `json:"progress"`
	PlanStatus     patterns.PlanCounts `json:"plan_status"`
	LastStopReason string              `json:"last_stop_reason,omitempty"`
}

var (
	viewMembers = strings.Fields(`plan_id revision plan_status progress replan_count ready running waiting failed skipped blocked in_doubt
		subtasks_omitted ids_omitted`)
	shownMembers = strings.Fields("levels levels_omitted details")
	verbMembers  = map[patterns.PlanVerb][]string{
		patterns.DecomposeVerb: slices.Concat(viewMembers, shownMembers, []string{"subtask_count", "resumable"}),
		patterns.ExecuteVerb:   slices.Concat(viewMembers, shownMembers, []string{"subtask_results", "results_omitted", "open", "resumable"}),
		patterns.ReplanVerb: slices.Concat(viewMembers, shownMembers, []string{
			"subtask_results", "results_omitted", "preserved", "added", "removed", "rationale", "resumable"}),
		patterns.StatusVerb: slices.Concat(viewMembers, strings.Fields(
			"goal strategy metadata last_run last_stop_reason revisions subtasks plans next_cursor resumable")),
	}
)

// HasPlanMember reports whether the results of a planning tool may have a member.
func HasPlanMember(verb patterns.PlanVerb, name string) bool {
	return slices.Contains(verbMembers[verb], name)
}

// ShowPlan adds the members that only a planning run's result has.
func (e *Envelope) ShowPlan(p *patterns.Planned) {
	if p == nil {
		return
	}
	e.PlanID, e.Revision = p.PlanID, p.Revision
	if v := p.View; v != nil {
		e.ShowView(*v)
		if p.ShowPlan {
			plan := v.Plan
			plan.Subtasks, plan.Removed = Listed(plan.Subtasks), Listed(plan.Removed)
			e.Plan, e.Levels = &plan, Listed(v.Levels)
		}
	}
	if p.DryRun {
		e.PlanID, e.Revision = "", 0
		if plan := e.planOf(); plan != nil {
			plan.ID = ""
		}
	}
	e.Preserved, e.Added, e.Removed, e.Rationale = p.Preserved, p.Added, p.Removed, p.Rationale
	e.Results, e.Open, e.Resumable, e.DryRun = p.Results, p.Open, p.Resumable, p.DryRun
	if len(p.Cycle) > 0 {
		e.Details = &planDetails{p.Cycle}
	}
}

// ShowView adds a plan's counts and lists.
func (e *Envelope) ShowView(v patterns.PlanView) {
	e.PlanID, e.Revision = v.PlanID, v.Revision
	counts, progress, replans := v.Counts, FourDigits(v.Progress), v.ReplanCount
	e.PlanStatus, e.Progress, e.ReplanCount = &counts, &progress, &replans
	for _, list := range []struct {
		to  *[]string
		ids []string
	}{
		{&e.Ready, v.Ready}, {&e.RunningIDs, v.Running}, {&e.WaitingIDs, v.Waiting}, {&e.Failed, v.Failed},
		{&e.Skipped, v.Skipped}, {&e.Blocked, v.Blocked}, {&e.InDoubt, v.InDoubt},
	} {
		*list.to = Listed(list.ids)
	}
}

// FourDigits rounds a share to four decimals.
func FourDigits(share float64) float64 { return math.Round(share*1e4) / 1e4 }

// Listed returns the list, and an empty list instead of nil.
func Listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// planOf returns the plan that a planning result shows, or nil if it shows none.
func (e *Envelope) planOf() *patterns.ShownPlan {
	plan, _ := e.Plan.(*patterns.ShownPlan)
	return plan
}

// subtaskRows returns the subtasks that a result shows, from plan.subtasks or from subtasks.
func (e *Envelope) subtaskRows() []patterns.SubtaskRow {
	if plan := e.planOf(); plan != nil {
		return plan.Subtasks
	}
	return e.Subtasks
}

// EmptyResult returns the form of a result that the caller sends for a subtask. A form with blanks is refused.
func EmptyResult() any { return map[string]any{"status": "", "result": ""} }
