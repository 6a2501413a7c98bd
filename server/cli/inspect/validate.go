package inspect

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"patterngate/server/cli/console"
	"patterngate/server/settings/yamldoc"
)

// Validate returns the command "validate".
func (a *Commands) Validate() *cobra.Command {
	strict := false
	cmd := &cobra.Command{
		Use:   "validate [FILE]",
		Short: "Check a configuration file and list what is wrong with it",
		Long: "Checks a configuration file as \"serve\" would load it. It starts and calls nothing. Without FILE it checks the " +
			"file that \"serve\" would read.\n\n" +
			"It prints up to 50 faults and warnings as FILE:LINE:COLUMN: PATH: what is wrong; what is right.\n\n" +
			"Exit codes: 0 no faults, 1 faults (with --strict also warnings), 2 the file cannot be read.",
		Example: "  patterngate validate\n  patterngate validate pg.yaml --strict\n  patterngate validate pg.yaml --json",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				*a.Path, a.Given = args[0], " --config "+console.ShellWord(runtime.GOOS, args[0])
			}
			return a.validate(strict)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "count warnings as faults")
	return cmd
}

func (a *Commands) validate(strict bool) error {
	c, err := a.check()
	if err != nil {
		return err
	}
	found, refused := c.found, c.refused
	if err := a.printFaults(yamldoc.ByPlace(found), refused); err != nil {
		return err
	}
	faults := 0
	for _, f := range found {
		if f.Severity == yamldoc.SeverityFault || strict {
			faults++
		}
	}
	switch {
	case refused != nil && refused.Unread:
		return console.ExitCode(console.ExitUsage)
	case faults > 0:
		return console.ExitCode(console.ExitFault)
	case a.JSON:
		return nil
	}
	if _, err := fmt.Fprintln(a.Out, a.sound(c, len(found))); err != nil {
		return err
	}
	a.Next(console.AfterValidate...)
	return nil
}

// printFaults prints the first fifty faults and warnings: one line each on standard error, or a document with --json.
func (a *Commands) printFaults(found []yamldoc.Fault, refused *yamldoc.Error) error {
	more := max(0, len(found)-yamldoc.MaxFaults)
	found = found[:len(found)-more]
	if refused != nil {
		more += refused.More
	}
	if a.JSON {
		if found == nil {
			found = []yamldoc.Fault{}
		}
		return console.WriteJSON(a.Out, found)
	}
	for _, f := range found {
		fmt.Fprintln(a.Err, f.String())
	}
	if more > 0 {
		fmt.Fprintf(a.Err, "and %d more\n", more)
	}
	return nil
}

// sound returns the line for a file without faults.
func (a *Commands) sound(c checked, warnings int) string {
	file := c.Path
	if file == "" {
		file = "the embedded configuration"
	}
	patterns := 0
	for _, p := range c.Patterns {
		if p.Enabled && p.Equipped() {
			patterns++
		}
	}
	line := fmt.Sprintf("%s: in order; %s, %s", file, console.Plural(len(c.ToolNames()), "tool"), console.Plural(patterns, "pattern"))
	if exposed := len(c.Exposed()); exposed > 0 { // clients get these tools unchanged; no pattern is declared
		line += ", " + console.Plural(exposed, "exposed tool")
	}
	if warnings > 0 {
		line += ", " + console.Plural(warnings, "warning")
	}
	if c.summary != "" {
		line += ", " + c.summary
	}
	return line
}
