package catalogcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
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
	// words are key=value.
	Call func(ctx context.Context, c assembly.Loaded, tool, args string, words []string) error
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
	State      string   `json:"state"` // ready, held, unavailable; in the table also off
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
			"This command starts no server, so it does not see that a server changed a tool: \"patterngate doctor\" does. A tool is " +
			"\"off\" if it or its server has \"enabled: false\"; --json leaves it out. It is \"held\" until you accept its definition with " +
			"\"patterngate catalog accept\". An HTTP tool or server is \"unavailable\" if its host name leads only to addresses that Patterngate does " +
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
			return a.printList(rows, offTools(c.Catalog))
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
			if uses(p.Spec.Catalog, p.Spec.Execution, name) {
				row.Patterns = append(row.Patterns, p.Spec.Name)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// uses reports whether a pattern that sees these tools and may call those of execution can call a tool, also under its own name
// for a worker or route.
func uses(seen *catalog.Catalog, execution []string, tool string) bool {
	return slices.ContainsFunc(execution, func(name string) bool {
		t, known := seen.Tool(name)
		return name == tool || known && t.Pattern == "" && t.Own() == tool
	})
}

// offTools returns the tools that the file disables, in its order.
func offTools(c tools.Catalog) (rows []row) {
	add := func(t *tools.Tool, server string) {
		rows = append(rows, row{
			Name: t.Name, Server: server, Effect: string(t.Effect), Idempotent: t.Idempotent, State: stateOff, Policy: t.Policy, Patterns: []string{},
		})
	}
	for i := range c.Servers {
		s := &c.Servers[i]
		for j := range s.Tools {
			if t := &s.Tools[j]; !s.Enabled || !t.Enabled {
				add(&t.Tool, s.Name)
			}
		}
	}
	for i := range c.HTTP {
		if t := &c.HTTP[i]; !t.Enabled {
			add(&t.Tool, "http")
		}
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

// printList prints the tools as a table, with those that the file disables at its end, or as JSON without those.
func (a *Commands) printList(rows, off []row) error {
	if a.JSON {
		return a.PrintJSON(rows)
	}
	rows = slices.Concat(rows, off)
	table := [][]string{{"TOOL", "SERVER", "EFFECT", "STATE", "POLICY", "PATTERNS"}}
	var why strings.Builder
	for _, r := range rows {
		effect := r.Effect
		if r.Idempotent && effect != string(catalog.Read) {
			effect += ", idempotent"
		}
		used := strings.Join(r.Patterns, " ")
		table = append(table, []string{r.Name, r.Server, cmp.Or(effect, "-"), r.State, cmp.Or(r.Policy, "-"), cmp.Or(used, "-")})
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
		Use:   "test TOOL [key=value]...",
		Short: "Call one tool that only reads, to try it",
		Long: "Calls one tool of effect read through the gate and records the run. No model is needed. Arguments are written as for " +
			"\"patterngate call\".\n\n" +
			"A tool that writes is refused. Use it in a pattern.",
		Example: "  patterngate catalog test read_order path=A-1001.json\n" +
			"  patterngate catalog test read_order --args '{\"path\":\"A-1001.json\"}'",
		Args: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 {
				return console.Usage("catalog test", errors.New(nameTool), "patterngate catalog list")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			loaded, err := a.Load()
			if err != nil {
				return err
			}
			return a.test(cmd, loaded, words[0], args, words[1:])
		},
	}
	cmd.Flags().StringVar(&args, "args", "", "a JSON object of arguments: `JSON`, @FILE, or - for standard input")
	return cmd
}

// test exposes the tool for this one call, and makes the call.
func (a *Commands) test(cmd *cobra.Command, c assembly.Loaded, name, args string, words []string) error {
	d, err := assembly.Declare(c, a.Environ)
	if err != nil {
		return console.Fault("catalog test", err)
	}
	tool, ok := d.Tools.Tool(name)
	switch {
	case !ok:
		for _, off := range offTools(c.Catalog) {
			if off.Name == name {
				return console.Usage("catalog test", errors.New(testOff(name)), "patterngate catalog list")
			}
		}
		return console.Usage("catalog test", errors.New(noTool(console.Quoted(name), gateway.NearTyped(name, d.Tools.Names()))), "patterngate catalog list")
	case tool.Effect != catalog.Read:
		return console.Refused("catalog test "+name, onlyReads(string(tool.Effect)), tryWrite(c, tool))
	case tool.Server == "":
		return console.Refused("catalog test "+name, demoTool, "patterngate demo")
	}
	served := name
	if at := patternOf(c, name); at != "" {
		served = at
	} else if !slices.Contains(c.Catalog.Expose, name) {
		c = c.Exposing(name)
	}
	return a.Call(cmd.Context(), c, served, args, words)
}

// patternOf returns the pattern that is this tool for clients, or "".
func patternOf(c assembly.Loaded, tool string) string {
	if at := slices.IndexFunc(c.Patterns, func(p settings.Pattern) bool { return p.Enabled && p.Tool == tool }); at >= 0 {
		return c.Patterns[at].Name
	}
	return ""
}

// tryWrite returns a command that tries a tool that writes, without a call: a dry run if clients can call it, else its policy.
// The arguments are an example of its schema. For a tool without a policy it advises to write one.
func tryWrite(c assembly.Loaded, tool catalog.Tool) string {
	name := tool.Own()
	args := console.ShellWord(runtime.GOOS, string(ijson.Canonical(tool.Input.Example())))
	served, judged := patternOf(c, name), c.PolicyOf(name) != ""
	switch {
	case served != "":
		return dryRun(served, args)
	case judged && slices.Contains(c.Catalog.Expose, name):
		return dryRun(name, args)
	case judged:
		return explainCall(name, args)
	}
	return policyFirst(name)
}

// errNoServersDeclared is the error of a file without servers, so that there is nothing to accept.
var errNoServersDeclared = errors.New(noServersIn(""))
