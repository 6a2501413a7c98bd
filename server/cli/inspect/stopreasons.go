package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/server"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// StopReasons returns the command "stop-reasons".
func (a *Commands) StopReasons() *cobra.Command {
	var pattern string
	cmd := &cobra.Command{
		Use:   "stop-reasons [NAME]",
		Short: "Explain why runs stop, and what to do next",
		Long: "Lists every stop reason with its meaning. With NAME it shows one: its meaning, patterns, phases, exit code and " +
			"what to do next.\n\n" +
			"NAME is a name from the list, a family, a stop reason from a result, or the reason of a policy's rule. Stop " +
			"reasons from your policies are listed last.",
		Example: "  patterngate stop-reasons\n" +
			"  patterngate stop-reasons human_rejected\n" +
			"  patterngate stop-reasons --pattern supervised_refund",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return a.stopReasons(name, pattern)
		},
	}
	cmd.Flags().StringVar(&pattern, "pattern", "", "only stop reasons of this `PATTERN`")
	return cmd
}

func (a *Commands) stopReasons(name, pattern string) error {
	offered := a.declaring()
	kind, known := settings.KindNamed(pattern)
	for _, p := range offered {
		if p.Spec.Name == pattern {
			kind, known = p.Spec.Kind, true
		}
	}
	if pattern != "" && !known {
		return console.Usage("stop-reasons", fmt.Errorf("no pattern %s (%s)", pattern, strings.Join(settings.BuiltinPatterns, ", ")), "patterngate tools")
	}
	var all []server.Reason
	for _, s := range stopreason.All() {
		if pattern == "" || occursIn(s, kind) {
			all = append(all, server.ReasonOf(s, func(kind gateway.Kind) []string { return []string{settings.NameOfKind(kind)} }))
		}
	}
	if pattern != "" {
		offered = slices.DeleteFunc(offered, func(p server.Pattern) bool { return p.Spec.Name != pattern })
	}
	rows := meant(server.DeclaredReasons(all, offered), name)
	if len(rows) == 0 {
		return console.Usage("stop-reasons", errors.New("no stop reason "+name), "patterngate stop-reasons")
	}
	if a.JSON {
		return console.WriteJSON(a.Out, rows)
	}
	w := tabwriter.NewWriter(a.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "STOP REASON\tEXIT\tPHASES\tNEXT\tMEANING")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", r.Name, r.ExitCode, strings.Join(r.Phases, ","), r.Next, r.Meaning)
	}
	return w.Flush()
}

// declaring returns the patterns of the configuration in force, for the reasons that their policies declare. If the
// configuration does not load, it prints a line and returns none.
func (a *Commands) declaring() []server.Pattern {
	if offered, err := a.Offered(); err == nil {
		return offered
	}
	_, _ = fmt.Fprintln(a.Err, "stop-reasons: the configuration does not load: reasons that its policies declare are missing\ntry: patterngate validate")
	return nil
}

// meant returns the rows of a name: a row's own name, a family, a policy's reason alone, or the reason of a result. Without
// a name it returns all.
func meant(rows []server.Reason, name string) []server.Reason {
	if name == "" {
		return rows
	}
	exact := func(r server.Reason) bool {
		return r.Name == name || r.Name == "supervisor_block:"+name || r.Name == "policy_block:"+name
	}
	only := func(is func(server.Reason) bool) (list []server.Reason) {
		for _, r := range rows {
			if is(r) {
				list = append(list, r)
			}
		}
		return list
	}
	if list := only(exact); len(list) > 0 {
		return list
	}
	found := map[string]bool{}
	for _, reason := range []string{name, "supervisor_block:" + name, "policy_block:" + name} {
		row, ok := stopreason.Lookup(reason)
		if strings.HasSuffix(row.Name, "_block:R") && reason != name {
			continue // any word could be a policy's reason
		}
		found[row.Name] = ok
	}
	return only(func(r server.Reason) bool {
		return found[r.Name] || strings.HasPrefix(r.Name, strings.TrimSuffix(name, ":")+":")
	})
}

func occursIn(s stopreason.Reason, kind gateway.Kind) bool {
	return slices.ContainsFunc(s.Places, func(p stopreason.Place) bool { return p.Kind == kind })
}
