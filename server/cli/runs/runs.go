package runs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
)

// The commands read recorded runs through the owner's view of the state file ([local.Operator]). Only resume continues
// runs when it opens the file.
//
//	RUN ──find──▶ id ──Record──▶ events ──record.Read──▶ Story ──▶ show, receipt
//	                                    └──────────────────────▶ trace, head, export, verify

// Commands are the commands about recorded runs.
type Commands struct {
	*console.Console
	*statefile.Opener
	*signing.Signer
	People    func(id string) string // names the user of an id; nil: ids only
	NoteOther func()                 // prints that another usual state file exists, if there is one
}

func (a *Commands) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List, show, verify and manage recorded runs",
		Long: "A run is one execution of a pattern. Runs are recorded in the state file (--state). RUN is the id of a run, or " +
			"its first 4 digits or more, with or without run_.\n\n" +
			"These commands show the runs of all principals: they are for the owner of the state file. Only \"resume\" " +
			"continues runs.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.runsListCommand(), a.runsShowCommand(), a.runsTraceCommand(), a.runsHeadCommand(), a.runsExportCommand(),
		a.runsVerifyCommand(), a.runsResumeCommand(), a.runsCancelCommand(), a.runsSettleCommand(), a.runsSeizeCommand(), a.runsPruneCommand(), a.runsStatsCommand())
	Complete(a.Opener, cmd)
	return cmd
}

// idBeginning matches a run's id or the beginning of one.
var idBeginning = regexp.MustCompile(`^(run_)?[0-9a-f]{4,16}$`)

// find returns the id of the run that the typed text names.
func find(what string, runs statefile.Reader, beginning string) (string, error) {
	if !idBeginning.MatchString(beginning) {
		return "", console.Usage(what, fmt.Errorf("%s is not the id of a run, nor its first 4 digits or more", console.Quoted(beginning)), "patterngate runs list")
	}
	id, err := runs.Find(beginning)
	many, _ := errors.AsType[*local.AmbiguousError](err)
	switch {
	case err == nil:
		return id, nil
	case many != nil:
		return "", console.Usage(what, fmt.Errorf("%d runs begin with %s: %s", len(many.IDs), beginning, console.FirstFew(many.IDs)), "type more digits")
	case errors.Is(err, patterns.ErrNoRun):
		return "", console.Usage(what, fmt.Errorf("no run %s is recorded here", beginning), pruned(runs, beginning))
	}
	return "", console.Fault(what, err)
}

// pruned returns advice for a run that was not found. If its tombstone exists, the advice says so.
func pruned(runs statefile.Reader, beginning string) string {
	if keeper, ok := runs.(statefile.Keeper); ok {
		stones, err := keeper.Tombstones()
		for _, t := range stones {
			if err == nil && strings.HasPrefix(strings.TrimPrefix(t.RunID, "run_"), strings.TrimPrefix(beginning, "run_")) {
				return "it was pruned; of its record only " + headText(t.Head) + " is left"
			}
		}
	}
	return "patterngate runs list"
}

// headText returns a head in the form that verify reads: N:HASH.
func headText(h patterns.Head) string {
	return strings.Replace(h.String(), " sha256:", ":", 1)
}

// RecordOf returns the record of a run and the stored length of the record.
func RecordOf(what string, runs statefile.Reader, beginning string) (id string, events []patterns.Event, kept int64, err error) {
	if id, err = find(what, runs, beginning); err != nil {
		return "", nil, 0, err
	}
	events, kept, err = runs.Record(id)
	if err != nil {
		return "", nil, 0, console.Fault(what+" "+id, err)
	}
	return id, events, kept, nil
}
