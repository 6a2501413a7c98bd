package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
		near := gateway.NearTyped(pattern, settings.BuiltinPatterns)
		return console.Usage("stop-reasons", errors.New(noneOf("pattern", pattern, near, settings.BuiltinPatterns)), "patterngate tools")
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
		return console.Usage("stop-reasons", errors.New(noStopReason(name, nearReason(name, server.DeclaredReasons(all, offered)))), "patterngate stop-reasons")
	}
	if a.JSON {
		return console.WriteJSON(a.Out, rows)
	}
	width := console.FoldWidth(console.Readable(a.Width()))
	if len(rows) == 1 && name != "" {
		return a.Print(a.reasonText(rows[0], width))
	}
	if err := a.Print(reasonTable(rows, width)); err != nil {
		return err
	}
	a.Next(console.AfterStopReasons...)
	return nil
}

// The columns of the list of stop reasons. A longer name has a line of its own.
const (
	reasonColumn = 44
	exitColumn   = 6
)

// reasonTable returns the list of stop reasons: a row each, with its meaning folded.
func reasonTable(rows []server.Reason, width int) string {
	column := len(headReason)
	for _, r := range rows {
		column = max(column, min(len(r.Name), reasonColumn))
	}
	column += 2
	indent := strings.Repeat(" ", column+exitColumn)
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s%-*s%s\n", column, headReason, exitColumn, headExit, headMeaning)
	for _, r := range rows {
		name := fmt.Sprintf("%-*s", column, r.Name)
		if len(r.Name) > column-2 {
			name = r.Name + "\n" + strings.Repeat(" ", column)
		}
		fmt.Fprintf(&b, "%s%-*s%s\n", name, exitColumn, exitText(r), console.Fold(r.Meaning, width-len(indent), indent))
	}
	return b.String()
}

// exitText returns the exit code of "call", or a dash for a reason that never ends a run.
func exitText(r server.Reason) string {
	if r.ExitCode < 0 {
		return nothing
	}
	return strconv.Itoa(r.ExitCode)
}

// reasonText returns all that is known about one stop reason.
func (a *Commands) reasonText(r server.Reason, width int) string {
	const column = 13
	indent := strings.Repeat(" ", column)
	var b strings.Builder
	row := func(label, text string) {
		fmt.Fprintf(&b, "  %-*s%s\n", column-2, label, console.Fold(text, width-column, indent))
	}
	b.WriteString(a.Paint(console.Bold, r.Name) + "\n  " + console.Fold(r.Meaning, width-2, "  ") + "\n\n")
	if r.ExitCode < 0 {
		row(labelExit, onlyTask)
	} else {
		row(labelExit, exitText(r))
	}
	row(labelPatterns, cmp.Or(strings.Join(r.Patterns, ", "), nothing))
	row(labelPhases, cmp.Or(strings.Join(r.Phases, ", "), nothing))
	label := labelNext
	for _, action := range nextActions(r.Next) {
		row(label, action+": "+nextWords[action])
		label = ""
	}
	return b.String()
}

// nextActions splits the advice of a stop reason into its actions: "call, fix_and_retry or tell_user".
func nextActions(next string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(next, " or ", ","), func(r rune) bool { return r == ',' || r == ' ' })
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

// nearReason returns the stop reason that a person meant: a whole name, a family such as tool_error, or a policy's reason alone.
func nearReason(name string, rows []server.Reason) string {
	family, rest, one := strings.Cut(name, ":")
	var whole, families []string
	for _, r := range rows {
		whole = append(whole, r.Name)
		before, after, _ := strings.Cut(r.Name, ":")
		families = append(families, before)
		if after != "" && !one {
			whole = append(whole, after)
		}
	}
	if near := gateway.NearTyped(name, whole); near != "" {
		return near
	}
	near := gateway.NearTyped(family, families)
	if near != "" && one {
		near += ":" + rest
	}
	return near
}

func occursIn(s stopreason.Reason, kind gateway.Kind) bool {
	return slices.ContainsFunc(s.Places, func(p stopreason.Place) bool { return p.Kind == kind })
}
