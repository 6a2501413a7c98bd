package server

import (
	"math"
	"slices"
	"strings"

	"patterngate/gateway/planning"
	"patterngate/patterns"
)

// planMembers are the members that planning's results have besides those of all (spec/planning-reference.md section 15,
// Results). Lists of ids are there with every view of a plan, and counts too where they are 0; all else is absent where there is
// nothing to say. The plan itself and its history stand at their places in the [Envelope].
type planMembers struct {
	PlanID   string `json:"plan_id,omitempty"`
	Revision int    `json:"revision,omitempty"`

	SubtaskCount  *int       `json:"subtask_count,omitempty"`
	Levels        [][]string `json:"levels,omitzero"`
	LevelsOmitted int        `json:"levels_omitted,omitempty"`
	// Of plan.subtasks, or of subtasks.
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
	IDsOmitted  int                  `json:"ids_omitted,omitempty"` // of all lists of ids together

	Preserved []string `json:"preserved,omitzero"`
	Added     []string `json:"added,omitzero"`
	Removed   []string `json:"removed,omitzero"`
	Rationale string   `json:"rationale,omitempty"`

	Results        map[string]any `json:"subtask_results,omitzero"`
	ResultsOmitted int            `json:"results_omitted,omitempty"`
	Open           []string       `json:"open,omitzero"`
	Resumable      *bool          `json:"resumable,omitempty"`
	Details        *planDetails   `json:"details,omitempty"`

	// Of plan_status.
	Goal           string                  `json:"goal,omitempty"`
	Strategy       planning.Strategy       `json:"strategy,omitempty"`
	Metadata       *patterns.PlanMetadata  `json:"metadata,omitempty"`
	LastRun        *patterns.PlanRun       `json:"last_run,omitempty"`
	LastStopReason string                  `json:"last_stop_reason,omitempty"`
	Revisions      []patterns.PlanRevision `json:"revisions,omitzero"`
	Subtasks       []patterns.SubtaskRow   `json:"subtasks,omitzero"`
	Plans          []planRow               `json:"plans,omitzero"`
	NextCursor     string                  `json:"next_cursor,omitempty"`
}

// planDetails say more of a fault.
type planDetails struct {
	Cycle []string `json:"cycle"` // ids, each before the one that depends on it, the first again at the end
}

// planRow is a plan in a list.
type planRow struct {
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

// plannedBy reports whether results of one of planning's tools may have a member.
func plannedBy(verb patterns.PlanVerb, name string) bool {
	return slices.Contains(verbMembers[verb], name)
}

// showPlan puts in what a planning run's result shows besides the members of all.
func (e *Envelope) showPlan(p *patterns.Planned) {
	if p == nil {
		return
	}
	e.PlanID, e.Revision = p.PlanID, p.Revision
	if v := p.View; v != nil {
		e.showView(*v)
		if p.ShowPlan {
			plan := v.Plan
			plan.Subtasks, plan.Removed = listed(plan.Subtasks), listed(plan.Removed)
			e.Plan, e.Levels = &plan, listed(v.Levels)
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

// showView puts in a plan's counts and lists.
func (e *Envelope) showView(v patterns.PlanView) {
	e.PlanID, e.Revision = v.PlanID, v.Revision
	counts, progress, replans := v.Counts, fourDigits(v.Progress), v.ReplanCount
	e.PlanStatus, e.Progress, e.ReplanCount = &counts, &progress, &replans
	for _, list := range []struct {
		to  *[]string
		ids []string
	}{
		{&e.Ready, v.Ready}, {&e.RunningIDs, v.Running}, {&e.WaitingIDs, v.Waiting}, {&e.Failed, v.Failed},
		{&e.Skipped, v.Skipped}, {&e.Blocked, v.Blocked}, {&e.InDoubt, v.InDoubt},
	} {
		*list.to = listed(list.ids)
	}
}

// fourDigits is a share with four decimals.
func fourDigits(share float64) float64 { return math.Round(share*1e4) / 1e4 }

// listed is a list that is never nil.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// planOf is the plan that a planning result shows; nil where it shows none.
func (e *Envelope) planOf() *patterns.ShownPlan {
	plan, _ := e.Plan.(*patterns.ShownPlan)
	return plan
}

// subtaskRows are the subtasks that a result shows, by whichever member.
func (e *Envelope) subtaskRows() []patterns.SubtaskRow {
	if plan := e.planOf(); plan != nil {
		return plan.Subtasks
	}
	return e.Subtasks
}
