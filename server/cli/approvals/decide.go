package approvals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server"
	"patterngate/server/cli/console"
	"patterngate/server/cli/recordtext"
	"patterngate/server/cli/statefile"
)

// deciding holds the typed flags of one approve or reject command.
type deciding struct {
	approvals *Commands
	reject    bool

	edits                []string
	comment, digest, key string
	yes                  bool
}

func (a *Commands) approveCommand() *cobra.Command {
	c := &deciding{approvals: a}
	cmd := &cobra.Command{
		Use:   "approve AP",
		Short: "Approve a call as shown, or with changed arguments",
		Long: "Approves exactly the call that \"patterngate approvals show AP\" shows. Without --digest, it shows the call and asks you first.\n\n" +
			"--digest names the call that you saw. If the call has changed since, nothing is decided. " +
			"Without a terminal you must give --digest or --yes. With --yes the record says that the digest was not compared.\n\n" +
			"--edit changes an argument. The policy then judges the changed call again.\n\n" + assuranceTruth,
		Example: "  patterngate approvals approve ap_03f2 --digest sha256:...\n  patterngate approvals approve ap_03f2 --edit amount_usd=800 --comment 'as the contract says'",
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&c.edits, "edit", nil, "`NAME=VALUE` or NAME:=JSON: change an argument; can be given several times")
	flags.BoolVar(&c.yes, "yes", false, "approve without --digest and without a question")
	return c.command(cmd)
}

func (a *Commands) rejectCommand() *cobra.Command {
	c := &deciding{approvals: a, reject: true}
	cmd := &cobra.Command{
		Use:   "reject AP",
		Short: "Reject a call: it is not made",
		Long: "Rejects a waiting call. The run stops with human_rejected and your comment, or continues without the call if " +
			"its pattern allows that.",
		Example: "  patterngate approvals reject ap_03f2 --comment 'ask the customer first'",
	}
	return c.command(cmd)
}

// command adds to cmd the arguments and flags that approve and reject share.
func (c *deciding) command(cmd *cobra.Command) *cobra.Command {
	cmd.Args = console.One(c.name(), "approval", "patterngate approvals list")
	cmd.ValidArgsFunction = c.approvals.completeAsked
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.check(); err != nil {
			return err
		}
		return c.approvals.withApprovals(c.name(), func(d desk) error { return c.decide(cmd.Context(), d, args[0]) })
	}
	flags := cmd.Flags()
	flags.StringVar(&c.comment, "comment", "", "`TEXT` for the record and the caller of the run: why")
	flags.StringVar(&c.digest, "digest", "", "`DIGEST` of the request that you saw; a changed request is not decided")
	flags.StringVar(&c.key, "key", "", "`ID` of the approver key that signs (default: the key whose file is on this machine)")
	return cmd
}

func (c *deciding) name() string {
	if c.reject {
		return "approvals reject"
	}
	return "approvals approve"
}

// wholeDigest matches a digest as show prints it.
var wholeDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// check rejects wrong flags before the command opens the state file.
func (c *deciding) check() error {
	switch n := utf8.RuneCountInString(c.comment); {
	case n > gateway.MaxComment:
		return console.Usage("--comment", fmt.Errorf("it has %d characters", n), fmt.Sprintf("at most %d characters", gateway.MaxComment))
	case !utf8.ValidString(c.comment):
		return console.Usage("--comment", errors.New("it is not UTF-8"), "--comment TEXT")
	case c.digest != "" && !wholeDigest.MatchString(c.digest):
		return console.Usage("--digest", errors.New("got "+console.Quoted(c.digest)), "--digest sha256: and 64 hex digits, as patterngate approvals show prints it")
	case c.key != "" && !keyID.MatchString(c.key):
		return console.Usage("--key", errors.New("got "+console.Quoted(c.key)), "patterngate approvals keys")
	}
	return nil
}

// decide answers the question whose id begins with the typed text.
func (c *deciding) decide(ctx context.Context, d desk, beginning string) error {
	asked, err := d.findAsked(c.name(), beginning)
	if err != nil {
		return err
	}
	choice, args := gateway.ChooseReject, map[string]any(nil)
	if !c.reject {
		if choice, args, err = editOf(c.name()+" "+asked.ID, asked, c.edits); err != nil {
			return err
		}
	}
	in := patterns.Decided{Answer: gateway.Answered(asked.ID, asked.Question, choice, args), Args: args, Channel: "cli"}
	in.By, in.Comment = statefile.ByUser("").By, c.comment
	if open := c.seen(&in, asked); open {
		if err := c.warnOfSwitch(d, asked); err != nil {
			return err
		}
		if err := c.agreed(ctx, d, asked, &in); err != nil {
			return err
		}
	}
	if in.At.IsZero() {
		in.At = console.Now()
	}
	return c.given(ctx, d, asked, in)
}

// seen puts the digest that the person saw into the answer. It reports whether the question can be decided. If the
// question is not open, or its digest differs, the command still submits the answer: the store refuses and records it.
func (c *deciding) seen(in *patterns.Decided, asked patterns.Asked) bool {
	if c.digest != "" && c.digest != in.Digest {
		in.Digest = c.digest
		if in.Choice == gateway.ChooseApprove {
			in.Executes = c.digest
		}
		return false
	}
	return asked.State == patterns.AskedOpen
}

// warnOfSwitch warns before an approval of a call that a kill switch stops: the run would end, and the approval with it.
func (c *deciding) warnOfSwitch(d desk, asked patterns.Asked) error {
	if c.reject {
		return nil
	}
	on, err := d.Switches()
	if err != nil {
		return console.Fault(c.name()+" "+asked.ID, err)
	}
	of := d.patternsOf(asked)
	for _, s := range patterns.WidestFirst(on) {
		if s.Tool == asked.Question.Tool || s.Tool == "" && (s.Pattern == "" || slices.Contains(of, s.Pattern)) {
			_, _ = fmt.Fprintln(c.approvals.Err, stoppedBySwitch(console.OtherName(s.Tool), console.OtherName(s.Pattern)))
			return nil
		}
	}
	return nil
}

// patternsOf returns the patterns of the run that asks and of the runs around it: a switch for one of them stops the call.
func (d desk) patternsOf(asked patterns.Asked) []string {
	list := []string{asked.Pattern}
	if s, ok := d.Owner.Run(asked.Question.Run); ok && s.Parent != nil {
		list = append(list, s.Parent.Within...)
	}
	return list
}

// agreed asks for the consent that a decision needs. If only signed answers count, the person types a passphrase below
// the call. Otherwise an approval needs the digest of the call, or a yes at a terminal below the call. --yes replaces
// both, and the answer then says that the digest was not compared. A rejection needs none of these.
func (c *deciding) agreed(ctx context.Context, d desk, asked patterns.Asked, in *patterns.Decided) error {
	what := c.name() + " " + asked.ID
	ring, err := d.Keys()
	switch {
	case err != nil:
		return console.Fault(what, err)
	case c.signs(ring, asked):
		return c.sign(ctx, d, ring, asked, in)
	case c.reject, c.digest != "":
		return nil
	case c.yes:
		in.Uncompared = true
		return nil
	case !c.approvals.AtTerminal():
		return console.Usage(what, errors.New("nothing was decided. Without a terminal, an approval needs the digest of the call"),
			"patterngate approvals show "+asked.ID+", then this command with the --digest that it prints. --yes approves without comparing")
	}
	return c.approvals.Confirm(what, d.context(asked, console.Now(), c.approvals.Width())+c.call(asked, in.Args), "Approve it?", false)
}

// call returns the whole call that an answer decides, as text for the approver. edited holds all arguments of an edit,
// or is nil.
func (c *deciding) call(asked patterns.Asked, edited map[string]any) string {
	q, width := asked.Question, c.approvals.Width()
	title := "This call waits:\n\n"
	if !c.reject {
		title = "You would approve this call:\n\n"
	}
	title += console.Clip(q.Tool, console.MaxName) + recordtext.EffectWords(string(asked.Effect)) + "\n"
	if edited == nil {
		return title + argumentLines(q.Args, nil, width)
	}
	return title + argumentLines(edited, q.Args, width)
}

// given submits the answer and prints the result.
func (c *deciding) given(ctx context.Context, d desk, before patterns.Asked, in patterns.Decided) error {
	what := c.name() + " " + before.ID
	run, _ := d.Owner.Run(before.Question.Run)
	asked, err := d.Decide(in)
	if err != nil {
		return c.approvals.undecided(what, before, err)
	}
	if asked.Given == nil {
		return console.Fault(what, errors.New("the decision was recorded, but cannot be read back"))
	}
	server.LogDecided(ctx, d.Log, asked)
	return c.approvals.told(asked, d.takenUp(ctx, asked.Question.Run, run), d.outermost(asked.Question.Run))
}

// takeUp is how long the command waits for a process to continue the run. takeUpLook is how often it checks. A live
// process notices a decision within 100 ms.
const (
	takeUp     = 500 * time.Millisecond
	takeUpLook = 25 * time.Millisecond
)

// goesOn names which process continues a run.
type goesOn string

const (
	byNobody  goesOn = "nobody" // no process continues runs here
	bySomeone goesOn = "someone"
	taken     goesOn = "taken" // a process continues it already
)

// takenUp waits up to [takeUp] for a process to continue the run. A live process can be busy, or can have another
// configuration.
func (d desk) takenUp(ctx context.Context, id string, before patterns.Snapshot) goesOn {
	if !d.Alive() {
		return byNobody
	}
	ctx, cancel := context.WithTimeout(ctx, takeUp)
	defer cancel()
	for since := uint64(0); before.RunID != "" && ctx.Err() == nil; {
		patience, over := context.WithTimeout(ctx, takeUpLook)
		_, since = d.Owner.Changed(patience, since)
		over()
		if s, ok := d.Owner.Run(id); ok && (s.Head.Events > before.Head.Events || s.State == patterns.Over) {
			return taken
		}
	}
	return bySomeone
}

// outermost returns the run that an agent knows. For a child run, that is its outermost parent.
func (d desk) outermost(run string) string {
	for range patterns.MaxDepth {
		s, ok := d.Owner.Run(run)
		if !ok || s.Parent == nil {
			break
		}
		run = s.Parent.RunID
	}
	return run
}

// told prints the decision, its assurance, and how the run continues. known is the run that the agent knows.
func (a *Commands) told(asked patterns.Asked, on goesOn, known string) error {
	g, run := asked.Given, asked.Question.Run
	resume := "patterngate runs resume " + run
	if a.JSON {
		next := ""
		if on == byNobody {
			next = resume
		}
		return a.PrintJSON(struct {
			askedRow
			Executes string `json:"executes,omitempty"`
			GoesOn   goesOn `json:"goes_on"`
			Next     string `json:"next,omitempty"`
		}{askedRowOf(asked), g.Executes, on, next})
	}
	what := " continues"
	if g.Choice == gateway.ChooseReject { // most patterns end after a rejection
		what = " learns of the rejection"
	}
	ways := map[goesOn]string{
		taken:     what + ": a server has taken it",
		bySomeone: what + " when the running server continues it, which it has not done yet. Otherwise: " + resume,
		byNobody:  what + " when your client's server runs again; none runs now. To continue it here: " + resume,
	}
	if err := a.Print(chosenText(asked, a.PageWidth()) + sureWords(g.Assurance, g.Key) + "\n" + comparedLine(asked) + run + ways[on] + "\ntell the agent: continue " + known + "\n"); err != nil {
		return err
	}
	if on == byNobody {
		a.Next(console.AfterDecisionAlone(run)...)
		return nil
	}
	a.Next(console.AfterDecision(run)...)
	return nil
}

// chosenText describes the decision. For an edit, it lists the changed arguments: the phrase is of the proposed call.
func chosenText(asked patterns.Asked, width int) string {
	decided, proposed := asked.ID+" "+recordtext.DecisionWord(string(asked.Given.Choice)), console.Part(phraseOf(asked), recordtext.MaxPhrase, width)
	if asked.Given.Choice != gateway.ChooseEdit {
		return decided + ": " + proposed + "\n"
	}
	changed := maps.Clone(asked.Given.Args)
	maps.DeleteFunc(changed, func(name string, v any) bool {
		was, had := asked.Question.Args[name]
		return had && ijson.Equal(v, was)
	})
	return decided + notAsProposed(proposed) + argumentLines(changed, asked.Question.Args, width)
}

// sureWords describes the assurance of a decision.
func sureWords(sure gateway.Assurance, key string) string {
	if sure == gateway.SignedAssurance {
		return "assurance signed: with the approver key " + console.Clip(key, console.MaxName)
	}
	return "assurance " + console.Clip(cmp.Or(string(sure), "none"), console.MaxName) + ": any program of this system user could have decided this. An approver key (patterngate approvals enroll) is safer"
}

// comparedLine returns a line with the digest if it was not compared, and "" otherwise.
func comparedLine(asked patterns.Asked) string {
	if !asked.Given.Uncompared {
		return ""
	}
	return "digest " + asked.Digest + ": not compared with what a person saw, as the record says\n"
}

// undecided returns the error that says why nothing was decided.
func (a *Commands) undecided(what string, before patterns.Asked, err error) error {
	closed, _ := errors.AsType[*patterns.NotOpen](err)
	bad, _ := errors.AsType[*patterns.BadEdit](err)
	show := "patterngate approvals show " + before.ID
	switch {
	case closed != nil:
		return console.Refused(what, closedWords(closed.Why, a.namedQuestion(closed.Asked)), show)
	case bad != nil:
		return badEdit(what, bad.Problems)
	case errors.Is(err, patterns.ErrUnsigned):
		return console.Refused(what, "nothing was decided: only signed decisions count here", "patterngate "+what+" at a terminal, with a key that patterngate approvals keys lists")
	case errors.Is(err, patterns.ErrForged):
		return console.Refused(what, console.PortText(err)+"; nothing was decided", "patterngate approvals keys, and check the clock of this machine")
	case errors.Is(err, patterns.ErrNoApproval):
		return console.Usage(what, errors.New("no such approval is recorded here"), "patterngate approvals list --all")
	}
	return console.Fault(what, err)
}

// closedWords says why a question is not open.
func closedWords(why string, asked patterns.Asked) string {
	switch why {
	case patterns.WhyChanged:
		return "the request is not the one that you saw: its digest is " + asked.Digest + "; nothing was decided"
	case patterns.WhyExpired:
		return "it expired at " + console.ClockText(asked.Question.Expires) + ", so the call was rejected"
	case patterns.WhyOver:
		return "its run has ended"
	}
	if g := asked.Given; g != nil {
		return fmt.Sprintf("it is already decided: %s by %s at %s", recordtext.DecisionWord(string(g.Choice)), console.Clip(g.By, console.MaxName), console.ClockText(g.At))
	}
	return "it is already decided"
}
