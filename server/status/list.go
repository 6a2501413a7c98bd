package status

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/envelope"
	"patterngate/server/sentence"
)

// listArguments returns the arguments of list_runs, in the order in which faults are reported.
func listArguments() []arguments.Row {
	return []arguments.Row{
		{Name: "status", Shape: arguments.Word, Words: []string{envelope.StatusRunning, envelope.StatusWaiting, envelope.StatusOK, envelope.StatusStopped}},
		{Name: "pattern", Most: arguments.MaxInput}, {Name: "stop_reason", Most: arguments.MaxReasonName + arguments.MaxInput},
		{Name: "since", Shape: arguments.Time}, {Name: "until", Shape: arguments.Time},
		{Name: "cursor", Most: 4 << 10}, {Name: "limit", Shape: arguments.Page},
	}
}

// runRow describes a run in a list (spec/surface.md section 2).
type runRow struct {
	RunID       string `json:"run_id"`
	Pattern     string `json:"pattern"`
	Parent      string `json:"parent_run_id,omitempty"` // the run whose call began it
	Status      string `json:"status"`
	StopReason  string `json:"stop_reason,omitempty"`
	Phase       string `json:"phase,omitempty"`
	Summary     string `json:"summary"`
	WaitingKind string `json:"waiting_kind,omitempty"`
	ExpiresAt   string `json:"expires_at,omitempty"`
	CreatedAt   string `json:"created_at"`
	EndedAt     string `json:"ended_at,omitempty"`
}

// maxRowSummary is the greatest length of a summary in a list, in characters.
const maxRowSummary = 200

func newRunRow(r patterns.RunRow) runRow {
	return runRow{
		RunID: r.RunID, Pattern: r.Pattern, Parent: r.Parent, Status: r.Status, StopReason: sentence.Short(r.StopReason, maxRowSummary), Phase: r.Phase,
		Summary: sentence.AtMost(printable.Text(r.Summary), maxRowSummary), WaitingKind: r.WaitingKind, ExpiresAt: sentence.TimeIfSet(r.Expires),
		CreatedAt: sentence.TimeIfSet(r.Began), EndedAt: sentence.TimeIfSet(r.Ended),
	}
}

// line returns the run's line in the text channel.
func (r runRow) line() string {
	stands := r.Status
	for _, more := range []string{r.WaitingKind, r.StopReason} {
		if more != "" {
			stands += " " + more
		}
	}
	below := ""
	if r.Parent != "" {
		below = startedBy(r.Parent)
	}
	return fmt.Sprintf("%s | %s | %s | %s | %s%s\n", r.RunID, printable.Text(stands), sentence.Label(r.Pattern), r.CreatedAt, below, r.Summary)
}

// answerList answers list_runs.
func (s *toolSet) answerList(ctx context.Context, r *arguments.Request, _ *mcp.Meta) (*mcp.CallToolResult, error) {
	f := patterns.Filter{Principal: s.Host.Principal(ctx), Since: r.Since, Until: r.Until, Limit: r.Limit}
	for name, to := range map[string]*string{"status": &f.Status, "pattern": &f.Pattern, "stop_reason": &f.StopReason, "cursor": &f.Cursor} {
		*to, _ = r.Arguments[name].(string)
	}
	for {
		page, err := s.Engine.List(f)
		if errors.Is(err, patterns.ErrCursor) {
			r.Add(arguments.OutOfLimit, "cursor", f.Cursor, wantRunCursor)
			return s.refuseAbout(ctx, r.Call, r.Of(arguments.OutOfLimit))
		}
		if err != nil {
			return nil, err
		}
		structured, text, fits, err := s.listed(page, f, s.Host.SwitchedOff(ctx))
		if err != nil {
			return nil, err
		}
		if fits < len(page.Rows) && fits > 0 { // the cursor must lead to the runs that are not shown
			f.Limit = fits
			continue
		}
		if s.Host.ReadsStructured(ctx) {
			text = envelope.FirstLines(text)
		}
		return &mcp.CallToolResult{RawStructuredContent: structured, Content: []mcp.Content{mcp.NewTextContent(text)}}, nil
	}
}

// listed presents a page in both channels, with the tools that are switched off. It also returns how many rows fit in
// each channel, at least one.
func (s *toolSet) listed(page patterns.Page, f patterns.Filter, off string) (structured []byte, text string, fits int, err error) {
	rows, lines := []runRow{}, ""
	room := s.ResultBytes - envelope.PageFrame - len(page.Next)
	size := 0
	for _, row := range page.Rows {
		shown := newRunRow(row)
		members, err := envelope.AppendJSON(nil, shown)
		if err != nil {
			return nil, "", 0, err
		}
		if size += max(len(members)+1, len(shown.line())); size <= room {
			fits++
		}
		rows, lines = append(rows, shown), lines+shown.line()
	}
	e := envelope.Done(arguments.ListTool, sentence.WithLast(listSummary(len(rows), page.Next != "", f), off))
	body := listResult{e, rows, page.Next}
	if structured, err = envelope.AppendJSON(nil, body); err != nil {
		return nil, "", 0, err
	}
	dst := e.AppendText(nil)
	if len(rows) > 0 {
		dst = append(dst, runsHeading+lines...)
		dst = bytes.TrimSuffix(dst, []byte("\n"))
	}
	if page.Next != "" {
		dst = append(append(dst, "\nNEXT_CURSOR "...), page.Next...)
	}
	return structured, string(dst), max(fits, min(1, len(rows))), nil
}

// listResult is the result of list_runs.
type listResult struct {
	envelope.Envelope
	Runs       []runRow `json:"runs"`
	NextCursor string   `json:"next_cursor,omitempty"`
}

// listSummary says how many runs are shown.
func listSummary(n int, more bool, f patterns.Filter) string {
	filtered := f.Status != "" || f.Pattern != "" || f.StopReason != "" || !f.Since.IsZero() || !f.Until.IsZero()
	switch {
	case n == 0 && f.Cursor != "":
		return noMoreRuns
	case n == 0 && filtered:
		return noRunMatches
	case n == 0:
		return noRunYet
	case more:
		return newestFirstMore(n, "run")
	case f.Cursor != "":
		return newestFirstLast(n, "run")
	}
	return newestFirst(n, "run")
}
