package runs

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
)

// finding is the result of a check of a record, as --json shows it.
type finding struct {
	OK     bool   `json:"ok"`
	RunID  string `json:"run_id,omitempty"`
	File   string `json:"file,omitempty"`
	Events int64  `json:"events,omitempty"`
	Head   string `json:"head,omitempty"`
	*found
	Seq    *int64 `json:"broken_seq,omitempty"` // of the first broken link; 0: the export's first line
	Reason string `json:"reason,omitempty"`
	lines  []string
	gone   bool // the run does not exist
}

// found holds the results about decisions and signatures. It is nil if the record has neither.
type found struct {
	Decisions  int                `json:"decisions"`
	Signed     int                `json:"signed"`
	Spent      int                `json:"spent"`
	Signatures []record.Signature `json:"signatures"`
	Unchecked  []record.Unchecked `json:"not_checked"`
}

// findingOf converts a report to a finding.
func findingOf(r record.Report) finding {
	v := finding{OK: r.OK, lines: r.Lines()}
	if r.Broken != nil {
		v.Seq, v.Reason = &r.Broken.Seq, r.Broken.Error()
		return v
	}
	v.Events, v.Head = r.Events, headText(r.Head)
	if r.Decisions > 0 || len(r.Signatures)+len(r.Unchecked) > 0 {
		v.found = &found{r.Decisions, r.Signed, r.Spent, r.Signatures, r.Unchecked}
		if v.Signatures == nil {
			v.Signatures = []record.Signature{}
		}
		if v.Unchecked == nil {
			v.Unchecked = []record.Unchecked{}
		}
	}
	return v
}

// unreadable returns the finding about a record that cannot be read.
func unreadable(err error) finding {
	v := finding{Reason: err.Error(), lines: []string{"broken: " + err.Error()}}
	if broken, ok := errors.AsType[*patterns.BrokenRecord](err); ok {
		v.Seq = &broken.Seq
	}
	return v
}

// trust holds evidence that the user kept elsewhere. A record is checked against it. The zero value holds no evidence.
type trust struct {
	head *patterns.Head
	keys []ed25519.PublicKey
}

func (a *Commands) runsVerifyCommand() *cobra.Command {
	head, keys, all := "", []string(nil), false
	cmd := &cobra.Command{
		Use:   "verify [RUN|FILE]",
		Short: "Check that the record of a run, or an export, is complete and unchanged",
		Long: "Checks the record of a run, or of an export, which needs no state file:\n" +
			"  - each event's hash covers the event before it, so a changed or missing event is found\n" +
			"  - the run's row in the state file agrees with the events\n" +
			"  - each signature is valid for an approver key of the state file or of the export\n" +
			"  - each call that needed an approval is exactly the call that was approved, and was made once\n\n" +
			"It prints \"ok: N events\" and who signed what. At the first fault it prints that fault and ends with exit code " +
			"1.\n\n" +
			"RUN is a run's id. Write ./NAME for a file whose name looks like an id.",
		Example: "  patterngate runs verify 5d0c\n" +
			"  patterngate runs verify run.jsonl --head 12:0f3a...\n" +
			"  patterngate runs verify --all",
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case all && (len(args) > 0 || head != "" || len(keys) > 0):
				return console.Usage("runs verify", errors.New("--all checks every run, and takes no RUN, FILE, --head or --key"), "one of them")
			case all:
				return a.WithRuns("runs verify", a.verifyAll)
			case len(args) != 1:
				return console.Usage("runs verify", fmt.Errorf("want one RUN or FILE, got %d arguments", len(args)), "patterngate runs list")
			}
			t, err := trustOf(head, keys)
			if err != nil {
				return err
			}
			if !idBeginning.MatchString(args[0]) {
				return a.verifyFile(args[0], t)
			}
			return a.WithRuns("runs verify", func(runs statefile.Runs) error { return a.verifyRun(runs, args[0], t) })
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "`N:HASH` of the record, kept elsewhere; finds a record that was cut or completely rewritten")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "an approver's public `KEY` (base64) that you know from elsewhere: only what it signed counts; can be given again")
	cmd.Flags().BoolVar(&all, "all", false, "check every run of the state file, and the file itself")
	return cmd
}

// trustOf reads --head and --key.
func trustOf(head string, keys []string) (t trust, err error) {
	if t.head, err = keptHead(head); err != nil {
		return t, err
	}
	for _, text := range keys {
		public, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil || len(public) != ed25519.PublicKeySize {
			return t, console.Usage("--key", fmt.Errorf("%s is not a public key", console.Quoted(text)), "--key with the base64 of 32 bytes, as patterngate approvals keys --json prints it")
		}
		t.keys = append(t.keys, public)
	}
	return t, nil
}

// keptHead reads --head. It returns nil if the flag is not set.
func keptHead(text string) (*patterns.Head, error) {
	if text == "" {
		return nil, nil
	}
	head, err := patterns.ParseHead(text)
	if err != nil {
		return nil, console.Usage("--head", err, "--head as patterngate runs head RUN prints it")
	}
	return &head, nil
}

// verifyFile checks an export.
func (a *Commands) verifyFile(path string, t trust) error {
	text, err := readWhole(path, patterns.MaxExport)
	if err != nil {
		return console.Usage("runs verify", err, "patterngate runs export RUN -o FILE")
	}
	x, err := patterns.ReadExport(text)
	if err == nil {
		err = x.Verify(t.head)
	}
	var v finding
	if err != nil {
		v = unreadable(err)
	} else {
		v = findingOf(record.Check(record.Evidence{RunID: x.RunID, Events: x.Events, Length: x.Head.Events, Kept: t.head, Ring: x.Ring(), Only: t.keys}))
	}
	v.File, v.RunID = path, x.RunID
	return a.tell(v)
}

// readWhole reads a whole file. It returns an error if the file has more than most bytes.
func readWhole(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the file was only read, so an error has no use
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// verifyRun checks the record of a run.
func (a *Commands) verifyRun(runs statefile.Runs, beginning string, t trust) error {
	id, err := find("runs verify", runs, beginning)
	if err != nil {
		return err
	}
	ring, err := runs.Keys()
	if err != nil {
		return console.Fault("runs verify "+id, err)
	}
	return a.tell(verdictOf(runs, id, ring, t))
}

// verdictOf checks one run's record. A record that cannot be read counts as broken.
func verdictOf(runs statefile.Reader, id string, ring gateway.Ring, t trust) finding {
	events, kept, err := runs.Kept(id)
	var v finding
	if err != nil {
		v = unreadable(err)
		v.gone = errors.Is(err, patterns.ErrNoRun)
	} else {
		v = findingOf(record.Check(record.Evidence{RunID: id, Events: events, Length: kept.Head.Events, Row: kept, Kept: t.head, Ring: ring, Only: t.keys}))
	}
	v.RunID = id
	return v
}

// tell prints a finding. If the finding is not ok, it returns an error that ends the program with exit code 1.
func (a *Commands) tell(v finding) error {
	err := error(nil)
	if a.JSON {
		err = a.PrintJSON(v)
	} else {
		text := ""
		for _, line := range v.lines {
			text += console.Clip(line, console.MaxWidth) + "\n"
		}
		err = a.Print(text)
	}
	if err == nil && !v.OK {
		return console.ExitCode(console.ExitFault)
	}
	return err
}

// verifyAll checks every run and the state file. It prints the broken runs.
func (a *Commands) verifyAll(runs statefile.Runs) error {
	ring, err := runs.Keys()
	if err != nil {
		return console.Fault("runs verify --all", err)
	}
	checked, events, broken := int64(0), int64(0), []finding{}
	for filter := (patterns.Filter{Limit: 100}); ; {
		page, err := runs.List(filter)
		if err != nil {
			return console.Fault("runs verify --all", err)
		}
		for _, row := range page.Rows {
			v := verdictOf(runs, row.RunID, ring, trust{})
			if v.gone { // the run was pruned after the page was read
				continue
			}
			checked, events = checked+1, events+v.Events
			if v.OK {
				continue
			}
			if broken = append(broken, v); !a.JSON {
				if err := a.Print(console.Clip(v.RunID, console.MaxName) + " " + console.Clip(v.lines[0], console.MaxWidth) + "\n"); err != nil {
					return err
				}
			}
		}
		if filter.Cursor = page.Next; page.Next == "" {
			break
		}
	}
	rows, damaged := a.audited(runs)
	for _, v := range rows {
		if broken = append(broken, v); !a.JSON {
			if err := a.Print(console.Clip(v.RunID, console.MaxName) + " " + console.Clip(v.lines[0], console.MaxWidth) + "\n"); err != nil {
				return err
			}
		}
	}
	switch {
	case a.JSON:
		err = a.PrintJSON(struct {
			OK      bool      `json:"ok"`
			Runs    int64     `json:"runs"`
			Events  int64     `json:"events"`
			Broken  []finding `json:"broken"`
			Damaged string    `json:"file_damaged,omitempty"` // faults that the check of the file found
		}{len(broken) == 0 && damaged == "", checked, events, broken, damaged})
	case damaged != "":
		err = a.Print(fmt.Sprintf("broken: the state file is damaged: %s; %d of %s are broken\n", console.Clip(damaged, console.MaxWidth), len(broken), console.Plural(checked, "run")))
	case len(broken) == 0:
		err = a.Print(fmt.Sprintf("ok: %s, %s\n", console.Plural(checked, "run"), console.Plural(events, "event")))
	default:
		err = a.Print(fmt.Sprintf("broken: %d of %s\n", len(broken), console.Plural(checked, "run")))
	}
	if err == nil && (len(broken) > 0 || damaged != "") {
		return console.ExitCode(console.ExitFault)
	}
	return err
}

// audited checks the state file. It returns the faults that concern one run as findings, and all other faults as one
// text. damaged is "" if there are none.
func (a *Commands) audited(runs statefile.Keeper) (broken []finding, damaged string) {
	found, err := runs.Audit()
	var ofFile []string
	if err != nil {
		ofFile = append(ofFile, err.Error())
	}
	for _, d := range found {
		if d.Run == "" {
			ofFile = append(ofFile, d.Reason)
			continue
		}
		broken = append(broken, finding{RunID: d.Run, Reason: d.Reason, lines: []string{"broken: " + d.Reason}})
	}
	return broken, strings.Join(ofFile, "; ")
}
