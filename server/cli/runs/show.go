package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
	"patterngate/server/cli/statefile"
)

func (a *Commands) runsShowCommand() *cobra.Command {
	receipt, step := false, ""
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show a run as a timeline, or as a receipt of one page",
		Long: "Shows what a run did, from its record: phases, calls and when each ran, retries, waits, who or what allowed " +
			"each call, and budgets.\n\n" +
			"Words of models, tools and people are shown as recorded, with control characters as \\uXXXX. Do not trust them. " +
			"To check that the record is complete, run \"patterngate runs verify\".",
		Example: "  patterngate runs show 5d0c\n" +
			"  patterngate runs show 5d0c --receipt\n" +
			"  patterngate runs show 5d0c --step 1",
		Args: console.One("runs show", "run", "patterngate runs list"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if receipt && step != "" {
				return console.Usage("runs show", errors.New("--receipt and --step show different things"), "one of them")
			}
			return a.WithRuns("runs show", func(runs statefile.Runs) error {
				_, events, kept, err := RecordOf("runs show", runs, args[0])
				if err != nil {
					return err
				}
				ring, err := runs.Keys()
				if err != nil {
					return console.Fault("runs show", err)
				}
				s := record.Read(events).Naming(ring)
				return a.show(s, record.Check(record.Evidence{RunID: s.RunID, Events: events, Length: kept, Ring: ring}), receipt, step)
			})
		},
	}
	cmd.Flags().BoolVar(&receipt, "receipt", false, "one page for people who do not know Patterngate: who asked, which rules judged, who approved, what was done")
	cmd.Flags().StringVar(&step, "step", "", "all of one call: its `NUMBER`, the id of its step or task, or its key")
	return cmd
}

// show prints a record. For a broken record it prints a warning to standard error and shows the readable part.
func (a *Commands) show(s record.Story, checked record.Report, receipt bool, step string) error {
	if checked.Broken != nil {
		_, _ = fmt.Fprintln(a.Err, "the record is broken: "+console.Clip(checked.Broken.Error(), console.MaxWidth)+". Do not trust what follows")
	}
	switch {
	case step != "":
		return a.showStep(s, step)
	case receipt && a.JSON:
		return a.PrintJSON(s.Receipt())
	case receipt:
		return a.Print(recordtext.Receipt(s.Calling(a.People).Receipt(), a.PageWidth()))
	case a.JSON:
		return a.PrintJSON(s)
	}
	if err := a.Print(recordtext.Timeline(s.Calling(a.People), a.PageWidth())); err != nil {
		return err
	}
	a.Next(console.AfterRun(s.RunID)...)
	return nil
}

// showStep prints all events of one call.
func (a *Commands) showStep(s record.Story, name string) error {
	step, ok := s.Step(name)
	if !ok {
		return console.Usage("runs show "+s.RunID, fmt.Errorf("no step %s", console.Quoted(name)), "patterngate runs show "+s.RunID)
	}
	if a.JSON {
		events := make([]json.RawMessage, len(step.Events))
		for i, e := range step.Events {
			events[i] = e.AppendLine(nil)
		}
		return a.PrintJSON(struct {
			Rows   []record.Row      `json:"rows"`
			Events []json.RawMessage `json:"events"`
		}{step.Rows, events})
	}
	var b strings.Builder
	for _, row := range step.Rows {
		fmt.Fprintf(&b, "%s  %s\n  started %s after the start of the run", console.Clip(row.Key, 2*console.MaxName), recordtext.RowWords(row), console.Took(row.After))
		if row.Took != nil {
			b.WriteString(", took " + console.Took(*row.Took))
		}
		b.WriteByte('\n')
	}
	for _, e := range step.Events {
		fmt.Fprintf(&b, "\n%s of %s (event %d)\n%s", console.Clip(string(e.Kind), console.MaxName), console.Clip(e.Key, 2*console.MaxName), e.Seq, console.IndentedJSON(e.Body))
	}
	return a.Print(b.String())
}
