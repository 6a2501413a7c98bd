package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"patterngate/patterns"
)

// finding is what a check of a record found, as --json shows it.
type finding struct {
	OK     bool   `json:"ok"`
	RunID  string `json:"run_id,omitempty"`
	File   string `json:"file,omitempty"`
	Events int64  `json:"events,omitempty"`
	Head   string `json:"head,omitempty"`
	Seq    *int64 `json:"broken_seq,omitempty"` // of the first broken link; 0: the export's first line
	Reason string `json:"reason,omitempty"`
}

// text is the finding in one line.
func (v finding) text() string {
	if v.OK {
		return "ok: " + plural(v.Events, "event")
	}
	return "broken: " + v.Reason
}

// found is the finding about a record.
func found(events []patterns.Event, err error) finding {
	if err == nil {
		head := patterns.HeadOf(events)
		return finding{OK: true, Events: head.Events, Head: headText(head)}
	}
	v := finding{Reason: err.Error()}
	if broken, ok := errors.AsType[*patterns.BrokenRecord](err); ok {
		v.Seq = &broken.Seq
	}
	return v
}

func (a *app) runsVerifyCommand() *cobra.Command {
	head, all := "", false
	cmd := &cobra.Command{
		Use:   "verify [RUN|FILE]",
		Short: "Check the record of a run, or an export of one",
		Long: "Checks that a record is whole: each event's hash covers the one before, so that a changed, moved or missing event is\n" +
			"found, and the number of events is the one that was kept. Prints \"ok: N events\", or the first broken link and ends with 1.\n" +
			"A FILE is an export; it is checked offline, without the state file. A name that looks like a run's id is a run; ./NAME is\n" +
			"a file. --head N:HASH is a head that was kept elsewhere (\"patterngate runs head RUN\", a receipt): against it a record is\n" +
			"found out that was cut, or written anew from the beginning. Without one it cannot be.\n" +
			"--all checks every run of the state file, and the file itself.",
		Example: "  patterngate runs verify 5d0c\n  patterngate runs verify run.jsonl --head 12:0f3a...",
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case all && (len(args) > 0 || head != ""):
				return usage("runs verify", errors.New("--all checks every run; it takes no RUN, FILE or --head"), "one of them")
			case all:
				return a.withRuns("runs verify", a.verifyAll)
			case len(args) != 1:
				return usage("runs verify", fmt.Errorf("one RUN or FILE; there are %d arguments", len(args)), "patterngate runs list")
			}
			kept, err := keptHead(head)
			if err != nil {
				return err
			}
			if !idBeginning.MatchString(args[0]) {
				return a.verifyFile(args[0], kept)
			}
			return a.withRuns("runs verify", func(runs operator) error { return a.verifyRun(runs, args[0], kept) })
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "N:HASH, a head of the record that was kept elsewhere")
	cmd.Flags().BoolVar(&all, "all", false, "every run of the state file")
	return cmd
}

// keptHead reads --head; nil where it is not given.
func keptHead(text string) (*patterns.Head, error) {
	if text == "" {
		return nil, nil
	}
	head, err := patterns.ParseHead(text)
	if err != nil {
		return nil, usage("--head", err, "--head as patterngate runs head RUN prints it")
	}
	return &head, nil
}

// verifyFile checks an export.
func (a *app) verifyFile(path string, kept *patterns.Head) error {
	text, err := readWhole(path, patterns.MaxExport)
	if err != nil {
		return usage("runs verify", err, "patterngate runs export RUN -o FILE")
	}
	x, err := patterns.ReadExport(text)
	if err == nil {
		err = x.Verify(kept)
	}
	v := found(x.Events, err)
	v.File, v.RunID = path, x.RunID
	return a.tell(v)
}

// readWhole reads a whole file of at most so many bytes.
func readWhole(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// verifyRun checks the record of a run.
func (a *app) verifyRun(runs recordReader, beginning string, kept *patterns.Head) error {
	id, err := find("runs verify", runs, beginning)
	if err != nil {
		return err
	}
	return a.tell(verdictOf(runs, id, kept))
}

// verdictOf is what a check of one run's record finds. A record that cannot be read is a broken one.
func verdictOf(runs recordReader, id string, kept *patterns.Head) finding {
	events, length, err := runs.Record(id)
	if err == nil {
		err = patterns.VerifyChain(id, events, length)
	}
	if err == nil && kept != nil {
		err = patterns.VerifyKept(events, *kept)
	}
	v := found(events, err)
	v.RunID = id
	return v
}

// tell prints a finding; a broken record ends the program with 1.
func (a *app) tell(v finding) error {
	err := error(nil)
	if a.json {
		err = a.printShown(v)
	} else {
		err = a.print(clip(v.text(), maxWidth) + "\n")
	}
	if err == nil && !v.OK {
		return exitCode(exitFault)
	}
	return err
}

// verifyAll checks every run and prints those that are broken.
func (a *app) verifyAll(runs operator) error {
	checked, events, broken := int64(0), int64(0), []finding{}
	for filter := (patterns.Filter{Limit: 100}); ; {
		page, err := runs.List(filter)
		if err != nil {
			return fault("runs verify --all", err)
		}
		for _, row := range page.Rows {
			v := verdictOf(runs, row.RunID, nil)
			checked, events = checked+1, events+v.Events
			if v.OK {
				continue
			}
			if broken = append(broken, v); !a.json {
				if err := a.print(clip(v.RunID, maxName) + " " + clip(v.text(), maxWidth) + "\n"); err != nil {
					return err
				}
			}
		}
		if filter.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	damaged := ""
	err := runs.Check()
	if err != nil {
		damaged = err.Error()
	}
	switch {
	case a.json:
		err = a.printShown(struct {
			OK      bool      `json:"ok"`
			Runs    int64     `json:"runs"`
			Events  int64     `json:"events"`
			Broken  []finding `json:"broken"`
			Damaged string    `json:"file_damaged,omitempty"` // what the file's own check found
		}{len(broken) == 0 && damaged == "", checked, events, broken, damaged})
	case damaged != "":
		err = a.print(fmt.Sprintf("broken: the state file is damaged: %s; %d of %s are broken\n", clip(damaged, maxWidth), len(broken), plural(checked, "run")))
	case len(broken) == 0:
		err = a.print(fmt.Sprintf("ok: %s, %s\n", plural(checked, "run"), plural(events, "event")))
	default:
		err = a.print(fmt.Sprintf("broken: %d of %s\n", len(broken), plural(checked, "run")))
	}
	if err == nil && (len(broken) > 0 || damaged != "") {
		return exitCode(exitFault)
	}
	return err
}
