package runs

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
)

// maxCompleted is how many runs a completion offers. completedPages is how many pages of runs it reads for that.
const (
	maxCompleted   = 100
	completedPages = 10
)

// Complete adds shell completion of runs to the subcommands of parent whose first argument is a run. settle offers
// waiting runs. cancel, seize, take-over and resume offer running and waiting runs. The others offer all runs.
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

// completeRuns offers the ids of recorded runs, newest first. Without statuses it offers all runs. The typed beginning
// can have run_ or not, as in the commands.
func completeRuns(open *statefile.Opener, statuses ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_ = open.WithRuns("completion", func(runs statefile.Runs) error { // an unreadable state file offers nothing
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

// idFor returns a run's id in the form that begins with the typed text, or "" if neither form does.
func idFor(id, begun string) string {
	for _, form := range []string{id, strings.TrimPrefix(id, "run_")} {
		if strings.HasPrefix(form, begun) {
			return form
		}
	}
	return ""
}

// orFile adds the names of files to a completion.
func orFile(offer cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ids, _ := offer(cmd, args, begun)
		return ids, cobra.ShellCompDirectiveDefault
	}
}
