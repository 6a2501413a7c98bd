package policycheck

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"patterngate/server/assembly"
	"patterngate/server/settings"

	"github.com/spf13/cobra"

	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/ijson"
	"patterngate/server/cli/console"
	"patterngate/server/cli/runs"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/yamldoc"
)

// Commands has what the commands need that test and explain policies. All fields are needed.
type Commands struct {
	*console.Console
	*statefile.Opener
	Sources func() settings.Sources // returns where the configuration is looked for
	Warn    func([]yamldoc.Fault)   // prints warnings about a configuration
	Fault   func(error) error       // makes the error of a configuration that does not load
	Loaded  func(assembly.Loaded)   // notes a file in this directory that is not in use; nil: no notes
}

// Command returns the command "policy".
func (a *Commands) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Test policies, explain decisions, and compare changes",
		Long: "A policy is a list of rules that judge every call (docs/policies.md).\n\n" +
			"These commands make no call. Only \"record\" changes a file: it adds tests to it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.policyTestCommand(), a.policyExplainCommand(), a.policyCoverageCommand(), a.policyBacktestCommand(), a.policyDiffCommand(), a.policyRecordCommand())
	runs.Complete(a.Opener, cmd)
	return cmd
}

// policyRow is the result of a test, as --json shows it.
type policyRow struct {
	Policy   string   `json:"policy"`
	Name     string   `json:"name"`
	Passed   bool     `json:"passed"`
	Got      decided  `json:"got"`
	Differs  string   `json:"differs,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

func (a *Commands) policyTestCommand() *cobra.Command {
	junit := ""
	cmd := &cobra.Command{
		Use:   "test [POLICY]...",
		Short: "Run the tests of your policies",
		Long: "Runs the tests of all policies of the configuration, or of the named ones. Patterngate also runs them each time " +
			"it loads the file, and does not load a file with a failing test.\n\n" +
			"A test uses the params of the policy. A test without a pattern also runs with the params of each pattern; a " +
			"different decision there is a warning.\n\n" +
			"Exit codes: 0 all tests pass, 1 a test fails, 2 the configuration cannot be read.",
		Example:           "  patterngate policy test\n  patterngate policy test refunds --junit policy.xml\n  patterngate policy test --config pg.yaml --json",
		ValidArgsFunction: a.completePolicies,
		RunE: func(_ *cobra.Command, args []string) error {
			loaded, err := a.loadUntested("policy test", args)
			if err != nil {
				return err
			}
			rows, err := testPolicies(loaded, args)
			if err != nil {
				return console.Fault("policy test", err)
			}
			if junit != "" {
				if err := writeJUnit(junit, rows); err != nil {
					return console.Fault("--junit", err)
				}
			}
			return a.printTests(rows)
		},
	}
	cmd.Flags().StringVar(&junit, "junit", "", "also write the results as JUnit XML to this `FILE`")
	return cmd
}

// loadUntested loads the configuration, even if tests of its policies fail. It returns an error if one of the named
// policies does not exist.
func (a *Commands) loadUntested(what string, policies []string) (assembly.Loaded, error) {
	loaded, warnings, err := assembly.Load(a.Sources(), assembly.LoadOptions{Untested: true})
	a.Warn(warnings)
	if err != nil {
		return assembly.Loaded{}, a.Fault(err)
	}
	if a.Loaded != nil {
		a.Loaded(loaded)
	}
	for _, name := range policies {
		if loaded.PolicyNamed(name) == nil {
			return assembly.Loaded{}, console.Usage(what, unknownPolicy(name, loaded.PolicyNames()), "patterngate policy test")
		}
	}
	return loaded, nil
}

func unknownPolicy(name string, names []string) error { return noSuch("policy", name, names) }

// noSuch returns the error of a name that does not exist, with a similar name or all names.
func noSuch(what, name string, names []string) error {
	text := "no " + what + " " + console.Quoted(name)
	if near := gateway.NearTyped(name, names); near != "" {
		return errors.New(text + "; did you mean " + near + "?")
	}
	return errors.New(text + " (" + strings.Join(names, ", ") + ")")
}

func (a *Commands) completePolicies(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	loaded, _, err := assembly.Load(a.Sources(), assembly.LoadOptions{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return loaded.PolicyNames(), cobra.ShellCompDirectiveNoFileComp
}

// testPolicies runs the tests of the named policies, or of all.
func testPolicies(l assembly.Loaded, names []string) ([]policyRow, error) {
	rows := []policyRow{}
	for i := range l.Policies {
		p := l.Policies[i].Whole()
		if !isMeant(l, p, names) {
			continue
		}
		made, patterns, err := l.CompiledPolicy(p)
		if err != nil {
			return nil, err
		}
		for _, row := range p.Tests {
			rows = append(rows, testedRow(p.Name, made, row, patterns))
		}
	}
	return rows, nil
}

// isMeant reports whether a command with these policy names is about a policy. Without names it is about all policies. It
// leaves out the embedded one if the file has others.
func isMeant(l assembly.Loaded, p *rules.Policy, names []string) bool {
	if len(names) > 0 {
		return slices.Contains(names, p.Name)
	}
	return !l.IsDemoPolicy(p) || len(l.Policies) == 1
}

// testedRow runs one test. If the test names no pattern, it also runs with the params of each pattern, which the test's own
// replace.
func testedRow(name string, made *policy.Policy, row policy.Row, patterns []string) policyRow {
	got := made.Test(row)
	out := policyRow{Policy: name, Name: row.Name, Passed: got.Passed, Got: decidedBy(got.Got), Differs: got.Differ}
	if got.Err != nil {
		out.Differs = notRun(got.Err.Error())
		return out
	}
	if row.Pattern != "" {
		return out
	}
	for _, pattern := range patterns {
		row.Pattern = pattern
		under := made.Test(row)
		if under.Err == nil && differs(decidedBy(got.Got), decidedBy(under.Got)) {
			out.Warnings = append(out.Warnings, differsWith(pattern, decidedBy(under.Got), decidedBy(got.Got)))
		}
	}
	return out
}

// decidedBy returns the decision of a review, as commands show it.
func decidedBy(r gateway.Ruling) decided {
	j := r.Judgment()
	d := decided{Decision: j.Decision.String(), Rule: j.Rule, Reason: j.Reason}
	if len(j.Values) > 0 {
		d.Values = j.Values
	}
	if len(r.Revisions) > 0 && r.Decision != gateway.Block {
		d.Args = r.Args
	}
	if r.Decision == gateway.Escalate {
		d.Expires, d.Least = r.Expires.Seconds(), string(r.Least)
	}
	return d
}

func (d decided) String() string {
	text := d.Decision
	if d.Decision == "block" || d.Decision == "escalate" {
		text += " " + d.Reason
	}
	if d.Args != nil {
		text += " as " + console.OneLine(ijson.Canonical(d.Args), 2*console.MaxName)
	}
	if d.Least != "" {
		text += ", " + d.Least
	}
	if d.Expires > 0 {
		text += ", within " + yamldoc.NumberText(d.Expires) + " s"
	}
	return text
}

// printTests prints the results of tests. The error holds the exit code.
func (a *Commands) printTests(rows []policyRow) error {
	failed, warned := 0, 0
	var b strings.Builder
	for _, r := range rows {
		word := "ok   "
		if !r.Passed {
			word = "FAIL "
			failed++
		}
		fmt.Fprintf(&b, "%s %s: %s", word, console.Clip(r.Policy, console.MaxName), console.Clip(r.Name, 2*console.MaxName))
		if r.Differs != "" {
			b.WriteString(": " + console.VisibleLines(r.Differs))
		}
		b.WriteByte('\n')
		for _, w := range r.Warnings {
			warned++
			fmt.Fprintf(&b, "      warning: %s\n", w)
		}
	}
	fmt.Fprintf(&b, "%s, %d failed", console.Plural(len(rows), "test"), failed)
	if warned > 0 {
		fmt.Fprintf(&b, ", %s", console.Plural(warned, "warning"))
	}
	b.WriteByte('\n')
	var err error
	if a.JSON {
		err = a.PrintJSON(rows)
	} else {
		err = a.Print(b.String())
	}
	if err == nil && failed > 0 {
		return console.ExitCode(console.ExitFault)
	}
	if err == nil {
		a.Next(console.AfterPolicyTest...)
	}
	return err
}

// These are the parts of a JUnit file that all readers understand.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure,omitempty"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
	}
)

func writeJUnit(path string, rows []policyRow) error {
	var all junitSuites
	for _, r := range rows {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != r.Policy {
			all.Suites = append(all.Suites, junitSuite{Name: r.Policy})
		}
		s := &all.Suites[len(all.Suites)-1]
		c := junitCase{Class: r.Policy, Name: r.Name, Out: strings.Join(r.Warnings, "\n")}
		if s.Tests++; !r.Passed {
			s.Failures++
			c.Failure = &junitFailure{r.Differs}
		}
		s.Cases = append(s.Cases, c)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(text, '\n')...), 0o644)
}
