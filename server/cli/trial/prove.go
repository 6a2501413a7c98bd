package trial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
)

const proveHelp = `Kills this program while it carries out the demo's runs, restarts it and counts what really happened: nothing may be
lost, nothing done twice, and each run has to end as if nobody had killed it. The make-believe payments and mails happen
in a ledger, a process of its own that is not killed. Nothing leaves this machine, and your own state is not touched.

Each pattern is killed at every boundary of its journal: before and after each commit, before a tool or model is
called, and after it answered. "settled" is a refund in a world that pays again when it is asked again: a call in doubt
is settled as a person would, by looking into the books; "looked up" is one whose tool can be asked. Then several lives
of one run are killed by chance, and two and three processes that share one file are killed, stopped and continued by
chance.

--seed N repeats what chance chose; the timing of processes is never the same twice. It ends with 1 where something was
lost, done twice or ended otherwise.`

// proveSize says how many trials there are.
type proveSize struct {
	apart  int64 // distance between kills in boundaries; 1: every boundary
	again  int   // runs that are killed several times
	crowds int   // number of crowds
	crowd  crowdSize
}

var (
	quickProof = proveSize{apart: 7, again: 6, crowds: 1, crowd: crowdSize{runs: 6, blows: 6}}
	fullProof  = proveSize{apart: 1, again: 60, crowds: 6, crowd: crowdSize{runs: 16, blows: 24}}
)

// Prove returns the command "prove".
func (a *Commands) Prove() *cobra.Command {
	var quick bool
	var seed uint64
	cmd := &cobra.Command{
		Use:     "prove",
		Short:   "Kill the demo at every boundary and count what happened",
		Long:    proveHelp,
		Example: "  patterngate prove --quick\n  patterngate prove --seed 7 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			size := fullProof
			if quick {
				size = quickProof
			}
			if !cmd.Flags().Changed("seed") {
				seed = rand.Uint64N(1_000_000)
			}
			return a.prove(cmd.Context(), size, seed)
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "only some of the boundaries, a few seconds")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "what chance begins with (else another one each time, which is printed)")
	return cmd
}

// proof is the result of all trials.
type proof struct {
	Seed    uint64      `json:"seed"`
	Rows    []provedRow `json:"rows"`
	Kills   int         `json:"kills"`
	Stops   int         `json:"stops"`
	Lost    int         `json:"lost"`
	Twice   int         `json:"twice"`
	Unequal int         `json:"unequal"`
	Seconds float64     `json:"seconds"`
}

func (p *proof) add(r provedRow) {
	p.Rows = append(p.Rows, r)
	p.Kills, p.Stops = p.Kills+r.Kills, p.Stops+r.Stops
	p.Lost, p.Twice, p.Unequal = p.Lost+r.Lost, p.Twice+r.Twice, p.Unequal+r.Trials-r.Equal
}

func (p *proof) good() bool { return p.Lost == 0 && p.Twice == 0 && p.Unequal == 0 }

// prove runs all trials and prints the matrix.
func (a *Commands) prove(ctx context.Context, size proveSize, seed uint64) (err error) {
	p, err := a.newProver()
	if err != nil {
		return &console.Error{Code: console.ExitFault, What: "prove", Cause: err, Try: "set TMPDIR to a directory that you may write to"}
	}
	defer func() { err = errors.Join(err, p.close()) }()
	began := time.Now()
	all := proof{Seed: seed}
	a.proved("%-22s %10s %6s %5s %6s %8s\n", "pattern", "boundaries", "kills", "lost", "twice", "equal")
	err = p.prove(ctx, size, seed, func(r provedRow) {
		all.add(r)
		a.printProved(r)
	})
	if err != nil {
		return console.Fault("prove", err)
	}
	all.Seconds = float64(time.Since(began).Milliseconds()) / 1000
	if a.JSON {
		err = console.WriteJSON(a.Out, all)
	} else {
		_, err = fmt.Fprintf(a.Out, "\n%d kills and %d stops: %d lost, %d twice, %d not equal; %.1f s, seed %d\n",
			all.Kills, all.Stops, all.Lost, all.Twice, all.Unequal, all.Seconds, seed)
	}
	if err == nil && !all.good() {
		return console.ExitCode(console.ExitFault)
	}
	return err
}

// prove runs all trials, row by row.
func (p *prover) prove(ctx context.Context, size proveSize, seed uint64, done func(provedRow)) error {
	chance := rand.New(rand.NewPCG(seed, 0))
	for _, run := range provedRuns() {
		row, err := p.everywhere(ctx, run, 1+chance.Int64N(size.apart), size.apart)
		if err != nil {
			return err
		}
		done(row)
	}
	row, err := p.again(ctx, size.again, chance)
	if err != nil {
		return err
	}
	done(row)
	for size.crowd.processes = 2; size.crowd.processes <= 3; size.crowd.processes++ {
		row, err := p.crowds(ctx, size.crowds, size.crowd, chance)
		if err != nil {
			return err
		}
		done(row)
	}
	return nil
}

// printProved prints a row. Faults go to standard error, with the command to try again.
func (a *Commands) printProved(r provedRow) {
	boundaries := "-"
	if r.Boundaries > 0 {
		boundaries = fmt.Sprint(r.Boundaries)
	}
	mark := a.Paint(console.Green, fmt.Sprintf("%d of %d", r.Equal, r.Trials))
	if !r.good() {
		mark = a.Paint(console.Red, fmt.Sprintf("%d of %d", r.Equal, r.Trials))
	}
	a.proved("%-22s %10s %6d %5d %6d %8s\n", r.Pattern, boundaries, r.Kills, r.Lost, r.Twice, mark)
	for _, f := range r.Faults {
		_, _ = fmt.Fprintln(a.Err, printable.Text(f)) // the row shows that there are faults
	}
}

// proved prints a text for people, not with --json.
func (a *Commands) proved(format string, args ...any) {
	if !a.JSON {
		_, _ = fmt.Fprintf(a.Out, format, args...) // the last line shows whether it was written
	}
}
