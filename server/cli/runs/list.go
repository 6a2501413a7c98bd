package runs

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
	"patterngate/server/cli/statefile"
)

// listFlags holds the filters and the paging of list, as typed.
type listFlags struct {
	status, pattern, stopReason, principal string
	since, until, cursor                   string
	limit                                  int
}

func (a *Commands) runsListCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Long: "Lists the runs of all principals, newest first, page by page.\n\n" +
			"TIME is a time such as 2026-11-21T09:30:00Z, a day such as 2026-11-21 (UTC), or an age: 90m, 24h, 7d.",
		Example: "  patterngate runs list --status waiting\n  patterngate runs list --since 7d --stop-reason in_doubt",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			filter, err := f.filter(time.Now())
			if err != nil {
				return err
			}
			return a.WithRuns("runs list", func(runs statefile.Runs) error { return a.listRuns(runs, filter) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.status, "status", "", "only runs with this `STATUS`: running, waiting, ok or stopped")
	flags.StringVar(&f.pattern, "pattern", "", "only runs of this `TOOL`")
	flags.StringVar(&f.stopReason, "stop-reason", "", "only runs with this stop `REASON`, or this family of reasons")
	flags.StringVar(&f.principal, "principal", "", "only runs that `WHO` started, such as local:1000")
	flags.StringVar(&f.since, "since", "", "only runs that started at this `TIME` or later")
	flags.StringVar(&f.until, "until", "", "only runs that started before this `TIME`")
	flags.StringVar(&f.cursor, "cursor", "", "show the page after this `CURSOR`, which the previous page printed")
	flags.IntVar(&f.limit, "limit", 20, "rows of a page, at most 100")
	return cmd
}

// filter checks and reads the flags.
func (f listFlags) filter(now time.Time) (patterns.Filter, error) {
	const most = 100
	statuses := []string{"running", "waiting", "ok", "stopped"}
	switch {
	case strings.ReplaceAll(f.status, "_", " ") == noResult:
		return patterns.Filter{}, console.Usage("--status", errors.New(noResultIsOK), "--status ok")
	case f.status != "" && !slices.Contains(statuses, f.status):
		return patterns.Filter{}, console.Usage("--status", errors.New("got "+console.Quoted(f.status)), "--status "+strings.Join(statuses, ", "))
	case f.limit < 1 || f.limit > most:
		return patterns.Filter{}, console.Usage("--limit", fmt.Errorf("got %d", f.limit), fmt.Sprintf("--limit 1 to %d", most))
	}
	since, err := console.TimeFlag("--since", f.since, now)
	if err != nil {
		return patterns.Filter{}, err
	}
	until, err := console.TimeFlag("--until", f.until, now)
	if err != nil {
		return patterns.Filter{}, err
	}
	return patterns.Filter{
		Principal: f.principal, Status: f.status, Pattern: f.pattern, StopReason: f.stopReason, Since: since, Until: until, Limit: f.limit, Cursor: f.cursor,
	}, nil
}

// runRow is a row of a list as --json shows it.
type runRow struct {
	RunID      string `json:"run_id"`
	Pattern    string `json:"pattern"`
	Parent     string `json:"parent_run_id,omitempty"` // the run whose call began this one
	Principal  string `json:"principal"`
	Status     string `json:"status"`
	StopReason string `json:"stop_reason,omitempty"`
	Phase      string `json:"phase,omitempty"`
	Summary    string `json:"summary,omitempty"`
	Waiting    string `json:"waiting_kind,omitempty"`
	Expires    string `json:"expires_at,omitempty"`
	Created    string `json:"created_at"`
	Ended      string `json:"ended_at,omitempty"`
	Owner      string `json:"owner,omitempty"`
}

func (a *Commands) listRuns(runs statefile.Reader, filter patterns.Filter) error {
	page, err := runs.List(filter)
	switch {
	case errors.Is(err, patterns.ErrCursor):
		return console.Usage("--cursor", errors.New("the cursor does not belong to this list"), "use the same filters as for the page that printed it")
	case err != nil:
		return console.Fault("runs list", err)
	}
	if len(page.Rows) == 0 {
		a.NoteOther()
	}
	if a.JSON {
		rows := []runRow{}
		for _, r := range page.Rows {
			rows = append(rows, rowOf(r))
		}
		text, err := console.JSONText(struct {
			Runs []runRow `json:"runs"`
			Next string   `json:"next_cursor,omitempty"`
		}{rows, page.Next})
		if err != nil {
			return console.Fault("runs list", err)
		}
		_, err = io.WriteString(a.Out, text)
		return err
	}
	if _, err = io.WriteString(a.Out, listText(listedOf(runs, page.Rows), a.TableWidth())); err != nil {
		return err
	}
	if page.Next != "" {
		_, _ = fmt.Fprintln(a.Err, moreRuns(console.Clip(page.Next, 4*console.MaxName)))
	}
	if len(page.Rows) > 0 {
		a.Next(console.AfterRuns(page.Rows[0].RunID)...)
	}
	return nil
}

func rowOf(r patterns.RunRow) runRow {
	text := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return runRow{r.RunID, r.Pattern, r.Parent, r.Principal, r.Status, r.StopReason, r.Phase, r.Summary, r.WaitingKind, text(r.Expires), text(r.Began), text(r.Ended), r.Owner}
}

// listed is a row of the table: a run, and what its record says beyond the row.
type listed struct {
	patterns.RunRow
	state   string // the column STATUS
	decided string // of a run that waits for a decision that was already made: approved, edited or rejected
}

// decisions returns the decision that a waiting run has not taken yet; "" for none.
type decisions interface {
	Decided(run string) gateway.Choice
}

// listedOf reads more about the runs whose row does not say enough for people: those that ended well, because their calls may have
// returned no result, and those that wait for a decision, because it may be there already.
func listedOf(runs statefile.Reader, rows []patterns.RunRow) []listed {
	list := make([]listed, len(rows))
	for i, r := range rows {
		list[i] = listed{RunRow: r, state: console.Clip(r.Status, 8)}
		if answers, ok := runs.(decisions); ok && r.WaitingKind == string(patterns.ForApproval) {
			list[i].decided = recordtext.DecisionWord(string(answers.Decided(r.RunID)))
		}
		if r.Status != "ok" {
			continue
		}
		events, _, err := runs.Record(r.RunID)
		if err == nil && record.Read(events).Answered == gateway.AnsweredNo {
			list[i].state = noResult
		}
	}
	return list
}

// listText returns a page as a table with one line for each run. Lines are cut to the width, and the columns with names
// from outside are last.
func listText(rows []listed, width int) string {
	if len(rows) == 0 {
		return "no runs\n"
	}
	var b strings.Builder
	widest := 8
	for _, r := range rows {
		widest = max(widest, len(r.state))
	}
	line := func(id, began, status, pattern, why string) {
		left := fmt.Sprintf("%-20s  %-20s  %-*s  %-22s  ", id, began, widest, status, pattern)
		switch { // narrow tables drop the seconds and cut long names first
		case width < 100:
			left = fmt.Sprintf("%-20s  %-16s  %-*s  %-14s  ", id, console.FirstRunes(began, 16), widest, status, console.FirstRunes(pattern, 14))
		case width < 120:
			left = fmt.Sprintf("%-20s  %-16s  %-*s  %-22s  ", id, console.FirstRunes(began, 16), widest, status, pattern)
		}
		b.WriteString(strings.TrimRight(left+reasonIn(why, max(10, width-len(left))), " ") + "\n")
	}
	line("RUN", "BEGAN", "STATUS", "PATTERN", "WHY")
	for _, r := range rows {
		line(console.Clip(r.RunID, 20), r.Began.UTC().Format(time.RFC3339), r.state, console.Cell(r.Pattern, 22, width), whyOf(r))
	}
	return b.String()
}

// reasonIn returns a reason in at most most characters. It cuts a long one after a word: the summary of the run has the rest.
func reasonIn(why string, most int) string {
	short := console.Clip(why, most)
	cut, isCut := strings.CutSuffix(short, "...")
	if !isCut || printable.Text(why) == short {
		return short
	}
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)/2 {
		cut = strings.TrimRight(cut[:at], " .,;:")
	}
	return cut + "..."
}

// whyOf describes the state of a run in a few words.
func whyOf(r listed) string {
	if r.Parent != "" {
		own := r
		own.Parent = ""
		if r.StopReason != "" && r.Status != "ok" { // the reason comes first, because the rest can be cut
			return whyOf(own) + " Started by " + r.Parent + "."
		}
		return "started by " + r.Parent + ". " + whyOf(own)
	}
	switch {
	case r.decided != "":
		return decidedContinue(r.decided, r.RunID)
	case r.WaitingKind != "":
		text := "for " + map[string]string{"caller": "its caller", "approval": "a person's decision", "settlement": "a person to settle a call", "retry": "a tool, a model or a secret that it needs"}[r.WaitingKind]
		if !r.Expires.IsZero() {
			text += " until " + r.Expires.UTC().Format(time.RFC3339)
		}
		return text + ". " + r.Summary
	case r.Status == "ok":
		return r.Summary
	case r.StopReason != "":
		return r.StopReason + ". " + r.Summary
	case r.Owner != "":
		return "by process " + r.Owner + ". " + r.Summary
	}
	return r.Summary
}
