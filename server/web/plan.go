package web

import (
	"math"
	"net/http"
	"regexp"
	"slices"
	"time"

	"patterngate/gateway/stopreason"
	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// planPage shows one stored plan: its state, its subtasks and its history.
type planPage struct {
	frame
	ID, Pattern   string
	Principal     string
	Status, Class string
	Goal          string
	Strategy      string
	Source        string
	Created       wording.Moment
	Revision      int
	Counters      []string // limits of the plan, and how much of them is used
	Done, Total   int      // subtasks
	Progress      string
	Counts        []statusCount
	Holder, Last  *planRun // the run that holds the plan now, and the newest run that executed it and ended; nil: none
	Waits         string   // what the holder waits for
	Approval      string   // id of the question to a person that it waits for; "": none
	Graph         *graph   // nil: too large to draw
	Subtasks      []subtask
	Removed       []subtask
	MoreSubtasks  string // how many are not shown
	MoreRemoved   string
	Revisions     []revision
	MoreRevisions string
	Answer        *wording.Block
}

// statusCount is how many subtasks have a status.
type statusCount struct {
	look
	Count int
}

// planRun is a run of a plan.
type planRun struct {
	ID              string
	Known           bool // the run has a page
	Words, Class    string
	Reason, Meaning string
}

// revision is one change of a plan.
type revision struct {
	Number         int
	Kind           string
	Added, Removed []link
	More           string // how many ids are not shown
	Reason         string
	Rationale      string
}

var planID = regexp.MustCompile(`^plan_[0-9a-f]{16}$`)

const (
	maxRevisions = 100 // on one page
	maxIDsShown  = 100 // in one list
)

func (p *Pages) plan(w http.ResponseWriter, r *http.Request) {
	id, f := r.PathValue("id"), p.frame(r.Context(), "", "runs")
	var state patterns.PlanState
	err := patterns.ErrNoPlan
	if planID.MatchString(id) {
		f = p.watching(f, id)
		state, err = p.config.Owner.Plan(id)
	}
	if err != nil {
		p.fault(w, r, err)
		return
	}
	page := planPage{frame: f, ID: id}
	now := planAsItIs(state)
	now.naming(p.named)
	page.fill(now, p.now())
	page.Principal = wording.Name(p.named(state.Principal))
	render(w, http.StatusOK, "plan.html", page)
}

// fill adds the data of a plan.
func (page *planPage) fill(now *planNow, at time.Time) {
	state, plan, view := now.state, now.plan, now.view
	page.Title, page.Pattern, page.Principal = "Plan "+page.ID, wording.Name(state.Pattern), wording.Name(state.Principal)
	page.Status, page.Class = wording.PlanStatus(state, view)
	page.Goal, page.Strategy = wording.Lines(view.Plan.Goal, maxGoal), wording.Name(string(view.Plan.Strategy))
	page.Source, page.Created = wording.PlanOrigin(view.Plan.Metadata.Source), wording.ParseMoment(view.Plan.Metadata.CreatedAt, at)
	page.Revision, page.Counters = view.Revision, counters(view.Plan.Metadata)
	page.Done, page.Total = view.Counts.Completed, view.Counts.Total
	page.Progress = number(math.Round(view.Progress*10000)/100) + " %"
	statuses := now.statuses()
	page.count(statuses)
	page.runs(state)
	d := newSubtasks(now, statuses)
	page.Subtasks, page.MoreSubtasks = d.all()
	page.Removed, page.MoreRemoved = d.removed()
	page.Graph = d.graph()
	page.revise(plan.Revisions, d.links)
	if plan.Answered {
		answer := d.room.text(wording.LabelFinalText, plan.Answer, maxAnswerShown)
		page.Answer = &answer
	}
}

// counters returns the limits of a plan.
func counters(m patterns.PlanMetadata) []string {
	list := []string{wording.MostSubtasks(m.MaxSubtasks), wording.Replanned(m.ReplanCount, m.MaxReplans)}
	if m.MaxIterations > 0 {
		list = append(list, wording.Round(m.Iteration, m.MaxIterations, m.PlanningComplete != nil && *m.PlanningComplete))
	}
	return list
}

// count adds how many subtasks have each status.
func (page *planPage) count(statuses map[string]patterns.SubtaskStatus) {
	numbers := map[look]int{}
	for _, status := range statuses {
		numbers[lookOf(status)]++
	}
	for _, l := range statusLooks {
		if n := numbers[l.look]; n > 0 {
			page.Counts = append(page.Counts, statusCount{l.look, n})
		}
	}
}

// runs adds the run that holds the plan, and the run that executed it last.
func (page *planPage) runs(state patterns.PlanState) {
	if state.Holder != "" {
		class := map[patterns.RunState]string{patterns.Running: "busy", patterns.Parked: "wait"}[state.State]
		page.Holder = &planRun{ID: wording.Name(state.Holder), Known: runID.MatchString(state.Holder), Words: wording.PlanHolder(state), Class: class}
		if page.Holder.Known {
			page.Watch += " " + state.Holder
		}
	}
	if w := state.Waiting; w != nil {
		page.Waits = wording.Waiting(string(w.Kind))
		if approvalID.MatchString(w.Approval) {
			page.Approval = w.Approval
		}
	}
	if last := state.Plan.Last; last != nil {
		page.Last = &planRun{ID: wording.Name(last.RunID), Known: runID.MatchString(last.RunID)}
		page.Last.Words, page.Last.Class = wording.RunStatus(last.Status)
		if last.StopReason != patterns.Success {
			page.Last.Reason = wording.Clip(last.StopReason, 2*wording.MaxName)
			if row, ok := stopreason.Lookup(last.StopReason); ok {
				page.Last.Meaning = row.Meaning
			}
		}
	}
}

// revise adds the revisions, the newest first.
func (page *planPage) revise(revisions []patterns.PlanRevision, links func([]string) ([]link, string)) {
	for i, r := range slices.Backward(revisions) {
		if len(page.Revisions) == maxRevisions {
			page.MoreRevisions = wording.RevisionsBefore(i + 1)
			break
		}
		row := revision{Number: r.Revision, Kind: wording.RevisionKind(r.Kind), Reason: wording.Clip(r.Reason, 200), Rationale: wording.Lines(r.Rationale, wording.MaxComment)}
		added, moreAdded := links(r.Added)
		removed, moreRemoved := links(r.Removed)
		row.Added, row.Removed = added, removed
		if row.More = moreAdded; row.More == "" {
			row.More = moreRemoved
		}
		page.Revisions = append(page.Revisions, row)
	}
}
