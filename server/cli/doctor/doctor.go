package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/ijson/printable"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/importer"
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

// findings are the rows of one client.
type findings struct {
	client string
	rows   []finding
}

func (f *findings) ok(check, format string, args ...any) {
	f.rows = append(f.rows, finding{f.client, check, stateOK, fmt.Sprintf(format, args...), ""})
}

func (f *findings) warn(check, fix, format string, args ...any) {
	f.rows = append(f.rows, finding{f.client, check, stateWarn, fmt.Sprintf(format, args...), fix})
}

func (f *findings) fail(check, fix, format string, args ...any) {
	f.rows = append(f.rows, finding{f.client, check, stateFail, fmt.Sprintf(format, args...), fix})
}

// failed reports whether a check failed.
func (f *findings) failed() bool {
	for _, r := range f.rows {
		if r.State == stateFail {
			return true
		}
	}
	return false
}

// Commands has what the command needs that checks how clients start Patterngate.
type Commands struct {
	*console.Console
}

// Command returns the command "doctor". It starts this program as clients do and looks for problems:
//
//	client's file ──▶ our entry ──▶ started with the client's environment and directory ──handshake──▶ tools/list ──▶ checks
//	       └──▶ every other server ──▶ a way around the gate
func (a *Commands) Command() *cobra.Command {
	names := clientfile.Names()
	return &cobra.Command{
		Use:   "doctor [CLIENT]",
		Short: "Check that your MCP clients start Patterngate and that it works",
		Long: "Starts Patterngate as each client on this machine does: with the client's command, environment and directory. " +
			"Then it checks the answer: the protocol, the tools, the configuration, the state file, the approver keys and the kill switch.\n\n" +
			"It also finds servers that a client starts directly, without the policy. The check fails if such a server is " +
			"also in your catalog. Any other server is a warning.\n\n" +
			"A client without problems is one line. Every warning and failure comes with its fix.\n\n" +
			"CLIENT is " + strings.Join(names, ", ") + ".\n\n" +
			"Exit codes: 0 no check failed, 1 a check failed.",
		Example: "  patterngate doctor\n" +
			"  patterngate doctor claude-desktop\n" +
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
			return a.doctor(cmd.Context(), name)
		},
	}
}

// doctor checks the clients and prints the findings.
func (a *Commands) doctor(ctx context.Context, name string) error {
	rows := []finding{}
	failed := false
	for _, c := range clientfile.Clients() {
		if name != "" && c.Name != name {
			continue
		}
		f := findings{client: c.Name}
		a.examine(ctx, c, name != "", &f)
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, failed = append(rows, f.rows...), failed || f.failed()
		if !a.JSON {
			if err := a.Print(a.text(f.rows)); err != nil {
				return err
			}
		}
	}
	if len(rows) == 0 {
		rows = append(rows, finding{"", "file", stateWarn, "no client that this program knows has a file here", "patterngate setup claude-code"})
		if !a.JSON {
			if err := a.Print(a.text(rows)); err != nil {
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

// text returns one line for each check, and its fix.
func (a *Commands) text(rows []finding) string {
	var b strings.Builder
	for _, r := range rows {
		state := fmt.Sprintf("%-4s", r.State)
		switch r.State {
		case stateOK:
			state = a.Paint(console.Green, state)
		case stateFail:
			state = a.Paint(console.Red, state)
		}
		fmt.Fprintf(&b, "%s  %-14s  %-12s  %s\n", state, r.Client, r.Check, console.OtherText(r.Detail, 600))
		if r.Fix != "" {
			fmt.Fprintf(&b, "      fix: %s\n", printable.Text(r.Fix))
		}
	}
	return b.String()
}

// examine checks one client. It skips a client that is not installed, unless the command names it.
func (a *Commands) examine(ctx context.Context, client clientfile.Client, named bool, f *findings) {
	host := clientfile.ThisHost(a.Environ)
	mend := "patterngate setup " + client.Name + " --write"
	path, err := client.Path(host)
	if err != nil {
		if named {
			f.fail("file", "set what is missing", "%v", err)
		}
		return
	}
	file, err := clientfile.Read(path)
	switch {
	case err != nil:
		f.fail("file", "mend the file by hand", "%v", err)
		return
	case file.Info == nil && named:
		f.fail("file", mend, "%s has no file %s", client.Title, path)
		return
	case file.Info == nil:
		return
	}
	self, _ := os.Executable() // without it only the name identifies the entry
	entries, _, err := client.Format.Decode(file.Text)
	if err != nil {
		f.fail("file", "mend the file by hand", "%v", file.Faulty(err))
		return
	}
	f.ok("file", "%s", path)
	ours, others := ourEntry(entries, self)
	var catalog tools.Catalog
	if ours.Name == "" {
		tell := f.warn
		if named {
			tell = f.fail
		}
		tell("entry", mend, "no entry starts this program")
	} else {
		catalog = a.examineEntry(ctx, host, client, ours, f)
	}
	for _, b := range aroundIn(importer.ClientFile{Client: client, File: file}, others, catalog) {
		b.tell(f)
	}
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
