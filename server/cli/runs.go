package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
)

// The commands over recorded runs stand on the owner's view of the state file ([local.Operator]). They open the state
// without carrying on anything in it; only resume does.
//
//	RUN ──find──▶ id ──Record──▶ events ──record.Read──▶ Story ──▶ show, receipt
//	                                    └──────────────────────▶ trace, head, export, verify

// recordReader is what commands read runs from.
type recordReader interface {
	Find(beginning string) (string, error)
	Run(id string) (patterns.Snapshot, bool)
	Record(id string) (events []patterns.Event, kept int64, err error)
	Kept(id string) (events []patterns.Event, kept patterns.Kept, err error)
	List(f patterns.Filter) (patterns.Page, error)
}

// runDecider is what commands decide on.
type runDecider interface {
	Cancel(ctx context.Context, id string, by patterns.Note) (patterns.Snapshot, error)
	Settle(id, effect string, s local.Settlement) error
	Seize(id string, by patterns.Note, act gateway.SignedAct) error
	Resume(ctx context.Context, id string) ([]patterns.Snapshot, error)
}

// recordKeeper is what commands check the whole file by, and delete runs from.
type recordKeeper interface {
	Audit() ([]local.Damage, error)
	Prune(before time.Time, dry bool) ([]local.Tombstone, error)
	Tombstones() ([]local.Tombstone, error)
}

// operator is the owner's view of recorded runs.
type operator interface {
	recordReader
	runDecider
	recordKeeper
	configShelf
	keyHolder
	switchBoard
}

// switchBoard is where kill switches are turned, and programs that serve are asked to reload.
type switchBoard interface {
	patterns.Switches
	Reload(ctx context.Context, r local.ReloadRequest) ([]local.ReloadAnswer, error)
}

// stateRuns is an engine's state for commands.
type stateRuns struct {
	local.Operator
	configShelf
	stateKeys
}

// stateKeys are the approver keys of a state file.
type stateKeys struct {
	approvals patterns.Approvals
	dir       string
}

// Keys are the enrolled ones.
func (k stateKeys) Keys() (gateway.Ring, error) { return k.approvals.Keys() }

// KeyDir is where the files of those are that sign here: beside the state file.
func (k stateKeys) KeyDir() string { return k.dir }

var _ operator = stateRuns{}

func (a *app) runsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Look at recorded runs, check their records, decide what becomes of them",
		Long: "Runs are recorded in the state file (--state). Every command takes a run's id or an unambiguous beginning of it, of 4\n" +
			"digits or more, with or without run_. The commands see the runs of all principals: they are for the owner of the file.\n" +
			"They carry on no run, but for resume.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.runsListCommand(), a.runsShowCommand(), a.runsTraceCommand(), a.runsHeadCommand(), a.runsExportCommand(),
		a.runsVerifyCommand(), a.runsResumeCommand(), a.runsCancelCommand(), a.runsSettleCommand(), a.runsSeizeCommand(), a.runsPruneCommand(), a.runsStatsCommand())
	a.completeRunsOf(cmd)
	return cmd
}

// withRuns opens the state for a command that reads it or decides in it, and closes it after.
func (a *app) withRuns(what string, do func(operator) error) error {
	return a.withRunsBy(a.openState, what, do)
}

func (a *app) withRunsBy(open func() (operator, func(), error), what string, do func(operator) error) error {
	if a.opens != nil {
		open = a.opens
	}
	runs, done, err := open()
	if err != nil {
		return console.Wrap(what, err)
	}
	defer done()
	return a.missed(do(runs))
}

// openState opens the state file that the configuration names. One that is not there yet is not made: nothing is in it.
func (a *app) openState() (operator, func(), error) {
	c, err := a.loadState()
	if err != nil {
		return nil, nil, err
	}
	engine, err := a.engineOver(c)
	if err != nil {
		return nil, nil, err
	}
	return stateOf(c.Config, engine), engine.Close, nil
}

// withState gives the owner's view of the state file that a configuration names, making the file where there is none yet.
func (a *app) withState(what string, c Loaded, do func(operator) error) error {
	if a.opens != nil {
		return a.withRuns(what, do)
	}
	if c.State == memoryState {
		return console.Usage(what, errors.New("the state is "+memoryState+": it is in the process that serves, and nowhere else"), "--state FILE")
	}
	if err := readyState(c.State, a.Environ); err != nil {
		return console.Wrap(what, err)
	}
	engine, err := a.engineOver(c)
	if err != nil {
		return console.Wrap(what, err)
	}
	defer engine.Close()
	return do(stateOf(c.Config, engine))
}

// openEngine opens the engine over the state file, without having it carry on anything.
func (a *app) openEngine() (*local.Engine, error) {
	c, err := a.loadState()
	if err != nil {
		return nil, err
	}
	return a.engineOver(c)
}

// engineOver opens the engine over the state file of a configuration. It makes of runs what a server over that file does.
func (a *app) engineOver(c Loaded) (*local.Engine, error) {
	d, err := declare(c, a.Environ)
	if err != nil {
		return nil, console.Fault("config", err)
	}
	from := &source{environ: a.Environ, pool: c.pool}
	engine, err := local.Open(local.Options{Path: c.State, Source: from, Redact: c.hides()})
	if err != nil {
		return nil, unopened(c.State, err)
	}
	if _, d, err = c.counting(d, engine, a.Environ); err != nil {
		engine.Close()
		return nil, console.Fault("config", err)
	}
	from.serve(d, engine)
	engine.Catalog = d.tools
	return engine, nil
}

// openService opens the state as a server does, for who carries on runs.
func (a *app) openService() (operator, func(), error) {
	loaded, err := a.load() // whole: what goes on is judged by it
	if err != nil {
		return nil, nil, err
	}
	c, err := a.existingState(loaded)
	if err != nil {
		return nil, nil, err
	}
	s, err := a.service("runs resume", c, a.logger(c.Log.quiet(), a.Err))
	if err != nil {
		return nil, nil, err
	}
	return stateOf(c.Config, s.engine), func() { s.leave(c.Limits.Grace); s.close() }, nil
}

func stateOf(c Config, engine *local.Engine) stateRuns {
	return stateRuns{engine.Operator(), engine, stateKeys{engine.Approvals(), filepath.Dir(c.State)}}
}

// loadState returns the configuration with a state file that exists and that no other user can write. Commands that look at recorded
// runs and decide about them need no more than that file, so a configuration with faults does not stop them.
func (a *app) loadState() (Loaded, error) {
	c, err := a.recordConfig("state")
	if err != nil {
		return Loaded{}, err
	}
	return a.existingState(c)
}

// existingState is a configuration whose state file is there and safe.
func (a *app) existingState(c Loaded) (Loaded, error) {
	path := c.State
	if path == memoryState {
		return Loaded{}, console.Usage("state", errors.New("it is "+memoryState+": runs are in the process that serves them, and nowhere else"), "--state FILE")
	}
	if path != "" {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return Loaded{}, a.noState(path)
		}
	}
	return c, readyState(path, a.Environ)
}

// idBeginning is what may be meant as a run.
var idBeginning = regexp.MustCompile(`^(run_)?[0-9a-f]{4,16}$`)

// find is the run that was meant.
func find(what string, runs recordReader, beginning string) (string, error) {
	if !idBeginning.MatchString(beginning) {
		return "", console.Usage(what, fmt.Errorf("%s is no run's id, nor 4 digits or more of its beginning", console.Quoted(beginning)), "patterngate runs list")
	}
	id, err := runs.Find(beginning)
	many, _ := errors.AsType[*local.AmbiguousError](err)
	switch {
	case err == nil:
		return id, nil
	case many != nil:
		return "", console.Usage(what, fmt.Errorf("%d runs begin with %s: %s", len(many.IDs), beginning, console.FirstFew(many.IDs)), "more digits")
	case errors.Is(err, patterns.ErrNoRun):
		return "", console.Usage(what, fmt.Errorf("no run %s is recorded here", beginning), pruned(runs, beginning))
	}
	return "", console.Fault(what, err)
}

// pruned says what to try for a run that is not there: its tombstone may be.
func pruned(runs recordReader, beginning string) string {
	if keeper, ok := runs.(recordKeeper); ok {
		stones, err := keeper.Tombstones()
		for _, t := range stones {
			if err == nil && strings.HasPrefix(strings.TrimPrefix(t.RunID, "run_"), strings.TrimPrefix(beginning, "run_")) {
				return "nothing: it was pruned; of its record " + headText(t.Head) + " is left"
			}
		}
	}
	return "patterngate runs list"
}

// headText is a head as verify takes it: N:HASH.
func headText(h patterns.Head) string {
	return strings.Replace(h.String(), " sha256:", ":", 1)
}

// recordOf is the record of a run, and the length that was kept of it.
func recordOf(what string, runs recordReader, beginning string) (id string, events []patterns.Event, kept int64, err error) {
	if id, err = find(what, runs, beginning); err != nil {
		return "", nil, 0, err
	}
	events, kept, err = runs.Record(id)
	if err != nil {
		return "", nil, 0, console.Fault(what+" "+id, err)
	}
	return id, events, kept, nil
}
