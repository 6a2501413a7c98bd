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
		Long: "Deletes runs that ended at least this long ago. Of each a tombstone stays: its id, times, stop reason and the head of its\n" +
			"record, so that an export which was kept can still be verified against it. Deleted records cannot be brought back.\n" +
			"A rule that reads a window of earlier runs errs, and so blocks, while its window begins before the newest deleted run's end:\n" +
			"nobody knows any more what was done in it. Keep runs for as long as your longest window, 31 days at most.",
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
	cmd.Flags().StringVar(&older, "older-than", "", "how long ago a run ended: 90d, 2w, 36h")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be deleted")
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
