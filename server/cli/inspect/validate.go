package inspect

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
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
			"It prints up to 50 faults and warnings as FILE:LINE:COLUMN: PATH: what is wrong; what is right. Faults are first. " +
			"Hints about a file without faults follow, and count as neither.\n\n" +
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
			return a.validate(len(args) == 1, strict)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "count warnings as faults")
	return cmd
}

// validate checks the configuration. argument says that an argument names the file.
func (a *Commands) validate(argument, strict bool) error {
	c, err := a.check(argument)
	if err != nil {
		return err
	}
	found, refused := yamldoc.ByPlace(c.found), c.refused
	faults := 0
	for _, f := range found {
		if f.Severity == yamldoc.SeverityFault || strict {
			faults++
		}
	}
	if err := a.printFound(found, c, faults > 0); err != nil {
		return err
	}
	switch {
	case refused != nil && refused.Unread:
		return console.ExitCode(console.ExitUsage)
	case faults > 0:
		return console.ExitCode(console.ExitFault)
	case a.JSON:
		return nil
	}
	if _, err := fmt.Fprintln(a.Out, a.sound(c, len(invocation.Gathered(found)))); err != nil {
		return err
	}
	a.Next(console.AfterValidate...)
	return nil
}

// printFound prints the first fifty faults and warnings: one line each on standard error, or a document with --json. On
// standard error hints follow. If counted is true, the last line says how many there are.
func (a *Commands) printFound(found []yamldoc.Fault, c checked, counted bool) error {
	beyond := 0
	if c.refused != nil {
		beyond = c.refused.More
	}
	if a.JSON {
		shown := found[:min(len(found), yamldoc.MaxFaults)]
		if shown == nil {
			shown = []yamldoc.Fault{}
		}
		return console.WriteJSON(a.Out, shown)
	}
	warnings, held := 0, len(found)-len(invocation.Gathered(found))
	for _, f := range found {
		if f.Severity == yamldoc.SeverityWarning {
			warnings++
		}
	}
	faults := len(found) - warnings + beyond
	warnings -= held // one line for all of them
	for _, line := range lines(found, faults > 0 && warnings > 0) {
		fmt.Fprintln(a.Err, line)
	}
	if more := max(0, len(found)-yamldoc.MaxFaults) + beyond; more > 0 {
		fmt.Fprintln(a.Err, andMore(more))
	}
	for _, h := range c.hints {
		fmt.Fprintln(a.Err, h.String())
	}
	if counted && faults+warnings > 1 {
		fmt.Fprintln(a.Err, total(faults, warnings))
	}
	return nil
}

// lines returns the first fifty faults and warnings as lines, faults first. All held tools are one line. If labelled is
// true, faults have a label as warnings do.
func lines(found []yamldoc.Fault, labelled bool) (list []string) {
	shown := slices.Clone(found)
	slices.SortStableFunc(shown, func(a, b yamldoc.Fault) int { return cmp.Compare(rank(a), rank(b)) })
	for _, f := range invocation.Gathered(shown[:min(len(shown), yamldoc.MaxFaults)]) {
		line := f.String()
		if labelled && f.Severity == yamldoc.SeverityFault {
			line = labelFault + line
		}
		list = append(list, line)
	}
	return list
}

// rank returns the place of a severity in the list.
func rank(f yamldoc.Fault) int {
	return slices.Index([]yamldoc.Severity{yamldoc.SeverityFault, yamldoc.SeverityWarning}, f.Severity)
}

// sound returns the line for a file without faults.
func (a *Commands) sound(c checked, warnings int) string {
	file := cmp.Or(c.Path, embedded)
	patterns := 0
	for _, p := range c.Patterns {
		if p.Enabled && p.Equipped() {
			patterns++
		}
	}
	parts := []string{console.Plural(len(c.ToolNames()), "tool"), console.Plural(patterns, "pattern")}
	if exposed := len(c.Exposed()); exposed > 0 { // clients get these tools unchanged; no pattern is declared
		parts = append(parts, console.Plural(exposed, "exposed tool"))
	}
	if c.Offer != nil {
		parts = append(parts, offered(len(c.Offer)))
	}
	if warnings > 0 {
		parts = append(parts, console.Plural(warnings, "warning"))
	}
	if c.summary != "" {
		parts = append(parts, c.summary)
	}
	return inOrder(file, parts)
}
