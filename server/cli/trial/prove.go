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
		Short:   proveShort,
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
	cmd.Flags().BoolVar(&quick, "quick", false, quickFlag)
	cmd.Flags().Uint64Var(&seed, "seed", 0, seedFlag)
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
		return noDirectory("prove", err)
	}
	defer func() { err = errors.Join(err, p.close()) }()
	began := time.Now()
	all := proof{Seed: seed}
	a.say(proveHead, columns()...)
	var working *console.Spinner
	begin := func(row string) { working = a.Spin(doingRow(row)) }
	err = p.prove(ctx, size, seed, begin, func(r provedRow) {
		working.Stop()
		all.add(r)
		a.printProved(r)
	})
	working.Stop()
	if err != nil {
		return console.Fault("prove", err)
	}
	all.Seconds = float64(time.Since(began).Milliseconds()) / 1000
	if a.JSON {
		err = console.WriteJSON(a.Out, all)
	} else {
		_, err = fmt.Fprint(a.Out, "\n"+proved(all))
	}
	if err == nil && !all.good() {
		return console.ExitCode(console.ExitFault)
	}
	return err
}

// prove runs all trials, row by row. It calls begin before each row, and done after it.
func (p *prover) prove(ctx context.Context, size proveSize, seed uint64, begin func(row string), done func(provedRow)) error {
	chance := rand.New(rand.NewPCG(seed, 0))
	try := func(name string, row func() (provedRow, error)) error {
		begin(name)
		r, err := row()
		if err == nil {
			done(r)
		}
		return err
	}
	for _, run := range provedRuns() {
		err := try(run.Name, func() (provedRow, error) { return p.everywhere(ctx, run, 1+chance.Int64N(size.apart), size.apart) })
		if err != nil {
			return err
		}
	}
	if err := try(rowAgain, func() (provedRow, error) { return p.again(ctx, size.again, chance) }); err != nil {
		return err
	}
	for size.crowd.processes = 2; size.crowd.processes <= 3; size.crowd.processes++ {
		err := try(rowCrowd(size.crowd.processes), func() (provedRow, error) { return p.crowds(ctx, size.crowds, size.crowd, chance) })
		if err != nil {
			return err
		}
	}
	return nil
}

// printProved prints a row. Faults go to standard error, with the command to try again.
func (a *Commands) printProved(r provedRow) {
	boundaries := "-"
	if r.Boundaries > 0 {
		boundaries = fmt.Sprint(r.Boundaries)
	}
	mark := a.Paint(console.Green, outOf(r.Equal, r.Trials))
	if !r.good() {
		mark = a.Paint(console.Red, outOf(r.Equal, r.Trials))
	}
	a.say(proveRow, r.Pattern, boundaries, r.Kills, r.Lost, r.Twice, mark)
	for _, f := range r.Faults {
		_, _ = fmt.Fprintln(a.Err, printable.Text(f)) // the row shows that there are faults
	}
}

// say prints a text for people, not with --json.
func (a *Commands) say(format string, args ...any) {
	if !a.JSON {
		_, _ = fmt.Fprintf(a.Out, format, args...) // the last line shows whether it was written
	}
}
