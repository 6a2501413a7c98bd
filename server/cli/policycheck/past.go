package policycheck

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"patterngate/server/assembly"

	"github.com/spf13/cobra"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/cli/console"
	"patterngate/server/cli/runs"
	"patterngate/server/cli/statefile"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/yamldoc"
)

// backtest is the result of judging recorded calls again, as --json shows it.
type backtest struct {
	Runs        int            `json:"runs"`
	Calls       int            `json:"calls"`
	Differences []difference   `json:"differences"`
	Elsewhere   []string       `json:"runs_ending_elsewhere"`
	Unjudged    map[string]int `json:"not_judged,omitempty"` // calls that cannot be judged again, by reason
}

func (a *Commands) policyBacktestCommand() *cobra.Command {
	var since, name string
	cmd := &cobra.Command{
		Use:   "backtest FILE",
		Short: "Judge recorded calls again with another configuration or policy",
		Long: "Reads the recorded calls and judges each one again with FILE. It shows which decisions change and which runs " +
			"would end differently. It makes no call.\n\n" +
			"FILE is a configuration. With --policy it is the file of one policy, and replaces that policy in the current " +
			"configuration.\n\n" +
			"Each call is judged with the calls before it as they really happened. After a changed decision, the rest of the " +
			"run is judged as if it had continued.\n\n" +
			"Exit codes: 0 no change, 1 changes, 2 a file cannot be read.",
		Example: "  patterngate policy backtest new.yaml --since 30d\n  patterngate policy backtest refunds.policy.yaml --policy refunds --json",
		Args:    console.One("policy backtest", "file", "patterngate policy backtest FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			from, err := console.TimeFlag("--since", since, time.Now())
			if err != nil {
				return err
			}
			d, err := a.declaredBy("policy backtest", args[0], name)
			if err != nil {
				return err
			}
			return a.WithRuns("policy backtest", func(state statefile.Runs) error {
				progress := a.Spin("judging the recorded calls")
				defer progress.Stop()
				past, n, err := readPast(state, from)
				if err != nil {
					return console.Fault("policy backtest", err)
				}
				result := past.backtest(d, n)
				progress.Stop()
				return a.printBacktest(result)
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only calls since this `TIME`: 30d, 24h or 2026-11-21")
	cmd.Flags().StringVar(&name, "policy", "", "`NAME` of the policy that FILE replaces")
	_ = cmd.RegisterFlagCompletionFunc("policy", a.completePolicies)
	return cmd
}

// declaredBy returns what a file declares. The file is a whole configuration, or one policy for the configuration in force.
func (a *Commands) declaredBy(what, file, name string) (*assembly.Declaration, error) {
	loaded, err := a.loadedBy(what, file, name)
	if err != nil {
		return nil, err
	}
	d, err := assembly.Declare(loaded, a.Environ)
	if err != nil {
		return nil, console.Fault(what, err)
	}
	return d, nil
}

// loadedBy loads a file. It is a whole configuration, or one policy for the configuration in force.
func (a *Commands) loadedBy(what, file, name string) (assembly.Loaded, error) {
	text, f := rules.ReadFile(file)
	if f.Reason != "" {
		return assembly.Loaded{}, console.Usage(what, errors.New(file+": "+f.String()), "patterngate "+what+" FILE")
	}
	in := a.Sources()
	if yamldoc.Read(file, text, &yamldoc.Faults{}).Member("version") != nil {
		in.Path = file
	} else {
		one, err := a.oneName(what, name)
		if err != nil {
			return assembly.Loaded{}, err
		}
		in.Instead = map[string]string{one: file}
	}
	loaded, warnings, err := assembly.Load(in, assembly.LoadOptions{Untested: true})
	a.Warn(warnings)
	if err != nil {
		return assembly.Loaded{}, a.Fault(err)
	}
	return loaded, nil
}

// oneName returns the named policy, or the only policy of the configuration's own.
func (a *Commands) oneName(what, name string) (string, error) {
	loaded, err := a.loadUntested(what, nil)
	if err != nil {
		return "", err
	}
	names := loaded.PolicyNames()
	if name != "" {
		if !slices.Contains(names, name) {
			return "", console.Usage(what, unknownPolicy(name, names), "--policy NAME")
		}
		return name, nil
	}
	own := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return loaded.PolicyNamed(n).Embedded })
	if len(own) == 1 {
		return own[0], nil
	}
	return "", console.Usage(what, errors.New(whichReplaced), "--policy "+strings.Join(names, ", --policy "))
}

// readPast reads all recorded runs. It reads also those from long before since, since a window can contain them.
func readPast(runs statefile.Reader, since time.Time) (*pastRuns, int, error) {
	past, n := &pastRuns{}, 0
	for page := (patterns.Page{Next: "first"}); page.Next != ""; {
		f := patterns.Filter{Limit: 100}
		if page.Next != "first" {
			f.Cursor = page.Next
		}
		var err error
		if page, err = runs.List(f); err != nil {
			return nil, 0, err
		}
		for _, row := range page.Rows {
			events, _, err := runs.Record(row.RunID)
			if errors.Is(err, patterns.ErrNoRun) {
				continue // the run was deleted in the meantime
			}
			if err != nil {
				return nil, 0, err
			}
			past.add(events, since)
			n++
		}
	}
	past.sort()
	return past, n, nil
}

// backtest judges all recorded calls with what d declares.
func (p *pastRuns) backtest(d *assembly.Declaration, runs int) backtest {
	out := backtest{Runs: runs, Differences: []difference{}, Elsewhere: []string{}}
	specs := map[string]patterns.Spec{}
	for _, spec := range d.Specs() {
		specs[spec.Name] = spec
	}
	for _, of := range p.proposals {
		spec, known := specs[of.Pattern]
		why, now := noPatternHere(of.Pattern), decided{}
		if known {
			now, why = p.again(spec, of)
		}
		if why != "" {
			if out.Unjudged == nil {
				out.Unjudged = map[string]int{}
			}
			out.Unjudged[why]++
			continue
		}
		out.Calls++
		tool, _ := spec.Catalog.Tool(of.Tool)
		was := wasDecided(of, tool, now)
		if !differs(was, now) {
			continue
		}
		row := difference{
			RunID: of.RunID, Pattern: of.Pattern, At: of.At.Format(time.RFC3339), Tool: cmp.Or(of.Tool, "final"), Was: was, Now: now, Ends: elsewhere(of, spec.Kind, now),
		}
		if row.Ends != "" && !slices.Contains(out.Elsewhere, of.RunID) {
			out.Elsewhere = append(out.Elsewhere, of.RunID)
		}
		out.Differences = append(out.Differences, row)
	}
	return out
}

func (a *Commands) printBacktest(t backtest) error {
	var err error
	if a.JSON {
		err = a.PrintJSON(t)
	} else {
		err = a.Print(t.text(a.TableWidth()))
	}
	if err == nil && len(t.Differences) > 0 {
		return console.ExitCode(console.ExitFault)
	}
	if err == nil {
		a.Next(console.AfterBacktest...)
	}
	return err
}

func (t backtest) text(width int) string {
	var b strings.Builder
	run := ""
	for _, d := range t.Differences {
		if d.RunID != run {
			run = d.RunID
			fmt.Fprintf(&b, "%s %s\n", run, console.Clip(d.Pattern, console.MaxName))
		}
		fmt.Fprintf(&b, "  %s %s: %s, was %s", d.At, console.Clip(d.Tool, console.MaxName), d.Now, d.Was)
		if d.Now.Rule != "" {
			fmt.Fprintf(&b, " (rule %s%s)", d.Now.Rule, valueWords(d.Now.Values, width))
		}
		b.WriteByte('\n')
		if d.Ends != "" {
			fmt.Fprintf(&b, "    %s\n", d.Ends)
		}
	}
	b.WriteString(judgedAgain(t.Calls, t.Runs, len(t.Differences), len(t.Elsewhere)))
	for _, why := range slices.Sorted(maps.Keys(t.Unjudged)) {
		fmt.Fprintf(&b, "not judged: %s, %s\n", console.Plural(t.Unjudged[why], "call"), why)
	}
	return b.String()
}

// valueWords returns the values that made a rule fire, for people.
func valueWords(values any, width int) string {
	named, _ := values.(map[string]any)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(named)) {
		fmt.Fprintf(&b, ", %s %s", name, console.Part(string(ijson.Canonical(named[name])), console.MaxName, width))
	}
	return b.String()
}

func (a *Commands) policyRecordCommand() *cobra.Command {
	var name string
	var only bool
	cmd := &cobra.Command{
		Use:   "record RUN",
		Short: "Turn the calls of a recorded run into tests of a policy",
		Long: "Makes one test for each call that the policy judged in the run: the proposed call, the calls before it, and the " +
			"decision.\n\n" +
			"The tests are added to the policy, in the configuration or in the policy's own file. Nothing else in the file " +
			"changes. A call with values that were recorded only as hashes makes no test.",
		Example: "  patterngate policy record 5d0c\n  patterngate policy record run_5d0c9a1e77b2f340 --policy refunds --print",
		Args:    console.One("policy record", "run", "patterngate runs list"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.WithRuns("policy record", func(state statefile.Runs) error {
				_, events, _, err := runs.RecordOf("policy record", state, args[0])
				if err != nil {
					return err
				}
				return a.recordRows(events, name, only)
			})
		},
	}
	cmd.Flags().StringVar(&name, "policy", "", "`NAME` of the policy; needed if several policies judge the run")
	cmd.Flags().BoolVar(&only, "print", false, "print the tests and change no file")
	_ = cmd.RegisterFlagCompletionFunc("policy", a.completePolicies)
	return cmd
}

// judgesBy reports whether a policy judges a tool's calls in a pattern.
func judgesBy(c assembly.Loaded, name, pattern, tool string) bool {
	p, _ := c.Pattern(pattern)
	return p.Judge == name || tool != "" && c.PolicyOf(tool) == name
}
