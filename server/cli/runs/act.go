package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
)

// stands is the state of a run as --json shows it.
type stands struct {
	RunID      string `json:"run_id"`
	Status     string `json:"status"`
	StopReason string `json:"stop_reason,omitempty"`
	Waiting    string `json:"waiting_kind,omitempty"`
	Cause      string `json:"cause,omitempty"`
	Needs      string `json:"needs,omitempty"`
}

func standsOf(s patterns.Snapshot) stands {
	v := stands{RunID: s.RunID, Status: string(s.State)}
	switch w := s.Ended.Waiting; {
	case s.State == patterns.Over:
		v.StopReason = s.Ended.Result.StopReason
		v.Status = map[bool]string{true: "ok", false: "stopped"}[s.Ended.Result.OK()]
		if status, reason, ok := keptEnd(s.Kept); ok {
			v.Status, v.StopReason = status, reason
		}
	case w != nil:
		v.Waiting, v.Cause, v.Needs = string(w.Kind), w.Cause, strings.Join(w.Needs, ", ")
	}
	return v
}

// keptEnd returns the status and the stop reason of a recorded result. ok is false if it has no status.
func keptEnd(result json.RawMessage) (status, reason string, ok bool) {
	var members map[string]json.RawMessage // case-sensitive, unlike a struct
	if json.Unmarshal(result, &members) != nil {
		return "", "", false
	}
	_ = json.Unmarshal(members["status"], &status)
	_ = json.Unmarshal(members["stop_reason"], &reason)
	return status, reason, slices.Contains([]string{"ok", "stopped", "running", "waiting"}, status)
}

func (v stands) text() string {
	text := console.Clip(v.RunID, console.MaxName) + " " + v.Status
	for _, more := range []string{v.StopReason, v.Waiting, v.Cause, v.Needs} {
		if more != "" {
			text += " " + console.Clip(more, 2*console.MaxName)
		}
	}
	return text + "\n"
}

// printStands prints the state of runs, one line each, or all in one JSON document.
func (a *Commands) printStands(list ...patterns.Snapshot) error {
	rows := make([]stands, len(list))
	var text strings.Builder
	for i, s := range list {
		rows[i] = standsOf(s)
		text.WriteString(rows[i].text())
	}
	if a.JSON {
		return a.PrintJSON(rows)
	}
	return a.Print(text.String())
}

func (a *Commands) runsCancelCommand() *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use:     "cancel RUN",
		Short:   "Stop a run before its next call",
		Long:    "Stops a run before its next call. What was done stays done. A call that was sent cannot be recalled.",
		Example: "  patterngate runs cancel 5d0c --reason 'started twice'",
		Args:    console.One("runs cancel", "run", "patterngate runs list --status running"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := console.ReasonFlag("--reason", reason); err != nil {
				return err
			}
			return a.WithRuns("runs cancel", func(runs statefile.Runs) error {
				id, err := find("runs cancel", runs, args[0])
				if err != nil {
					return err
				}
				s, err := runs.Cancel(cmd.Context(), id, statefile.ByUser(reason))
				if err != nil {
					return statefile.Refused("runs cancel "+id, err, "patterngate runs show "+id)
				}
				return a.printStands(s)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` for the record: why")
	return cmd
}

func (a *Commands) runsSeizeCommand() *cobra.Command {
	yes, reason, key := false, "", ""
	cmd := &cobra.Command{
		Use:     "take-over RUN",
		Aliases: []string{"seize"},
		Short:   "Take over a run from a process that hangs",
		Long: "Takes a run from a process that still exists but does not work: it hangs or was suspended. " +
			"If the process has ended, you need not do this: any server continues the run by itself.\n\n" + seizeRisk,
		Example: "  patterngate runs take-over 5d0c --reason 'the server hangs'",
		Args:    console.One("runs take-over", "run", "patterngate runs list --status running"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := console.ReasonFlag("--reason", reason); err != nil {
				return err
			}
			return a.WithRuns("runs take-over", func(runs statefile.Runs) error {
				id, err := find("runs take-over", runs, args[0])
				if err != nil {
					return err
				}
				if err := a.Confirm("runs take-over "+id, seizeRisk, "Take over "+id+"?", yes); err != nil {
					return err
				}
				act, err := a.Act(cmd.Context(), runs, gateway.ActSeize, local.SeizeSubject(id), signing.Request{What: "runs take-over " + id, Does: "take over " + id, Key: key})
				if err != nil {
					return err
				}
				if err := runs.Seize(id, statefile.ByUser(reason), act); err != nil {
					return statefile.Refused("runs take-over "+id, err, "patterngate runs show "+id)
				}
				return a.done(id, "taken over. A server continues it, or: patterngate runs resume "+id)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	signing.KeyFlag(cmd, &key)
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` for the record: why")
	return cmd
}

const seizeRisk = "If you can, end that process first: then there is no risk. Otherwise it can still send a call that it has already started. " +
	"Patterngate cannot recall such a call, and the old process can no longer record it. " +
	"Settle it as after a crash: \"patterngate runs settle\"."

// done prints the result of a decision.
func (a *Commands) done(id, what string) error {
	if a.JSON {
		return a.PrintJSON(map[string]any{"run_id": id, "done": what})
	}
	return a.Print(id + " " + what + "\n")
}

func (a *Commands) runsSettleCommand() *cobra.Command {
	var happened, didNot bool
	var result, comment, key string
	cmd := &cobra.Command{
		Use:   "settle RUN EFFECT",
		Short: "Decide whether a call with unknown outcome happened",
		Long: "Use this if the reply to a call was lost, for example in a crash. First check with the service that was called: " +
			"Patterngate believes what you say.\n\n" +
			"With --did-not-happen the run makes the call again. With --happened it continues as if the call had returned, " +
			"with --result if you know the result.\n\n" +
			"EFFECT is the key of the call. \"patterngate runs show RUN\" prints it.",
		Example: "  patterngate runs settle 71aa issue_refund#1 --happened --result '{\"refund_id\":\"rf_1\"}'\n" +
			"  patterngate runs settle 71aa issue_refund#1 --did-not-happen --comment 'no entry in the ledger'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return console.Usage("runs settle", fmt.Errorf("want a RUN and an EFFECT, got %d arguments", len(args)), "patterngate runs list --status waiting")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := settlementOf(happened, didNot, result, comment)
			if err != nil {
				return err
			}
			return a.WithRuns("runs settle", func(runs statefile.Runs) error {
				id, err := find("runs settle", runs, args[0])
				if err != nil {
					return err
				}
				what := "runs settle " + id + " " + console.Quoted(args[1])
				does := map[bool]string{true: "say that it happened: ", false: "say that it did not happen: "}[s.Happened]
				signed := signing.Request{What: what, Does: does + console.Quoted(args[1]) + " of " + id, Key: key}
				if s.Result != nil {
					signed.Call = "The result that you give for the call:\n" + console.Fenced("  ", string(s.Result), a.Width())
				}
				s.Act, err = a.Act(cmd.Context(), runs, gateway.ActSettle, s.Subject(id, args[1]), signed)
				if err != nil {
					return err
				}
				if err := runs.Settle(id, args[1], s); err != nil {
					if how := settledAs(runs, id, args[1]); how != "" && errors.Is(err, patterns.ErrNotTaken) {
						return console.Refused(what, alreadySettled(how), "patterngate runs show "+id)
					}
					return statefile.Refused(what, err, "patterngate runs show "+id)
				}
				return a.done(id, "settled; a server continues it, or patterngate runs resume "+id)
			})
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&happened, "happened", false, "the call did what it was asked to do")
	flags.BoolVar(&didNot, "did-not-happen", false, "the call did nothing, and will do nothing")
	flags.StringVar(&result, "result", "", "with --happened, what the call returned: `JSON` or @FILE")
	flags.StringVar(&comment, "comment", "", "`TEXT` for the record: how you know")
	signing.KeyFlag(cmd, &key)
	return cmd
}

// settledAs says how a call was settled, or returns "" if it was not.
func settledAs(runs statefile.Reader, id, effect string) string {
	events, _, err := runs.Record(id)
	if err != nil {
		return ""
	}
	for _, row := range slices.Backward(record.Read(events).Rows) {
		if _, about := row.About(); about == effect && row.Decision != "" {
			return recordtext.DecisionWord(row.Decision)
		}
	}
	return ""
}

// settlementOf reads the flags of settle.
func settlementOf(happened, didNot bool, result, comment string) (local.Settlement, error) {
	switch {
	case happened == didNot:
		return local.Settlement{}, console.Usage("runs settle", errors.New("say whether the call happened"), "--happened or --did-not-happen")
	case didNot && result != "":
		return local.Settlement{}, console.Usage("--result", errors.New("a call that did not happen has no result"), "--happened --result JSON")
	}
	if err := console.ReasonFlag("--comment", comment); err != nil {
		return local.Settlement{}, err
	}
	s := local.Settlement{By: statefile.ByUser(comment), Happened: happened, Comment: comment}
	if result == "" {
		return s, nil
	}
	text := []byte(result)
	if path, isFile := strings.CutPrefix(result, "@"); isFile {
		read, err := readWhole(path, ijson.MaxBytes)
		if err != nil {
			return local.Settlement{}, console.Usage("--result", err, "--result JSON or @FILE")
		}
		text = read
	}
	v, err := ijson.Decode(text)
	if err != nil {
		return local.Settlement{}, console.Usage("--result", fmt.Errorf("not JSON: %w", err), `--result '{"member":"value"}' or @FILE`)
	}
	s.Result = json.RawMessage(ijson.Canonical(v))
	return s, nil
}

func (a *Commands) runsResumeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Continue the runs that are ready, or one run",
		Long: "Continues runs that were interrupted, settled or answered, as a server does by itself. Then it prints their " +
			"state.\n\n" +
			"A run continues only with the configuration that it started with, and in one process.",
		Example: "  patterngate runs resume\n" +
			"  patterngate runs resume 5d0c",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithServing("runs resume", func(runs statefile.Runs) error { return a.resume(cmd.Context(), runs, args) })
		},
	}
}

// resume continues one run, or all runs that are ready.
func (a *Commands) resume(ctx context.Context, runs statefile.Runs, args []string) error {
	id := ""
	if len(args) == 1 {
		var err error
		if id, err = find("runs resume", runs, args[0]); err != nil {
			return err
		}
	}
	list, err := runs.Resume(ctx, id)
	if errors.Is(err, patterns.ErrOver) { // the run has ended already
		err = nil
	}
	if err != nil && ctx.Err() == nil {
		if what, try := waitsFor(runs, id); what != "" && errors.Is(err, patterns.ErrNotTaken) {
			return console.Refused("runs resume "+id, what, try)
		}
		return statefile.Refused(strings.TrimSpace("runs resume "+id), err, "patterngate runs list")
	}
	if len(list) == 0 && !a.JSON {
		_, _ = fmt.Fprintln(a.Err, "no run is ready")
	}
	if err := a.printStands(list...); err != nil {
		return err
	}
	for _, s := range list {
		if text := remarkOf(runs, s); text != "" {
			_, _ = fmt.Fprintln(a.Err, console.Clip(text, maxRemark))
		}
	}
	return ctx.Err()
}

// maxRemark is how many characters of a remark are shown.
const maxRemark = 500

// remarkOf says what a person must know about a run that was continued: what it needs to continue, or that its approval is used up and
// the call was not made. It returns "" for other runs.
func remarkOf(runs statefile.Reader, s patterns.Snapshot) string {
	if w := s.Ended.Waiting; w != nil && w.Kind == patterns.ForRetry && w.Cause == "config_missing" {
		return otherConfiguration(s.RunID)
	}
	if s.State != patterns.Over || s.Ended.Result.OK() {
		return ""
	}
	events, _, err := runs.Record(s.RunID)
	if err != nil {
		return ""
	}
	if approval := spentInVain(record.Read(events).Rows); approval != "" {
		return approvalSpent(s.RunID, approval)
	}
	return ""
}

// spentInVain returns the approval that the newest approved call used, if that call failed. It returns "" otherwise.
func spentInVain(rows []record.Row) (approval string) {
	for _, r := range slices.Backward(rows) {
		switch {
		case r.Grant == "":
		case r.State == string(patterns.Failed):
			return r.Grant
		default:
			return ""
		}
	}
	return ""
}

// waitsFor says what a run waits for that "runs resume" cannot give, and what to run instead. Both are "" for other runs.
func waitsFor(runs statefile.Reader, id string) (what, try string) {
	s, ok := runs.Run(id)
	w := s.Ended.Waiting
	if !ok || w == nil || s.State != patterns.Parked {
		return "", ""
	}
	switch w.Kind {
	case patterns.ForApproval:
		return waitsForDecision(w.Approval)
	case patterns.ForSettlement:
		return waitsForSettlement(cmp.Or(w.Child, id), console.ShellWord(runtime.GOOS, w.Effect))
	case patterns.ForRetry:
		return "", ""
	}
	return waitsForCaller(id)
}
