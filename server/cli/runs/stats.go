package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
)

// statsBy lists the values of --by.
var statsBy = []string{"run", "pattern", "day", "model"}

func (a *Commands) runsStatsCommand() *cobra.Command {
	var by, since string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Sum up model calls, tokens and cost",
		Long: "Sums up the model calls, tokens and cost of all recorded runs by run, pattern, day (UTC) or model.\n\n" +
			"A child run counts by itself and not for its parent. Only models with a price have a cost. Pruned runs are not " +
			"included.",
		Example: "  patterngate runs stats --by model --since 30d\n  patterngate runs stats --by day --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !slices.Contains(statsBy, by) {
				return console.Usage("--by", errors.New("got "+console.Quoted(by)), "--by "+strings.Join(statsBy, ", "))
			}
			from, err := console.TimeFlag("--since", since, time.Now())
			if err != nil {
				return err
			}
			return a.WithRuns("runs stats", func(runs statefile.Runs) error { return a.runsStats(runs, by, from) })
		},
	}
	cmd.Flags().StringVar(&by, "by", "pattern", "one row for each `WHAT`: run, pattern, day or model")
	cmd.Flags().StringVar(&since, "since", "", "only runs that started at this `TIME` or later: a time, a day or an age (7d)")
	return cmd
}

// statsRow is a sum as --json shows it. One of the first four fields names it.
type statsRow struct {
	Run     string `json:"run_id,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	Day     string `json:"day,omitempty"`
	Model   string `json:"model,omitempty"`
	Runs    int    `json:"runs"`
	patterns.Usage

	newest time.Time
	counts map[string]bool // the runs in this row
}

func (r *statsRow) add(run string, p record.Paid) {
	r.Usage = r.Plus(p.Usage)
	if r.counts == nil {
		r.counts = map[string]bool{}
	}
	r.counts[run] = true
	r.Runs = len(r.counts)
	if p.At.After(r.newest) {
		r.newest = p.At
	}
}

// stats collects the sums of all runs.
type stats struct {
	by    string
	rows  map[string]*statsRow
	total statsRow
	quiet int // runs that asked no model
}

func (s *stats) run(row patterns.RunRow, all []record.Paid) {
	if len(all) == 0 {
		s.quiet++
	}
	for _, p := range all {
		key := map[string]string{
			"run": row.RunID, "pattern": row.Pattern, "day": p.At.Format(time.DateOnly), "model": cmp.Or(p.Model, "not known"),
		}[s.by]
		if s.rows[key] == nil {
			s.rows[key] = map[string]*statsRow{
				"run": {Run: key}, "pattern": {Pattern: key}, "day": {Day: key}, "model": {Model: key},
			}[s.by]
		}
		s.rows[key].add(row.RunID, p)
		s.total.add(row.RunID, p)
	}
}

// sorted returns the rows. Days and runs are sorted newest first, other rows by cost.
func (s *stats) sorted() []*statsRow {
	rows := []*statsRow{}
	for _, r := range s.rows {
		rows = append(rows, r)
	}
	timely := s.by == "run" || s.by == "day"
	slices.SortFunc(rows, func(a, b *statsRow) int {
		order := cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.Requests, a.Requests))
		if timely {
			order = b.newest.Compare(a.newest)
		}
		return cmp.Or(order, cmp.Compare(a.name(), b.name()))
	})
	return rows
}

func (r *statsRow) name() string { return cmp.Or(r.Run, r.Pattern, r.Day, r.Model) }

// runsStats reads all records since a time, page by page, and prints their sums.
func (a *Commands) runsStats(runs statefile.Reader, by string, since time.Time) error {
	const pageRows = 100
	s := stats{by: by, rows: map[string]*statsRow{}}
	for filter := (patterns.Filter{Since: since, Limit: pageRows}); ; {
		page, err := runs.List(filter)
		if err != nil {
			return console.Fault("runs stats", err)
		}
		for _, row := range page.Rows {
			events, _, err := runs.Record(row.RunID)
			switch {
			case errors.Is(err, patterns.ErrNoRun): // the run was pruned after the page was read
				continue
			case err != nil:
				return console.Fault("runs stats "+row.RunID, err)
			}
			s.run(row, record.PaidOf(events))
		}
		if filter.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	return a.showStats(s)
}

func (a *Commands) showStats(s stats) error {
	rows := s.sorted()
	text := s.text(rows)
	if a.JSON {
		var err error
		if text, err = console.JSONText(struct {
			By    string      `json:"by"`
			Rows  []*statsRow `json:"rows"`
			Total *statsRow   `json:"total"`
			Quiet int         `json:"runs_without_model"`
		}{s.by, rows, &s.total, s.quiet}); err != nil {
			return console.Fault("runs stats", err)
		}
	}
	_, err := io.WriteString(a.Out, text)
	return err
}

// text returns the rows as a table. It clips names, because outsiders can choose the names of patterns and models.
func (s *stats) text(rows []*statsRow) string {
	var b strings.Builder
	width := len(s.by)
	for _, r := range rows {
		width = max(width, len([]rune(console.Clip(r.name(), console.MaxName))))
	}
	line := func(name, runs, calls, in, out, cost string) {
		fmt.Fprintf(&b, "%-*s  %6s  %6s  %11s  %11s  %12s\n", width, name, runs, calls, in, out, cost)
	}
	line(strings.ToUpper(s.by), "RUNS", "CALLS", "TOKENS IN", "TOKENS OUT", "COST USD")
	for _, r := range append(rows, &s.total) {
		line(cmp.Or(console.Clip(r.name(), console.MaxName), "all"), strconv.Itoa(r.Runs), strconv.Itoa(r.Requests), strconv.Itoa(r.InputTokens), strconv.Itoa(r.OutputTokens), costText(r.CostUSD))
	}
	if s.quiet > 0 {
		fmt.Fprintf(&b, "%s asked no model.\n", console.Plural(int64(s.quiet), "run"))
	}
	return b.String()
}

// costText returns an amount in USD, or "-" if the cost is not known.
func costText(usd float64) string {
	if usd == 0 {
		return "-"
	}
	return strconv.FormatFloat(usd, 'f', 6, 64)
}
