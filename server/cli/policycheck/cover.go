package policycheck

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"patterngate/server/assembly"

	"github.com/spf13/cobra"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/ijson"
	"patterngate/patterns/record"
	"patterngate/server/cli/console"
)

// gap is one finding about a policy, as --json shows it.
type gap struct {
	Kind     string `json:"kind"` // no_rule, dead, shadowed, unread
	Policy   string `json:"policy,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Argument string `json:"argument,omitempty"`
	Evidence string `json:"evidence"`
	final    bool   // about a rule that matches final answers
	Ignored  bool   `json:"ignored,omitempty"` // by --ignore: does not count for the exit code
}

// ignoredBy reports whether a word of --ignore names the finding: by its kind, or an unread argument as TOOL.ARG.
func (f gap) ignoredBy(word string) bool {
	return word == f.Kind || f.Kind == findUnread && word == f.Tool+"."+f.Argument
}

// wayOut returns what a person can do about a finding.
func (f gap) wayOut() string {
	switch {
	case f.Ignored:
		return wasIgnored
	case f.Kind == findUnread:
		return addRule(f.Tool + "." + f.Argument)
	case f.Kind == findNoRule:
		return addRule(f.Kind)
	case f.final:
		return addFinalTest(f.Kind)
	}
	return addTest(f.Kind)
}

// checkIgnored refuses a word of --ignore that cannot name a finding.
func checkIgnored(words []string) error {
	for _, word := range words {
		tool, argument, one := strings.Cut(word, ".")
		if !slices.Contains(gapKinds, word) && (!one || tool == "" || argument == "") {
			return console.Usage("--ignore", errors.New("got "+console.Quoted(word)), "--ignore "+strings.Join(gapKinds, ", ")+", or TOOL.ARG for one unread argument")
		}
	}
	return nil
}

// checkNamed refuses a word of --ignore that names an argument which no tool has.
func checkNamed(words []string, l assembly.Loaded) error {
	all, err := l.RuledCatalog()
	if err != nil {
		return console.Wrap("policy coverage", err)
	}
	var arguments []string // TOOL.ARG
	for _, tool := range all.Names() {
		t, _ := all.Tool(tool)
		for _, argument := range t.Input.PropertyNames() {
			arguments = append(arguments, tool+"."+argument)
		}
	}
	for _, word := range words {
		tool, _, one := strings.Cut(word, ".")
		if !one || slices.Contains(arguments, word) {
			continue
		}
		if t, known := all.Tool(tool); known && len(t.Input.PropertyNames()) == 0 {
			continue // its arguments are not known
		}
		return console.Usage("--ignore", noArgument(console.Quoted(word), gateway.NearTyped(word, arguments)), "patterngate policy coverage")
	}
	return nil
}

// These are the kinds of findings.
const (
	findNoRule   = "no_rule"
	findDead     = "dead"
	findShadowed = "shadowed"
	findUnread   = "unread"
)

var gapKinds = []string{findNoRule, findDead, findShadowed, findUnread}

// coverage is the findings, and how many calls they are based on.
type coverage struct {
	Findings []gap                `json:"findings"`
	Policies map[string]coveredBy `json:"policies"`
}

type coveredBy struct {
	Tests    int                `json:"tests"`
	Recorded int                `json:"recorded_calls"`
	Judged   int                `json:"judged"` // including variations of the tests
	Rules    []policy.RuleCover `json:"rules"`
}

func (a *Commands) policyCoverageCommand() *cobra.Command {
	var ignore []string
	var since string
	cmd := &cobra.Command{
		Use:   "coverage [POLICY]...",
		Short: "Find tools without a rule, rules that never decide, unread arguments",
		Long: "Judges the tests of your policies, variations of them, and the recorded calls. Then it shows what none of them " +
			"reached:\n" +
			"  no_rule   a tool that a pattern can call, and no rule mentions\n" +
			"  dead      a rule that was never true\n" +
			"  shadowed  a rule that was true, but another rule always decided\n" +
			"  unread    an argument of a writing tool that no rule reads\n\n" +
			"Each finding has its evidence. More tests give fewer findings. A finding means that no test or call disproves " +
			"it.\n\n" +
			"Variations use other numbers near those in rules, other enum values, and other hours if a rule reads the time.\n\n" +
			"Exit codes: 0 no findings, 1 findings that --ignore does not name, 2 the configuration cannot be read.",
		Example: "  patterngate policy coverage\n  patterngate policy coverage refunds --ignore unread --json\n" +
			"  patterngate policy coverage refunds --ignore refund_charge.reason",
		ValidArgsFunction: a.completePolicies,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkIgnored(ignore); err != nil {
				return err
			}
			from, err := console.TimeFlag("--since", since, time.Now())
			if err != nil {
				return err
			}
			loaded, err := a.loadUntested("policy coverage", args)
			if err != nil {
				return err
			}
			if err := checkNamed(ignore, loaded); err != nil {
				return err
			}
			past, err := a.pastIfAny(from)
			if err != nil {
				return console.Wrap("policy coverage", err)
			}
			c, err := cover(loaded, args, past)
			if err != nil {
				return console.Fault("policy coverage", err)
			}
			return a.printCoverage(c, ignore)
		},
	}
	cmd.Flags().StringSliceVar(&ignore, "ignore", nil, "findings to ignore: a kind ("+strings.Join(gapKinds, ", ")+"), or TOOL.ARG for one unread argument")
	cmd.Flags().StringVar(&since, "since", "", "only recorded calls since this `TIME`: 30d, 24h or 2026-11-21")
	_ = cmd.RegisterFlagCompletionFunc("ignore", cobra.FixedCompletions(gapKinds, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// cover checks the named policies. Without names it checks all of the file's own policies, and finds tools that no policy
// judges.
func cover(l assembly.Loaded, names []string, past *pastRuns) (coverage, error) {
	c := coverage{Findings: []gap{}, Policies: map[string]coveredBy{}}
	all, err := l.RuledCatalog()
	if err != nil {
		return c, err
	}
	if len(names) == 0 {
		c.Findings = append(c.Findings, unjudged(l, all)...)
	}
	for i := range l.Policies {
		p := l.Policies[i].Whole()
		if !isMeant(l, p, names) {
			continue
		}
		made, _, err := l.CompiledPolicy(p)
		if err != nil {
			return c, err
		}
		found := made.Cover()
		found.Tests()
		by := coveredBy{Tests: len(p.Tests), Recorded: coverPast(l, found, made, p.Name, past)}
		by.Judged, by.Rules = found.Cases(), found.Rules()
		c.Policies[p.Name] = by
		c.Findings = append(c.Findings, gapsOf(p.Name, made, by, all)...)
	}
	return c, nil
}

// unjudged returns the tools that a pattern can call and that no policy judges.
func unjudged(l assembly.Loaded, all *catalog.Catalog) (list []gap) {
	for _, p := range l.Patterns {
		_, execution := p.Allows()
		if p.Kind == gateway.Call {
			execution = []string{p.Tool}
		}
		if !p.Enabled || !p.Equipped() || p.Judge != "" {
			continue
		}
		for _, name := range execution {
			t, known := all.Tool(name)
			if known && !t.Simulated && l.PolicyOf(name) == "" && !slices.ContainsFunc(list, func(f gap) bool { return f.Tool == name }) {
				list = append(list, gap{Kind: findNoRule, Tool: name, Evidence: mayCall(p.Name, string(t.Effect))})
			}
		}
	}
	return list
}

// coverPast judges the recorded calls that the policy judges. It returns their number.
func coverPast(l assembly.Loaded, found *policy.Cover, made *policy.Policy, name string, past *pastRuns) (n int) {
	for _, of := range past.proposals {
		if of.Hidden != "" || !judgesBy(l, name, of.Pattern, of.Tool) {
			continue
		}
		c := gateway.Case{Tool: of.Tool, Args: of.Args, Answer: of.Answer, Effects: of.Effects, Facts: of.Facts, Windows: map[string]gateway.Seen{}}
		tool := toolOrFinal(of.Tool)
		pattern := l.ParamsPattern(name, of.Pattern)
		for _, w := range made.For(pattern).Windows(tool) {
			c.Windows[w.Name] = past.window(w, of)
		}
		found.Add(pattern, c)
		n++
		if c.Args = changedByPerson(of); c.Args != nil {
			found.Add(pattern, c)
			n++
		}
	}
	return n
}

// changedByPerson returns the arguments of a call as its approver changed them, or nil. The policy judged them too.
func changedByPerson(of record.Proposal) map[string]any {
	switch {
	case of.Edited != nil:
		return of.Edited
	case of.Approved && of.Sent != nil && !ijson.Equal(of.Sent, of.Args):
		return of.Sent
	}
	return nil
}

// gapsOf returns what the tests and the recorded calls do not cover.
func gapsOf(name string, made *policy.Policy, by coveredBy, all *catalog.Catalog) (list []gap) {
	judged := judgedCalls(by)
	for _, tool := range made.Tools() {
		if len(made.RulesOf(tool)) == 0 {
			list = append(list, gap{Kind: findNoRule, Policy: name, Tool: tool, Evidence: noRuleMatches})
		}
	}
	for _, r := range by.Rules {
		f := gap{Policy: name, Rule: r.Rule}
		switch {
		case r.Cases == 0 && slices.Contains(made.RulesOf(toolOrFinal("")), r.Rule):
			f.Kind, f.Evidence, f.final = findDead, neverFinal, true
		case r.Cases == 0:
			f.Kind, f.Evidence = findDead, neverMatched
		case r.Dead():
			f.Kind, f.Evidence = findDead, falseInAll(r.Cases, judged)
		case r.Shadowed():
			f.Kind, f.Evidence = findShadowed, othersDecided(r.True, deciders(r.By), judged)
		default:
			continue
		}
		list = append(list, f)
	}
	for _, tool := range made.Tools() {
		t, known := all.Tool(tool)
		if !known || t.Effect == catalog.Read {
			continue
		}
		for _, argument := range made.Unread(tool) {
			list = append(list, gap{
				Kind: findUnread, Policy: name, Tool: tool, Argument: argument,
				Evidence: noneReads(tool, made.RulesOf(tool)),
			})
		}
	}
	return list
}

// deciders returns the rules that decided instead, the most frequent first.
func deciders(by map[string]int) string {
	names := slices.Sorted(maps.Keys(by))
	slices.SortStableFunc(names, func(a, b string) int { return by[b] - by[a] })
	for i, name := range names {
		if name == "" {
			names[i] = "no rule"
		}
	}
	return strings.Join(names, ", ")
}

func (a *Commands) printCoverage(c coverage, ignore []string) error {
	counts := false
	for i, f := range c.Findings {
		c.Findings[i].Ignored = slices.ContainsFunc(ignore, f.ignoredBy)
		counts = counts || !c.Findings[i].Ignored
	}
	var err error
	if a.JSON {
		err = a.PrintJSON(c)
	} else {
		err = a.Print(c.text())
	}
	if err == nil && counts {
		return console.ExitCode(console.ExitFault)
	}
	return err
}

func (c coverage) text() string {
	var b strings.Builder
	ignored := 0
	for _, f := range c.Findings {
		about := f.Tool
		switch {
		case f.Rule != "":
			about = "rule " + f.Rule
		case f.Argument != "":
			about += "." + f.Argument
		}
		if f.Policy != "" {
			about = f.Policy + ": " + about
		}
		if f.Ignored {
			ignored++
		}
		fmt.Fprintf(&b, "%-8s  %s: %s; %s\n", f.Kind, about, f.Evidence, f.wayOut())
	}
	for _, name := range slices.Sorted(maps.Keys(c.Policies)) {
		by := c.Policies[name]
		decide := 0
		for _, r := range by.Rules {
			if r.Decided > 0 {
				decide++
			}
		}
		b.WriteString(decides(name, decide, by))
	}
	b.WriteString(found(len(c.Findings)-ignored, ignored))
	return b.String()
}
