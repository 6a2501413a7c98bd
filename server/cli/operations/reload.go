package operations

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/ijson/printable"
	"patterngate/patterns/local"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/signing"
	"patterngate/server/cli/statefile"
)

// reloadTimeout is the time limit for the servers to answer.
const reloadTimeout = 20 * time.Second

// Reload returns the command "reload".
func (a *Commands) Reload() *cobra.Command {
	key := ""
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make the running servers load the changed configuration",
		Long: "Checks the configuration. If it has faults, nothing changes. Otherwise every server with the same state file " +
			"and the same configuration file loads it, completely or not at all.\n\n" +
			"Runs in progress keep the configuration that they started with. http, inbox, notify, state and log change only " +
			"at a restart.\n\n" +
			"The command lists each change that counts as looser: it permits more, or Patterngate cannot rank it, such as a " +
			"changed rule. If an approver key is enrolled, it must sign them. A changed file alone is announced and not loaded. SIGHUP reloads too, but cannot sign.\n\n" +
			"Exit code 3: no server uses this state file and configuration.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.reload(cmd.Context(), key) },
	}
	signing.KeyFlag(cmd, &key)
	return cmd
}

func (a *Commands) reload(ctx context.Context, key string) error {
	const what = "reload"
	loaded, err := a.Load()
	if err != nil {
		return err
	}
	if loaded.Path == "" {
		return console.Usage(what, errors.New(noConfigFile), "patterngate init")
	}
	return a.WithState(what, loaded, func(runs statefile.Runs) error {
		request := local.ReloadRequest{Path: invocation.WholePath(loaded.Path), To: loaded.Hash(), By: statefile.ByUser(""), At: console.Now()}
		signed := signing.Request{What: what, Does: loadPresent(console.Quoted(request.Path), loaded.Hash()), Key: key}
		if request.Act, err = a.Act(ctx, runs, gateway.ActReload, local.ReloadSubject(request.Path, request.To), signed); err != nil {
			return err
		}
		asking, cancel := context.WithTimeout(ctx, reloadTimeout)
		defer cancel()
		answers, err := runs.Reload(asking, request)
		switch {
		case errors.Is(err, local.ErrNobodyServes):
			return console.Refused(what, nobodyServes, "patterngate serve")
		case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			err = console.Fault(what, errors.New(notAllAnswered))
		case err != nil:
			return signing.Refusal(what, err)
		}
		return errors.Join(err, a.printReloads(answers)) // the first error decides the exit code: a server that did not answer could use this file
	})
}

// reloadRow is the result of a reload in one server, as --json shows it.
type reloadRow struct {
	OK      bool     `json:"ok"`
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
	Loosens []string `json:"loosens,omitempty"`
	Waiting []string `json:"waits_for_restart,omitempty"`
	Why     string   `json:"why,omitempty"`
}

func (a *Commands) printReloads(answers []local.ReloadAnswer) error {
	rows := []reloadRow{}
	var b strings.Builder
	failed, other := "", 0
	for _, answer := range answers {
		row := reloadRow{answer.OK, answer.From, answer.To, answer.Loosens, answer.Waiting, answer.Text}
		if answer.Other {
			row.Why = usesOtherFile
		}
		rows = append(rows, row)
		switch {
		case answer.Other:
			other++
			b.WriteString(otherFile)
		case answer.OK:
			b.WriteString(reloadedTo(answer.From, answer.To))
			for _, line := range answer.Loosens {
				b.WriteString(looser(printable.Text(line)))
			}
			for _, name := range answer.Waiting {
				b.WriteString(needsRestart(name))
			}
		default:
			failed = answer.Text
			b.WriteString(refusedReload(printable.Text(answer.Text)))
		}
	}
	var err error
	if a.JSON {
		err = a.PrintJSON(rows)
	} else {
		err = a.Print(b.String())
	}
	switch {
	case err != nil:
		return err
	case failed != "":
		return console.Refused("reload", failed, "")
	case other > 0 && other == len(answers):
		return console.Refused("reload", nobodyUsesFile, giveFile)
	}
	return nil
}
