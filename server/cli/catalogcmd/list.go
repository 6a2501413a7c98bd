package catalogcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/catalog"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
	"patterngate/server/cli/signing"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
)

// Commands has what the commands need that are about the tools behind the gate. All fields are needed.
type Commands struct {
	*invocation.StateFile
	*signing.Signer
	// Call calls a tool of Patterngate's own server with a configuration, and prints the result. args are JSON, @FILE or -.
	Call func(ctx context.Context, c assembly.Loaded, tool, args string) error
}

// Command returns the command "catalog".
func (a *Commands) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "List the tools behind the policy, test one, accept server definitions",
		Long:  "The catalog is the list of tools that patterns can call: of MCP servers, over HTTP, and built in.",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.listCommand(), a.testCommand(), a.acceptCommand())
	return cmd
}

// row is a tool as --json shows it.
type row struct {
	Name       string   `json:"name"`
	Server     string   `json:"server"`
	Effect     string   `json:"effect"`
	Idempotent bool     `json:"idempotent"`
	State      string   `json:"state"`
	Why        string   `json:"why,omitempty"`
	Policy     string   `json:"policy,omitempty"` // its own policy, which applies to every caller
	Patterns   []string `json:"patterns"`
}

func (a *Commands) listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the tools behind the policy with their effect and state",
		Long: "Lists each tool: where it is, what a call can change, whether it is ready, its policy, and the patterns that " +
			"use it.\n\n" +
			"This command starts no server. A tool is \"held\" until you accept its definition with \"patterngate catalog " +
			"accept\". An HTTP tool or server is \"unavailable\" if its host name leads only to addresses that Patterngate does " +
			"not dial.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := a.Load()
			if err != nil {
				return err
			}
			c, err := a.Counting("catalog list", loaded)
			if err != nil {
				return err
			}
			d, err := assembly.Declare(c, a.Environ)
			if err != nil {
				return console.Fault("catalog list", err)
			}
			rows := rowsOf(d)
			for i := range rows {
				rows[i].Policy = c.PolicyOf(rows[i].Name)
			}
			closeNames(rows, c.Catalog.ClosedNames(cmd.Context()))
			return a.printList(rows)
		},
	}
}

// rowsOf returns all tools, each with the patterns that use it.
func rowsOf(d *assembly.Declaration) []row {
	rows, offered := make([]row, 0, len(d.Tools.Names())), d.Offered()
	for _, name := range d.Tools.Names() {
		t, _ := d.Tools.Tool(name)
		row := row{
			Name: name, Server: cmp.Or(t.Server, t.Origin), Effect: string(t.Effect), Idempotent: t.Idempotent, State: "ready", Patterns: []string{},
		}
		if t.Ready != nil {
			if r := t.Ready(); r.State != catalog.Ready {
				row.State, row.Why = string(r.State), r.Why
			}
		}
		for _, p := range offered {
			if slices.Contains(p.Spec.Execution, name) {
				row.Patterns = append(row.Patterns, p.Spec.Name)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// closeNames marks the tools that cannot be called, because their host name has only addresses that Patterngate does not
// dial.
func closeNames(rows []row, closed []tools.ClosedName) {
	for _, c := range closed {
		for i := range rows {
			if r := &rows[i]; r.State == "ready" && (r.Server == c.Name && c.Server || r.Name == c.Name && !c.Server) {
				r.State, r.Why = string(catalog.Unavailable), c.Why
			}
		}
	}
}

func (a *Commands) printList(rows []row) error {
	if a.JSON {
		return a.PrintJSON(rows)
	}
	table := [][]string{{"TOOL", "SERVER", "EFFECT", "STATE", "POLICY", "PATTERNS"}}
	var why strings.Builder
	for _, r := range rows {
		effect := r.Effect
		if r.Idempotent && effect != string(catalog.Read) {
			effect += ", idempotent"
		}
		used := strings.Join(r.Patterns, " ")
		table = append(table, []string{r.Name, r.Server, effect, r.State, cmp.Or(r.Policy, "-"), cmp.Or(used, "-")})
		if r.Why != "" {
			fmt.Fprintf(&why, "%s: %s\n", r.Name, r.Why)
		}
	}
	if err := a.Print(console.Columns(table) + why.String()); err != nil {
		return err
	}
	a.StateFile.Next(console.AfterHeld(slices.ContainsFunc(rows, func(r row) bool { return r.State == string(catalog.Held) }))...)
	return nil
}

func (a *Commands) testCommand() *cobra.Command {
	args := ""
	cmd := &cobra.Command{
		Use:   "test TOOL",
		Short: "Call one tool that only reads, to try it",
		Long: "Calls one tool of effect read through the gate and records the run. No model is needed.\n\n" +
			"A tool that writes is refused. Use it in a pattern.",
		Example: "  patterngate catalog test read_order --args '{\"path\":\"A-1001.json\"}'",
		Args:    console.One("catalog test", "tool", "patterngate catalog list"),
		RunE: func(cmd *cobra.Command, names []string) error {
			loaded, err := a.Load()
			if err != nil {
				return err
			}
			return a.test(cmd, loaded, names[0], args)
		},
	}
	cmd.Flags().StringVar(&args, "args", "{}", "the arguments: `JSON`, @FILE, or - for standard input")
	return cmd
}

// test exposes the tool for this one call, and makes the call.
func (a *Commands) test(cmd *cobra.Command, c assembly.Loaded, name, args string) error {
	d, err := assembly.Declare(c, a.Environ)
	if err != nil {
		return console.Fault("catalog test", err)
	}
	tool, ok := d.Tools.Tool(name)
	switch {
	case !ok:
		return console.Usage("catalog test", fmt.Errorf("no tool %s", console.Quoted(name)), "patterngate catalog list")
	case tool.Effect != catalog.Read:
		return console.Refused("catalog test "+name, "it has effect "+string(tool.Effect)+"; only tools that read can be tested", tryWrite(name, slices.Contains(c.Catalog.Expose, name)))
	case tool.Server == "":
		return console.Refused("catalog test "+name, "it is a demo tool", "patterngate demo")
	}
	served := name
	if at := slices.IndexFunc(c.Patterns, func(p settings.Pattern) bool { return p.Enabled && p.Tool == name }); at >= 0 {
		served = c.Patterns[at].Name
	} else if !slices.Contains(c.Catalog.Expose, name) {
		c = c.Exposing(name)
	}
	return a.Call(cmd.Context(), c, served, args)
}

// tryWrite returns what to do with a tool that writes and cannot be tested. exposed: clients can call it by its own name.
func tryWrite(name string, exposed bool) string {
	if exposed {
		return "patterngate call " + name + " with its arguments and --dry-run"
	}
	return "patterngate call PATTERN, with a pattern that uses it"
}

// errNoServersDeclared is the error of a file without servers, so that there is nothing to accept.
var errNoServersDeclared = errors.New("the configuration has no servers")
