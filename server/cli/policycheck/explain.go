package policycheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"patterngate/server/assembly"

	"github.com/spf13/cobra"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/ijson"
	"patterngate/server/cli/console"
	"patterngate/server/cli/toolargs"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// explainFlags are the flags of the command.
type explainFlags struct {
	tool, args, effects, policy, pattern, principal, now string
	approved                                             bool
}

// explained is the decision of a policy about a call, as --json shows it.
type explained struct {
	Policy   string          `json:"policy"`
	Pattern  string          `json:"pattern,omitempty"` // the pattern whose params apply
	Decision string          `json:"decision"`
	Rule     string          `json:"rule,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Text     string          `json:"text,omitempty"`
	Need     []string        `json:"need,omitempty"`
	Args     map[string]any  `json:"args"` // after all changes
	Passes   []explainedPass `json:"passes"`
}

type explainedPass struct {
	Args     map[string]any  `json:"args"`
	Decision string          `json:"decision"`
	Rule     string          `json:"rule,omitempty"`
	Rules    []explainedRule `json:"rules"`
}

type explainedRule struct {
	Rule    string         `json:"rule"`
	Outcome string         `json:"outcome"`
	Is      policy.Truth   `json:"is"`
	Decided bool           `json:"decided,omitempty"`
	Values  map[string]any `json:"values,omitempty"`
}

func (a *Commands) policyExplainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain --tool TOOL",
		Short: "Show how each rule judges a call, step by step",
		Long: "Judges a call that you make up, and makes no call. For each pass it shows every matching rule, the values that " +
			"the rule reads, whether it is true, and which rule decided.\n\n" +
			"--effects gives the calls before it, as in the tests of a policy: [{tool, args, status, result, seconds_ago, " +
			"other_run}].\n\n" +
			"For the final answer, use --tool final --args '{\"answer\": \"Done.\"}'.",
		Example: "  patterngate policy explain --tool refund_charge --args @call.json\n" +
			"  patterngate policy explain --tool refund_charge --args @call.json --effects @before.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.explain(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "`NAME` of the called tool, or final")
	flags.StringVar(&f.args, "args", "{}", "its arguments: `JSON`, @FILE, or - for standard input")
	flags.StringVar(&f.effects, "effects", "[]", "the calls before it: `JSON`, @FILE")
	flags.StringVar(&f.policy, "policy", "", "`NAME` of the policy; needed if several policies judge the tool")
	flags.StringVar(&f.pattern, "pattern", "", "`NAME` of the pattern whose policy and params apply")
	flags.StringVar(&f.principal, "principal", "", "`WHO` started the run: local:NAME or token:NAME")
	flags.StringVar(&f.now, "now", "", "the `TIME`: 2026-11-22T09:30:00Z")
	flags.BoolVar(&f.approved, "approved", false, "judge the call as if a person has approved it")
	_ = cmd.RegisterFlagCompletionFunc("policy", a.completePolicies)
	return cmd
}

func (a *Commands) explain(ctx context.Context, f explainFlags) error {
	const what = "policy explain"
	loaded, err := a.loadUntested(what, nil)
	if err != nil {
		return err
	}
	row, err := a.explainedCall(ctx, f)
	if err != nil {
		return err
	}
	if known := append(loaded.ToolNames(), "final"); !slices.Contains(known, f.tool) {
		return console.Usage("--tool", noSuch("tool", f.tool, known), "patterngate catalog list")
	}
	if err := fits(loaded, row.Call); err != nil {
		return console.Usage("--args", err, "patterngate tools "+f.tool)
	}
	names, err := judgesOf(loaded, f)
	if err != nil {
		return console.Usage(what, err, "--policy NAME")
	}
	var all []explained
	for _, name := range names {
		p := loaded.PolicyNamed(name)
		made, patterns, err := loaded.CompiledPolicy(p)
		if err != nil {
			return console.Fault(what, err)
		}
		row.Pattern = explainedAs(loaded, p.Name, f, patterns)
		passes, ruling, err := made.Explain(row)
		if err != nil {
			return console.Usage(what, err, "patterngate tools "+f.tool)
		}
		all = append(all, explainedBy(p.Name, row.Pattern, passes, ruling))
	}
	return a.printExplained(f.tool, all)
}

// explainedCall returns the call of the flags as a test.
func (a *Commands) explainedCall(ctx context.Context, f explainFlags) (policy.Row, error) {
	if f.tool == "" {
		return policy.Row{}, console.Usage("--tool", errors.New("missing"), "patterngate policy explain --tool TOOL --args JSON")
	}
	in := &toolargs.Input{Stdin: a.In}
	v := map[string]any{"name": "the call", "want": "block", "approved": f.approved}
	call := map[string]any{"tool": f.tool}
	for _, part := range []struct {
		flag, text string
		to         map[string]any
		name       string
	}{{"--args", f.args, call, "args"}, {"--effects", f.effects, v, "effects"}} {
		text, err := in.Argument(ctx, part.text)
		if ctx.Err() != nil {
			return policy.Row{}, ctx.Err()
		}
		if err == nil {
			part.to[part.name], err = ijson.Decode(text)
		}
		if err != nil {
			return policy.Row{}, console.Usage(part.flag, err, part.flag+" JSON, or "+part.flag+" @FILE")
		}
	}
	v["call"] = call
	for name, text := range map[string]string{"principal": f.principal, "now": f.now} {
		if text != "" {
			v[name] = text
		}
	}
	var rows []policy.Row
	faults := &yamldoc.Faults{}
	read := grammar.NewReader(faults, nil)
	read.Group(yamldoc.NodeOf(map[string]any{"tests": []any{v}}), nil, []grammar.Key{rules.RowsKey("tests", &rows)}, grammar.UnknownKey)
	if len(faults.Found) > 0 {
		first := faults.Found[0]
		_, at, _ := strings.Cut(first.Path, "].")
		return policy.Row{}, console.Usage("policy explain", errors.New(strings.TrimPrefix(yamldoc.Fault{Path: at, Reason: first.Reason, Got: first.Got}.String(), ": ")), first.Want)
	}
	return rows[0], nil
}

// judgesOf returns the policies that judge the call: the named one, else those of the pattern and of the tool. Without
// these it returns the only policy that reaches the tool.
func judgesOf(l assembly.Loaded, f explainFlags) ([]string, error) {
	if f.policy != "" {
		if l.PolicyNamed(f.policy) == nil {
			return nil, unknownPolicy(f.policy, l.PolicyNames())
		}
		return []string{f.policy}, nil
	}
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if f.pattern != "" {
		p, ok := l.Pattern(f.pattern)
		if !ok {
			return nil, errors.New("no pattern " + console.Quoted(f.pattern))
		}
		add(p.Judge)
		add(l.PolicyOf(f.tool))
		if len(names) == 0 {
			return nil, errors.New(onlyAllowLists(console.Quoted(f.tool), f.pattern))
		}
		return names, nil
	}
	add(l.PolicyOf(f.tool))
	if len(names) > 0 {
		return names, nil
	}
	for _, p := range l.Patterns {
		_, execution := p.Allows()
		if p.Enabled && (slices.Contains(execution, f.tool) || p.Tool == f.tool || f.tool == "final" && p.Kind == gateway.Supervisor) {
			add(p.Judge)
		}
	}
	switch len(names) {
	case 0:
		return nil, errors.New(noPolicyJudges(console.Quoted(f.tool)))
	case 1:
		return names, nil
	}
	return nil, errors.New(judgedBy(console.Quoted(f.tool), names))
}

// explainedAs returns the pattern whose params apply. It is the named pattern, else that of the tool's own policy, else the
// only pattern with the policy that reaches the tool. "" means the policy's own params.
func explainedAs(l assembly.Loaded, name string, f explainFlags, patterns []string) string {
	if f.pattern != "" || l.PolicyOf(f.tool) == name {
		return l.ParamsPattern(name, f.pattern)
	}
	var reach []string
	for _, p := range l.Patterns {
		_, execution := p.Allows()
		reaches := slices.Contains(execution, f.tool) || p.Tool == f.tool || f.tool == "final" && p.Kind == gateway.Supervisor
		if p.Judge == name && reaches && slices.Contains(patterns, p.Name) {
			reach = append(reach, p.Name)
		}
	}
	if len(reach) == 1 {
		return reach[0]
	}
	return l.ParamsPattern(name, "")
}

// fits checks the arguments of a call against the tool's schema.
func fits(l assembly.Loaded, call policy.RowCall) error {
	if call.Tool == "final" {
		return nil
	}
	all, err := l.RuledCatalog()
	if err != nil {
		return err
	}
	tool, known := all.Tool(call.Tool)
	if !known { // its schema is not known yet
		return nil
	}
	wrong := tool.Check(tool.Filled(call.Args))
	if len(wrong) == 0 {
		return nil
	}
	m := wrong[0] // the others are reported after this one is fixed
	at, tokens := cmp.Or(string(m.Pointer), "the arguments"), m.Pointer.Tokens()
	switch {
	case m.Kind == catalog.MismatchUnknown && len(tokens) == 1:
		return errors.New(tools.NoArgument(call.Tool, tokens[0], tool.Input.PropertyNames()).String())
	case m.Kind == catalog.MismatchMissing:
		return errors.New(isMissing(at, m.Want))
	}
	return errors.New(doesNotFit(at, m.Want))
}

func explainedBy(name, pattern string, passes []policy.Pass, r gateway.Ruling) explained {
	j := r.Judgment()
	e := explained{Policy: name, Pattern: pattern, Decision: j.Decision.String(), Rule: j.Rule, Reason: j.Reason, Text: j.Text, Need: r.Need, Args: r.Args}
	if strings.HasPrefix(j.Reason, "policy_error:") { // the rule has no text for this
		e.Text = ""
	}
	for _, p := range passes {
		of := explainedPass{Args: p.Args, Decision: p.Verdict.Decision.String(), Rule: p.Verdict.Rule, Rules: []explainedRule{}}
		for _, h := range p.Rules {
			of.Rules = append(of.Rules, explainedRule{h.Rule, h.Decision.String(), h.Is, h.Decided, h.Values})
		}
		e.Passes = append(e.Passes, of)
	}
	return e
}

func (a *Commands) printExplained(tool string, all []explained) (err error) {
	if a.JSON {
		err = a.PrintJSON(all)
	} else {
		var b strings.Builder
		for _, e := range all {
			b.WriteString(e.text(tool, a.TableWidth()))
		}
		err = a.Print(b.String())
	}
	return err
}

func (e explained) text(tool string, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, judged by %s", console.Clip(tool, console.MaxName), e.Policy)
	if e.Pattern != "" {
		b.WriteString(withParams(e.Pattern))
	}
	b.WriteByte('\n')
	for i, p := range e.Passes {
		fmt.Fprintf(&b, "pass %d %s\n", i+1, console.Part(string(ijson.Canonical(p.Args)), 2*console.MaxName, width))
		var rows [][]string
		for _, r := range p.Rules {
			mark := " "
			if r.Decided {
				mark = "*"
			}
			rows = append(rows, []string{mark + " " + r.Rule, r.Outcome, string(r.Is), strings.TrimPrefix(valueWords(r.Values, width), ", ")})
		}
		if len(rows) == 0 {
			rows = [][]string{{"  no rule matches"}}
		}
		b.WriteString(console.Columns(rows))
	}
	fmt.Fprintf(&b, "%s", e.Decision)
	if e.Reason != "" && e.Decision != gateway.Approve.String() {
		fmt.Fprintf(&b, " %s", e.Reason)
	}
	if e.Text != "" {
		fmt.Fprintf(&b, ": %s", console.Part(e.Text, 3*console.MaxName, width))
	}
	if len(e.Need) > 0 {
		fmt.Fprintf(&b, " Needs %s first.", strings.Join(e.Need, ", "))
	}
	b.WriteByte('\n')
	return b.String()
}
