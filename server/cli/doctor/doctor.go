package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"patterngate/ijson/printable"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/importer"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
)

// These are the states of a check.
const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "FAIL"
)

// finding is the result of one check of one client.
type finding struct {
	Client string `json:"client"`
	Check  string `json:"check"`
	State  string `json:"state"` // ok, warn or FAIL
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// findings are the rows of one client, and what its summary says.
type findings struct {
	client string
	rows   []finding
	tools  int           // how many tools the program lists
	first  time.Duration // time until the first answer; 0: none
	starts bool          // the client starts Patterngate
	with   string        // the flag that names the configuration in a fix; "": a command of this shell reads it without one
}

// uses sets the configuration that the fixes are about. environ is the environment of the shell in which they are typed.
func (f *findings) uses(from settings.Sources, environ []string) {
	path, _, err := settings.Path(from)
	usual, _, wrong := settings.Path(settings.Sources{Environ: environ})
	if f.with = ""; err == nil && path != "" && (wrong != nil || path != usual) {
		f.with = withConfig(console.ShellWord(runtime.GOOS, path))
	}
}

func (f *findings) ok(check, detail string) {
	f.rows = append(f.rows, finding{f.client, check, stateOK, detail, ""})
}

func (f *findings) warn(check, fix, detail string) {
	f.rows = append(f.rows, finding{f.client, check, stateWarn, detail, fix})
}

func (f *findings) fail(check, fix, detail string) {
	f.rows = append(f.rows, finding{f.client, check, stateFail, detail, fix})
}

// count returns how many checks have a state.
func (f *findings) count(state string) int {
	n := 0
	for _, r := range f.rows {
		if r.State == state {
			n++
		}
	}
	return n
}

// state returns the worst state of all checks.
func (f *findings) state() string {
	switch {
	case f.count(stateFail) > 0:
		return stateFail
	case f.count(stateWarn) > 0:
		return stateWarn
	}
	return stateOK
}

// summary returns the line about the client.
func (f *findings) summary() string {
	text := passed(f.count(stateOK))
	if f.state() != stateOK {
		wrong := failing(f.count(stateFail), f.count(stateWarn))
		if f.count(stateOK) == 0 {
			return wrong
		}
		text = wrong + ", " + text
	}
	if f.first > 0 {
		text += served(f.tools, f.first)
	}
	return text
}

// Commands has what the command needs that checks how clients start Patterngate.
type Commands struct {
	*console.Console
	Sources func() settings.Sources // of the configuration that this shell would use
}

// Command returns the command "doctor". It starts this program as clients do and looks for problems:
//
//	client's file ──▶ our entry ──▶ started with the client's environment and directory ──handshake──▶ tools/list ──▶ checks
//	       └──▶ every other server ──▶ a way around the gate
func (a *Commands) Command() *cobra.Command {
	names := clientfile.Names()
	all := false
	cmd := &cobra.Command{
		Use:   "doctor [CLIENT]",
		Short: "Check that your MCP clients start Patterngate and that it works",
		Long: "Starts Patterngate as each client on this machine does: with the client's command, environment and directory. " +
			"Then it checks the answer: the protocol, the tools, the configuration, the state file, the approver keys and the kill switch.\n\n" +
			"It also starts each MCP server behind the gate that has an enabled tool, in the same directory and with the same " +
			"variables. A server must list its tools within a minute. Each definition is compared with the lock file. No tool is " +
			"called. Doctor ends the servers, but not what they detached.\n\n" +
			"It also finds servers that a client starts directly, without the policy. The check fails if such a server is " +
			"also in your catalog. Any other server is a warning.\n\n" +
			"A client without problems is one line. Every warning and failure comes with its fix. If no client " +
			"starts Patterngate, doctor checks the configuration of this shell and starts its servers.\n\n" +
			"CLIENT is " + strings.Join(names, ", ") + ".\n\n" +
			"Exit codes: 0 no check failed, 1 a check failed.",
		Example: "  patterngate doctor\n" +
			"  patterngate doctor claude-desktop --verbose\n" +
			"  patterngate doctor --json",
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if _, ok := clientfile.Find(args[0]); len(args) == 1 && ok {
				return nil
			}
			return console.Usage("doctor", fmt.Errorf("got %q, want one of %s", strings.Join(args, " "), strings.Join(names, ", ")), "patterngate doctor")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return a.doctor(cmd.Context(), name, all)
		},
	}
	cmd.Flags().BoolVarP(&all, "verbose", "v", false, "print all checks, also those that passed")
	return cmd
}

// doctor checks the clients and prints the findings, with all those that passed if all is set.
func (a *Commands) doctor(ctx context.Context, name string, all bool) error {
	rows := []finding{}
	failed, ours := false, false
	for _, c := range clientfile.Clients() {
		if name != "" && c.Name != name {
			continue
		}
		f := findings{client: c.Name}
		progress := a.Spin(checking(c.Name))
		a.examine(ctx, c, name != "", &f)
		progress.Stop()
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, failed, ours = append(rows, f.rows...), failed || f.state() == stateFail, ours || f.starts
		if !a.JSON && len(f.rows) > 0 {
			if err := a.Print(a.text(&f, all)); err != nil {
				return err
			}
		}
	}
	if name == "" && !ours {
		none := findings{}
		if len(rows) == 0 {
			none.warn("file", fixNoClient, noClient)
		}
		progress := a.Spin(checkingConfig)
		a.examineHere(ctx, &none)
		progress.Stop()
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, failed = append(rows, none.rows...), failed || none.state() == stateFail
		if !a.JSON {
			if err := a.Print(a.text(&none, all)); err != nil {
				return err
			}
		}
	}
	if a.JSON {
		if err := console.WriteJSON(a.Out, rows); err != nil {
			return err
		}
	}
	if failed {
		return console.ExitCode(console.ExitFault)
	}
	return nil
}

// text returns one line for the client, then the checks that did not pass with their fixes, or all checks.
func (a *Commands) text(f *findings, all bool) string {
	lead := "  " // the checks stand under their client
	if all {
		lead = ""
	}
	indent := lead + "      "
	column := len("first answer") + 2
	width := console.FoldWidth(console.Readable(a.Width())) - len(indent) - column
	inner := indent + strings.Repeat(" ", column)
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-14s  %s\n", a.painted(f.state()), cmp.Or(f.client, nameNoClient), f.summary())
	for _, r := range f.rows {
		if r.State == stateOK && !all {
			continue
		}
		fmt.Fprintf(&b, "%s%s  %-*s%s\n", lead, a.painted(r.State), column, r.Check, console.Fold(console.OtherText(r.Detail, 600), width, inner))
		if r.Fix != "" {
			b.WriteString(inner + labelFix + printable.Text(r.Fix) + "\n") // not folded: people copy it
		}
	}
	return b.String()
}

// painted returns a state in its colour, as wide as the longest.
func (a *Commands) painted(state string) string {
	text := fmt.Sprintf("%-4s", state)
	switch state {
	case stateOK:
		return a.Paint(console.Green, text)
	case stateFail:
		return a.Paint(console.Red, text)
	}
	return text
}

// examine checks one client. It skips a client that is not installed, unless the command names it.
func (a *Commands) examine(ctx context.Context, client clientfile.Client, named bool, f *findings) {
	host := clientfile.ThisHost(a.Environ)
	setup := setupFix(client.Name)
	path, err := client.Path(host)
	if err != nil {
		if named {
			f.fail("file", fixPath, err.Error())
		}
		return
	}
	file, err := clientfile.Read(path)
	switch {
	case err != nil:
		f.fail("file", fixFile, err.Error())
		return
	case file.Info == nil && named:
		f.fail("file", setup, noFile(client.Title, path))
		return
	case file.Info == nil:
		return
	}
	self, _ := os.Executable() // without it only the name identifies the entry
	entries, _, err := client.Format.Decode(file.Text)
	if err != nil {
		f.fail("file", fixFile, file.Faulty(err).Error())
		return
	}
	f.ok("file", path)
	ours, others := ourEntry(entries, self)
	var catalog tools.Catalog
	config := ""
	if ours.Name == "" {
		tell := f.warn
		if named {
			tell = f.fail
		}
		tell("entry", setup, noEntry)
	} else {
		f.starts = true
		catalog, config = a.examineEntry(ctx, host, client, ours, f)
	}
	usual := usualConfig(a.Environ)
	if config == "" && usual != "" {
		catalog = catalogOf(usual, a.Environ)
	}
	tellBypasses(aroundIn(importer.ClientFile{Client: client, File: file}, others, catalog), config, usual, f)
}

// ourEntry returns the entry that starts Patterngate, the first by name, and all entries that start something else.
func ourEntry(entries map[string]any, self string) (ours importer.ClientServer, others []importer.ClientServer) {
	for name, entry := range entries {
		s := importer.ReadEntry(name, entry)
		switch {
		case !importer.StartsPatterngate(entry, self):
			others = append(others, s)
		case ours.Name == "" || name < ours.Name:
			ours = s
		}
	}
	importer.SortServers(others)
	return ours, others
}
