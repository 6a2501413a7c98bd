package runs

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
)

// maxCompleted is how many runs a completion offers, and completedPages how many pages of runs it looks at for them.
const (
	maxCompleted   = 100
	completedPages = 10
)

// Complete has the commands below one whose first argument is a run complete it: with all runs, or with those that the
// command can act on.
func Complete(open *statefile.Opener, parent *cobra.Command) {
	live := []string{"running", "waiting"}
	statuses := map[string][]string{"cancel": live, "seize": live, "take-over": live, "resume": live, "settle": {"waiting"}}
	for _, cmd := range parent.Commands() {
		words := strings.Fields(cmd.Use)
		if len(words) < 2 || cmd.ValidArgsFunction != nil {
			continue
		}
		switch argument := strings.Trim(words[1], "[]"); argument {
		case "RUN":
			cmd.ValidArgsFunction = completeRuns(open, statuses[cmd.Name()]...)
		case "RUN|FILE":
			cmd.ValidArgsFunction = orFile(completeRuns(open))
		}
	}
}

// completeRuns offers the ids of recorded runs, newest first: those of the statuses, or all. It takes what is typed of an id
// with or without run_, as the commands do.
func completeRuns(open *statefile.Opener, statuses ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_ = open.WithRuns("completion", func(runs statefile.Runs) error { // a state that cannot be read offers nothing
			filter := patterns.Filter{Limit: statefile.MostListed}
			for range completedPages {
				page, err := runs.List(filter)
				if err != nil {
					return err
				}
				for _, row := range page.Rows {
					if id := idFor(row.RunID, begun); id != "" && (len(statuses) == 0 || slices.Contains(statuses, row.Status)) {
						ids = append(ids, cobra.CompletionWithDesc(id, console.Clip(row.Pattern, console.MaxName)+" "+console.Clip(row.Status, console.MaxName)))
					}
				}
				if filter.Cursor = page.Next; page.Next == "" || len(ids) >= maxCompleted {
					break
				}
			}
			return nil
		})
		return ids[:min(len(ids), maxCompleted)], cobra.ShellCompDirectiveNoFileComp
	}
}

// idFor is a run's id as what is typed begins it; "" where it does not.
func idFor(id, begun string) string {
	for _, form := range []string{id, strings.TrimPrefix(id, "run_")} {
		if strings.HasPrefix(form, begun) {
			return form
		}
	}
	return ""
}

// orFile lets a shell complete the names of files beside what is offered.
func orFile(offer cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ids, _ := offer(cmd, args, begun)
		return ids, cobra.ShellCompDirectiveDefault
	}
}
