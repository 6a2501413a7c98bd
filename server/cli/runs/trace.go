package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
	"patterngate/server/cli/statefile"
)

func (a *Commands) runsTraceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trace RUN",
		Short: "Print the events of a run, a line each",
		Long: "Prints the events of a run's record: number, time, kind, the effect's key, the beginning of the hash, and the body:\n" +
			"at a terminal as much of it as fits. With --json each line is an event as an export has it (spec: seq, at in microseconds, kind, key, hash, body).",
		Args: console.One("runs trace", "run", "patterngate runs list"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.WithRuns("runs trace", func(runs statefile.Runs) error {
				_, events, _, err := RecordOf("runs trace", runs, args[0])
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintLines(eventLines(events))
				}
				return a.Print(recordtext.Trace(events, a.TableWidth()))
			})
		},
	}
}

// eventLines returns events as JSON Lines, in their stored bytes.
func eventLines(events []patterns.Event) []byte {
	var text []byte
	for _, e := range events {
		text = e.AppendLine(text)
	}
	return text
}

func (a *Commands) runsHeadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "head RUN",
		Short: "Print the head of a run's record: what to keep elsewhere",
		Long: "Prints RUN EVENTS sha256:HASH. Kept outside of this machine it proves later, by \"patterngate runs verify RUN --head\n" +
			"EVENTS:HASH\", that nothing of the record up to there was cut or written anew.",
		Args: console.One("runs head", "run", "patterngate runs list"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.WithRuns("runs head", func(runs statefile.Runs) error {
				id, events, _, err := RecordOf("runs head", runs, args[0])
				if err != nil {
					return err
				}
				head := patterns.HeadOf(events)
				if a.JSON {
					return a.PrintJSON(struct {
						RunID string `json:"run_id"`
						record.Kept
					}{id, record.Read(events).Record})
				}
				return a.Print(id + " " + head.String() + "\n")
			})
		},
	}
}

func (a *Commands) runsExportCommand() *cobra.Command {
	form, file := "jsonl", ""
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "Write a run's record to a file, to be read and verified elsewhere",
		Long: "Writes a run's record as JSON Lines: a line about the run, then one for each event, with the bytes that were hashed.\n" +
			"\"patterngate runs verify FILE\" checks it on any machine, without the state file: the public keys of approvers that signed\n" +
			"something in it are in the first line. --as test writes a txtar archive that\n" +
			"replays the run offline against what its tools and models answered (docs/records.md). Values that were redacted stand\n" +
			"in it as salted hashes; everything else that the run saw stands in it as it was.",
		Example: "  patterngate runs export 5d0c -o run.jsonl && patterngate runs verify run.jsonl",
		Args:    console.One("runs export", "run", "patterngate runs list"),
		RunE: func(_ *cobra.Command, args []string) error {
			if form != "jsonl" && form != "test" {
				return console.Usage("--as", fmt.Errorf("got %s", console.Quoted(form)), "--as jsonl or test")
			}
			return a.WithRuns("runs export", func(runs statefile.Runs) error {
				id, events, kept, err := RecordOf("runs export", runs, args[0])
				if err != nil {
					return err
				}
				if err := patterns.VerifyChain(id, events, kept); err != nil { // a broken record is still evidence
					_, _ = fmt.Fprintln(a.Err, "the record is broken: "+err.Error())
				}
				ring, err := runs.Keys()
				if err != nil {
					return console.Fault("runs export "+id, err)
				}
				text := patterns.ExportRecord(id, record.Read(events).Pattern, events, ring, time.Now())
				if form == "test" {
					if text, err = replayTest(events, text, runs); err != nil {
						return console.Usage("runs export "+id, err, "patterngate runs export "+id)
					}
				}
				if file == "" {
					return a.PrintLines(text)
				}
				return writeNew(file, text)
			})
		},
	}
	cmd.Flags().StringVar(&form, "as", form, "jsonl, or test: a txtar archive that replays offline")
	cmd.Flags().StringVarP(&file, "output", "o", "", "the file to write, mode 0600 (else standard output)")
	return cmd
}

// writeNew writes a whole file or none, with permissions for its owner only. It replaces an existing file.
func writeNew(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".patterngate-*")
	if err != nil {
		return console.Usage("-o "+printable.Text(path), err, "-o FILE in a directory where you may write")
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // remove the incomplete file
		return console.Fault("-o "+printable.Text(path), err)
	}
	return nil
}
