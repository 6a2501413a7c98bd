package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/server"
)

func (a *app) stopReasonsCommand() *cobra.Command {
	var pattern string
	cmd := &cobra.Command{
		Use:   "stop-reasons [NAME]",
		Short: "Explain stop reasons",
		Long: "Lists every stop reason there is: what it means, where it occurs, the exit code class and what to do next.\n" +
			"NAME is a row's name, a family or a stop reason as a result shows it.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return a.stopReasons(name, pattern)
		},
	}
	cmd.Flags().StringVar(&pattern, "pattern", "", "only those of this pattern, or of this tool of it")
	return cmd
}

func (a *app) stopReasons(name, pattern string) error {
	kind, known := kindNamed(pattern)
	if pattern != "" && !known {
		return usage("stop-reasons", fmt.Errorf("no pattern %s (%s)", pattern, strings.Join(builtinNames, ", ")), "patterngate tools")
	}
	var rows []server.Reason
	for _, s := range gateway.StopReasons() {
		if named(s, name) && (pattern == "" || occursIn(s, kind)) {
			rows = append(rows, server.ReasonOf(s, func(kind gateway.Kind) []string { return []string{nameOfKind(kind)} }))
		}
	}
	if len(rows) == 0 {
		return usage("stop-reasons", errors.New("no stop reason "+name), "patterngate stop-reasons")
	}
	if a.json {
		return printJSON(a.out, rows)
	}
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "STOP REASON\tEXIT\tPHASES\tNEXT\tMEANING")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", r.Name, r.ExitCode, strings.Join(r.Phases, ","), r.Next, r.Meaning)
	}
	return w.Flush()
}

// named reports whether a row is meant by a name: itself, its family, or the reason of a result.
func named(s gateway.StopReason, name string) bool {
	if name == "" || s.Name == name || strings.HasPrefix(s.Name, strings.TrimSuffix(name, ":")+":") {
		return true
	}
	found, ok := gateway.LookupStopReason(name)
	return ok && found.Name == s.Name
}

func occursIn(s gateway.StopReason, kind gateway.Kind) bool {
	return slices.ContainsFunc(s.Places, func(p gateway.Place) bool { return p.Kind == kind })
}

func printJSON(to interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
