package policycheck

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"patterngate/server/assembly"

	"github.com/spf13/cobra"

	"patterngate/gateway/policy"
	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/statefile"
)

// policyDiff holds the differences between the decisions of two files, as --json shows them.
type policyDiff struct {
	Tests int         `json:"tests"`
	Calls int         `json:"calls"`
	Rows  []diffRow   `json:"differences"`
	Only  []onlyInOne `json:"only_in_one,omitempty"`
}

// diffRow is a test or a recorded call.
type diffRow struct {
	Policy string  `json:"policy,omitempty"` // of a test
	Test   string  `json:"test,omitempty"`
	RunID  string  `json:"run_id,omitempty"` // of a recorded call
	At     string  `json:"at,omitempty"`
	Tool   string  `json:"tool"`
	A      decided `json:"a"`
	B      decided `json:"b"`
}

// onlyInOne is a policy that only one of the files has.
type onlyInOne struct {
	Policy string `json:"policy"`
	File   string `json:"file"`
}

func (a *Commands) policyDiffCommand() *cobra.Command {
	var since, name string
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Show where two configurations or policies decide differently",
		Long: "Runs the tests of both files and the recorded calls against both files, and shows each different decision. It " +
			"makes no call.\n\n" +
			"A and B are configurations. With --policy they are files of one policy, and replace that policy in the current " +
			"configuration.\n\n" +
			"Exit codes: 0 no difference, 1 differences, 2 a file cannot be read.",
		Example: "  patterngate policy diff pg.yaml new.yaml\n  patterngate policy diff old.policy.yaml new.policy.yaml --policy refunds",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return console.Usage("policy diff", fmt.Errorf("got %s", console.Plural(len(args), "file")), "patterngate policy diff A B")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			from, err := console.TimeFlag("--since", since, time.Now())
			if err != nil {
				return err
			}
			var sides [2]diffSide
			for i, file := range args {
				if sides[i].Loaded, err = a.loadedBy("policy diff", file, name); err == nil {
					sides[i].Declaration, err = assembly.Declare(sides[i].Loaded, a.Environ)
				}
				if err != nil {
					return console.Wrap("policy diff", err)
				}
				sides[i].file = file
			}
			past, err := a.pastIfAny(from)
			if err != nil {
				return console.Wrap("policy diff", err)
			}
			d, err := diffOf(sides[0], sides[1], past)
			if err != nil {
				return console.Fault("policy diff", err)
			}
			return a.printDiff(d)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only recorded calls since this `TIME`: 30d, 24h or 2026-11-21")
	cmd.Flags().StringVar(&name, "policy", "", "`NAME` of the policy that both files replace")
	_ = cmd.RegisterFlagCompletionFunc("policy", a.completePolicies)
	return cmd
}

// diffSide is one of two files.
type diffSide struct {
	assembly.Loaded
	*assembly.Declaration
	file string
}

// pastIfAny returns the recorded runs. Without a state file it returns none.
func (a *Commands) pastIfAny(since time.Time) (*pastRuns, error) {
	past := &pastRuns{}
	err := a.WithRuns("policy diff", func(runs statefile.Runs) (err error) {
		past, _, err = readPast(runs, since)
		return err
	})
	if refused, ok := errors.AsType[*console.Error](err); ok && refused.Code == console.ExitUsage { // there is no state file
		return past, nil
	}
	return past, err
}

// diffOf compares two files with the tests of both and with the recorded calls.
func diffOf(a, b diffSide, past *pastRuns) (policyDiff, error) {
	d := policyDiff{Rows: []diffRow{}}
	if err := d.tests(a, b); err != nil {
		return d, err
	}
	specs := func(of diffSide, name string) (patterns.Spec, bool) {
		for _, spec := range of.Declaration.Specs() {
			if spec.Name == name {
				return spec, true
			}
		}
		return patterns.Spec{}, false
	}
	for _, of := range past.proposals {
		inA, okA := specs(a, of.Pattern)
		inB, okB := specs(b, of.Pattern)
		if !okA || !okB {
			continue
		}
		wasA, whyA := past.again(inA, of)
		wasB, whyB := past.again(inB, of)
		if whyA != "" || whyB != "" {
			continue
		}
		d.Calls++
		if differs(wasA, wasB) {
			d.Rows = append(d.Rows, diffRow{RunID: of.RunID, At: of.At.Format(time.RFC3339), Tool: toolOrFinal(of.Tool), A: wasA, B: wasB})
		}
	}
	return d, nil
}

// decidedOrErr returns the decision of a test. If the test cannot run in a file, the decision says so.
func decidedOrErr(r policy.Result) decided {
	if r.Err != nil {
		return decided{Decision: "cannot be run", Reason: r.Err.Error()}
	}
	return decidedBy(r.Got)
}

func toolOrFinal(tool string) string {
	if tool == "" {
		return "final"
	}
	return tool
}

// tests runs the tests of both files with both files.
func (d *policyDiff) tests(a, b diffSide) error {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.PolicyNames(), b.PolicyNames())))) {
		inA, inB := a.PolicyNamed(name), b.PolicyNamed(name)
		switch {
		case inA == nil:
			d.Only = append(d.Only, onlyInOne{name, b.file})
			continue
		case inB == nil:
			d.Only = append(d.Only, onlyInOne{name, a.file})
			continue
		case a.Loaded.IsDemoPolicy(inA) && b.Loaded.IsDemoPolicy(inB) && len(a.Policies)+len(b.Policies) > 2:
			continue // for files with policies of their own, compare only these
		}
		inA, inB = inA.Whole(), inB.Whole()
		madeA, _, err := a.CompiledPolicy(inA)
		if err != nil {
			return err
		}
		madeB, _, err := b.CompiledPolicy(inB)
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, row := range slices.Concat(inA.Tests, inB.Tests) {
			key := fmt.Sprintf("%+v", row)
			if seen[key] {
				continue
			}
			seen[key] = true
			d.Tests++
			ra, rb := madeA.Test(row), madeB.Test(row)
			if byA, byB := decidedOrErr(ra), decidedOrErr(rb); differs(byA, byB) {
				d.Rows = append(d.Rows, diffRow{Policy: name, Test: row.Name, Tool: row.Call.Tool, A: byA, B: byB})
			}
		}
	}
	return nil
}

func (a *Commands) printDiff(d policyDiff) error {
	var err error
	if a.JSON {
		err = a.PrintJSON(d)
	} else {
		err = a.Print(d.text())
	}
	if err == nil && len(d.Rows)+len(d.Only) > 0 {
		return console.ExitCode(console.ExitFault)
	}
	return err
}

func (d policyDiff) text() string {
	var b strings.Builder
	for _, o := range d.Only {
		b.WriteString(onlyIn(console.Clip(o.Policy, console.MaxName), o.File))
	}
	for _, r := range d.Rows {
		if r.RunID != "" {
			b.WriteString(differentRun(r.RunID, r.At, console.Clip(r.Tool, console.MaxName), r.A, r.B))
			continue
		}
		b.WriteString(differentTest(console.Clip(r.Policy, console.MaxName), console.Clip(r.Test, console.MaxName), console.Clip(r.Tool, console.MaxName), r.A, r.B))
	}
	b.WriteString(judgedByBoth(d.Tests, d.Calls, len(d.Rows)))
	return b.String()
}
