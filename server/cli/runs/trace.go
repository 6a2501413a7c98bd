package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
		Short: "Print the events of a run, one line each",
		Long: "Prints each event of the record: number, time, kind, key of the call, start of the hash, and body. At a " +
			"terminal the body is cut.\n\n" +
			"With --json each line is an event as in an export, with the time in microseconds.",
		Example: "  patterngate runs trace 5d0c\n" +
			"  patterngate runs trace 5d0c --json",
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
		Short: "Print the head of a run's record, to keep elsewhere",
		Long: "Prints RUN EVENTS sha256:HASH. Keep this line on another machine. Later, \"patterngate runs verify RUN --head " +
			"EVENTS:HASH\" proves that nothing in the record up to there was removed or rewritten.",
		Example: "  patterngate runs head 5d0c",
		Args:    console.One("runs head", "run", "patterngate runs list"),
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
		Short: "Write a run's record to a file that can be verified elsewhere",
		Long: "Writes the record as JSON Lines: a line about the run, then one for each event, with the bytes that were " +
			"hashed.\n\n" +
			"\"patterngate runs verify FILE\" checks it on any machine, without the state file. The first line has the public " +
			"keys of the approvers who signed.\n\n" +
			"--as test writes a txtar archive that replays the run offline with the recorded answers (docs/records.md).\n\n" +
			"Redacted values are in the file as salted hashes. All else is in it as the run saw it.",
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
				if err := writeNew(file, text); err != nil || form == "test" {
					return err
				}
				a.Next(console.AfterExport(console.ShellWord(runtime.GOOS, file))...)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&form, "as", form, "`FORM`: jsonl, or test, a txtar archive that replays offline")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write this `FILE` with mode 0600 (default: standard output)")
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
