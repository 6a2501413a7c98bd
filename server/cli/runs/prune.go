package runs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
)

// stone is a tombstone as --json shows it (spec/surface.md section 7).
type stone struct {
	RunID      string `json:"run_id"`
	Pattern    string `json:"pattern"`
	Created    string `json:"created_at"`
	Ended      string `json:"ended_at"`
	StopReason string `json:"stop_reason"`
	Events     int64  `json:"events"`
	Head       string `json:"head"`
}

func (a *Commands) runsPruneCommand() *cobra.Command {
	older, dry := "", false
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Delete the records of runs that ended long ago",
		Long: "Deletes runs that ended at least AGE ago. You cannot get them back. Of each run, its id, times, stop reason and " +
			"the head of the record stay, so that an export can still be verified.\n\n" +
			"Some rules look back at earlier runs. Such a rule fails, and so blocks, while its time window includes a " +
			"deleted run. Keep runs for at least your longest window, which is 31 days at most.",
		Example: "  patterngate runs prune --older-than 90d --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			age, err := console.Age(older)
			if err != nil || older == "" {
				return console.Usage("--older-than", errors.New("got "+console.Quoted(older)), "--older-than 90d, 2w or 36h")
			}
			return a.WithRuns("runs prune", func(runs statefile.Runs) error { return a.prune(runs, time.Now().Add(-age), dry) })
		},
	}
	cmd.Flags().StringVar(&older, "older-than", "", "`AGE`: how long ago a run ended, such as 90d, 2w or 36h")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list the runs")
	return cmd
}

func (a *Commands) prune(runs statefile.Keeper, before time.Time, dry bool) error {
	list, err := runs.Prune(before, dry)
	if err != nil {
		return console.Fault("runs prune", err)
	}
	if a.JSON {
		rows := make([]stone, len(list))
		for i, t := range list {
			rows[i] = stoneOf(t)
		}
		return a.PrintJSON(struct {
			Pruned []stone `json:"pruned"`
			DryRun bool    `json:"dry_run,omitempty"`
		}{rows, dry})
	}
	var b strings.Builder
	for _, t := range list {
		s := stoneOf(t)
		fmt.Fprintf(&b, "%s  %s  %s  %s\n", s.RunID, s.Ended, console.Clip(s.Pattern, console.MaxName), console.Clip(s.StopReason, console.MaxName))
	}
	word := "deleted"
	if dry {
		word = "to delete"
	}
	fmt.Fprintf(&b, "%s %s\n", console.Plural(int64(len(list)), "run"), word)
	return a.Print(b.String())
}

func stoneOf(t local.Tombstone) stone {
	_, hash, _ := strings.Cut(t.Head.String(), " ")
	return stone{t.RunID, t.Pattern, t.Began.UTC().Format(time.RFC3339), t.Ended.UTC().Format(time.RFC3339), t.StopReason, t.Head.Events, hash}
}
