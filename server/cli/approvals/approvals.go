package approvals

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
)

// The commands read and decide through the owner's view of the state file. They execute nothing: a process that
// continues runs reads the decision.
//
//	AP ──FindApproval──▶ id ──Approval──▶ Asked ──▶ show
//	                                        └──Answered──(terminal, key)──▶ Decide ──▶ what was decided, how the run continues

// Commands are the commands about calls that wait for a person, and about the keys of approvers.
type Commands struct {
	*console.Console
	*statefile.Opener
	*signing.Signer
	People    func(id string) string                                  // names the user of an id; nil: ids only
	NoteOther func()                                                  // prints that another usual state file exists, if there is one
	Held      func(keys func() (gateway.Ring, error)) HeldAcceptances // the tools that Patterngate holds after an enrolment; nil: none
}

func (a *Commands) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List the calls that wait for a person, and approve or reject them",
		Long: "A call waits here when your policy asks for a person. These commands show the call and record your decision. " +
			"A server then makes the call, or \"patterngate runs resume\" does.\n\n" +
			"Patterngate makes exactly the call that you approved. Without a decision before the deadline, the call is rejected.\n\n" +
			"AP is the id of an approval, or its first 4 digits or more, with or without ap_.\n\n" + assuranceTruth,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.approvalsListCommand(), a.approvalsWatchCommand(), a.approvalsShowCommand(), a.approveCommand(), a.rejectCommand(),
		a.enrollCommand(), a.keysCommand())
	return cmd
}

// desk holds the approvals of a state file and the methods that commands call on them.
type desk struct{ statefile.Questions }

// withApprovals opens the state file, calls do, and closes the file.
func (a *Commands) withApprovals(what string, do func(desk) error) error {
	return a.Opener.WithApprovals(what, func(q statefile.Questions) error { return do(desk{q}) })
}

// withNewApprovals is withApprovals for a command that can be the first one to use the file: it makes the file if there is none.
func (a *Commands) withNewApprovals(what string, do func(desk) error) error {
	return a.Opener.WithNewApprovals(what, func(q statefile.Questions) error { return do(desk{q}) })
}

// assuranceTruth tells the user how strong a decision by a command is.
const assuranceTruth = "Without an approver key, a decision has the assurance \"user\": any program of the same system user can make it, " +
	"including an agent with a shell. With a key (\"patterngate approvals enroll\") it is \"signed\": only a person who knows the " +
	"passphrase can make it. After the first enrolment, only signed decisions count."

// approvalBeginning matches an approval's id or the beginning of one.
var approvalBeginning = regexp.MustCompile(`^(ap_)?[0-9a-f]{4,16}$`)

// findAsked returns the stored question whose id begins with the typed text.
func (d desk) findAsked(what, beginning string) (patterns.Asked, error) {
	const list = "patterngate approvals list --all"
	if !approvalBeginning.MatchString(beginning) {
		return patterns.Asked{}, console.Usage(what, fmt.Errorf("%s is not the id of an approval, nor its first 4 digits or more", console.Quoted(beginning)), list)
	}
	id, err := d.FindApproval(beginning)
	if err != nil {
		return patterns.Asked{}, unfound(what, beginning, err)
	}
	asked, err := d.Approval(id)
	if err != nil {
		return patterns.Asked{}, unfound(what, beginning, err)
	}
	return asked, nil
}

// unfound returns the error for an approval that was not found, or whose beginning matches several.
func unfound(what, beginning string, err error) error {
	many, _ := errors.AsType[*local.AmbiguousError](err)
	switch {
	case many != nil:
		return console.Usage(what, fmt.Errorf("%d approvals begin with %s: %s", len(many.IDs), beginning, console.FirstFew(many.IDs)), "type more digits")
	case errors.Is(err, patterns.ErrNoApproval):
		return console.Usage(what, fmt.Errorf("no approval %s is recorded here", beginning), "patterngate approvals list --all")
	}
	return console.Fault(what, err)
}

// completeAsked offers the waiting approvals to a shell's completion.
func (a *Commands) completeAsked(_ *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const fail = cobra.ShellCompDirectiveNoFileComp
	var offered []cobra.Completion
	if len(words) > 0 {
		return nil, fail
	}
	_ = a.withApprovals("", func(d desk) error { // the command itself reports errors
		page, err := d.ListApprovals(patterns.ApprovalFilter{Limit: statefile.MostListed})
		for _, asked := range page.Rows {
			if strings.HasPrefix(asked.ID, begun) {
				offered = append(offered, cobra.CompletionWithDesc(asked.ID, console.Clip(phraseOf(asked), 2*console.MaxName)))
			}
		}
		return err
	})
	return offered, fail
}

// named returns an id as texts show it, with the name of the user.
func (a *Commands) named(id string) string {
	if a.People == nil {
		return id
	}
	return a.People(id)
}

// namedQuestion returns a question with the names of users beside their ids.
func (a *Commands) namedQuestion(asked patterns.Asked) patterns.Asked {
	asked.Principal = a.named(asked.Principal)
	if asked.Given != nil {
		given := *asked.Given
		given.By = a.named(given.By)
		asked.Given = &given
	}
	return asked
}
