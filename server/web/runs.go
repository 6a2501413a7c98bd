package web

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"patterngate/patterns"
	"patterngate/server/web/wording"
)

// runsPage is a page of runs, the newest first.
type runsPage struct {
	frame
	Statuses []choice
	Pattern  string
	Rows     []runRow
	More     string
	First    string // the address of the first page with these filters; "": this is it
	Filtered bool
	Off      switched
}

// runRow is one run in a list.
type runRow struct {
	ID, Pattern, Status, Class, Why string
	Known                           bool // the run has a page
	Began                           wording.Moment
	Took                            string
	Parent                          string // the run whose call began this one; "": none, or not a valid id
}

const rowsOfRuns = 50

func (p *Pages) runs(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	status, pattern, cursor := query.Get("status"), query.Get("pattern"), query.Get("cursor")
	statuses := []string{"", "running", "waiting", "ok", "stopped"}
	if !slices.Contains(statuses, status) {
		p.refuse(w, r, http.StatusBadRequest, wording.NoSuchStatus)
		return
	}
	page := runsPage{frame: p.watching(p.frame(r.Context(), "Runs", "runs"), patterns.Everything), Pattern: wording.Clip(pattern, wording.MaxName), Filtered: status != "" || pattern != ""}
	page.Off = p.switched(r.Context())
	list, err := p.config.Owner.List(patterns.Filter{Status: status, Pattern: pattern, Limit: rowsOfRuns, Cursor: cursor})
	if err != nil {
		p.fault(w, r, err)
		return
	}
	for _, s := range statuses {
		page.Statuses = append(page.Statuses, choice{s, s == status})
	}
	now := p.now()
	for _, row := range list.Rows {
		page.Rows = append(page.Rows, runRowOf(row, now))
	}
	filters := url.Values{}
	for key, v := range map[string]string{"status": status, "pattern": pattern} {
		if v != "" {
			filters.Set(key, v)
		}
	}
	if cursor != "" {
		page.First = "/r?" + filters.Encode()
	}
	if list.Next != "" {
		filters.Set("cursor", list.Next)
		page.More = "/r?" + filters.Encode()
	}
	render(w, http.StatusOK, "runs.html", page)
}

func runRowOf(r patterns.RunRow, now time.Time) runRow {
	row := runRow{ID: wording.Name(r.RunID), Known: runID.MatchString(r.RunID), Pattern: wording.Name(r.Pattern), Began: wording.MomentOf(r.Began, now), Why: whyOf(r)}
	if row.Status, row.Class = wording.RunStatus(r.Status); runID.MatchString(r.Parent) {
		row.Parent = r.Parent
	}
	if !r.Ended.IsZero() {
		row.Took = wording.Duration(r.Ended.Sub(r.Began).Seconds())
	}
	return row
}

// whyOf describes the state of a run in a few words.
func whyOf(r patterns.RunRow) string {
	summary := wording.Clip(r.Summary, 200)
	switch {
	case r.WaitingKind != "":
		return wording.Waiting(r.WaitingKind) + ". " + summary
	case r.Status == "stopped" && r.StopReason != "":
		return wording.Name(r.StopReason) + ". " + summary
	}
	return summary
}
