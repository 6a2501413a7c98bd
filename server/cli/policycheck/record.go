package policycheck

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"patterngate/server/assembly"

	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/settings/rules"
)

// recordRows makes tests from a run's calls and adds them to the policy that judged them.
func (a *Commands) recordRows(events []patterns.Event, name string, only bool) error {
	const what = "policy record"
	loaded, err := a.loadUntested(what, nil)
	if err != nil {
		return err
	}
	all, err := loaded.RuledCatalog()
	if err != nil {
		return console.Fault(what, err)
	}
	proposals := record.Read(events).Proposals()
	if name, err = judgeOf(loaded, proposals, name); err != nil {
		return console.Usage(what, err, "--policy NAME")
	}
	p := loaded.PolicyNamed(name)
	made, _, err := loaded.CompiledPolicy(p)
	if err != nil {
		return console.Fault(what, err)
	}
	var rows []map[string]any
	left := map[string]int{}
	for i, of := range proposals {
		if !judgesBy(loaded, name, of.Pattern, of.Tool) || !of.Reviewed() {
			continue
		}
		if of.Hidden != "" {
			left[of.Hidden]++
			continue
		}
		tool, _ := all.Tool(of.Tool)
		args, _ := tool.Proposed(of.Args)
		row := policyRowOf(of, args)
		row.Name = fmt.Sprintf("%s %d %s", of.RunID, i+1, row.Call.Tool)
		if slices.ContainsFunc(p.Tests, func(r policy.Row) bool { return r.Name == row.Name }) {
			left[alreadyTest]++
			continue
		}
		row.Pattern = loaded.ParamsPattern(name, of.Pattern)
		switch result := made.Test(row); {
		case result.Err != nil:
			left[notRunHere(result.Err.Error())]++
		case !result.Passed:
			left[nowDiffers]++
		default:
			written := testRow(row.Name, of, args)
			if row.Pattern != "" {
				written["pattern"] = row.Pattern
			}
			rows = append(rows, written)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintln(a.Err, noTestOf(what, left[why], why))
	}
	if len(rows) == 0 {
		return console.Fault(what, errors.New(noTestPossible))
	}
	return a.addRows(loaded, p, rows, only)
}

// judgeOf returns the policy that gets the tests of a run's calls: the named one, or the only one that judged them.
func judgeOf(l assembly.Loaded, proposals []record.Proposal, name string) (string, error) {
	if name != "" {
		if l.PolicyNamed(name) == nil {
			return "", unknownPolicy(name, l.PolicyNames())
		}
		return name, nil
	}
	var names []string
	for _, of := range proposals {
		for _, n := range l.PolicyNames() {
			if judgesBy(l, n, of.Pattern, of.Tool) && !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	switch len(names) {
	case 0:
		return "", errors.New(noPolicyOfRun)
	case 1:
		return names[0], nil
	}
	return "", errors.New(callsJudgedBy(names))
}

// policyRowOf returns a recorded proposal as a test.
func policyRowOf(p record.Proposal, args map[string]any) policy.Row {
	row := policy.Row{
		Call: policy.RowCall{Tool: p.Tool, Args: args}, Principal: p.Facts.Principal, Client: p.Facts.Client, Now: p.Facts.Now,
		Want: decisionOf(p.Decision), WantRule: p.Rule,
	}
	if p.Tool == "" {
		row.Call = policy.RowCall{Tool: "final", Args: map[string]any{"answer": p.Answer}}
	}
	if p.Blocked() {
		row.WantReason = p.Reason
	}
	for _, e := range p.Effects {
		effect := policy.RowEffect{Tool: e.Tool, Status: e.Status, Args: e.Args, SecondsAgo: max(0, p.Facts.Now.Sub(e.At).Round(1e9).Seconds())}
		if e.Status == gateway.Finished {
			effect.Result, _ = e.Observation.(map[string]any)
			ok := e.OK()
			effect.OK = &ok
		}
		row.Effects = append(row.Effects, effect)
	}
	return row
}

func decisionOf(word string) gateway.Decision {
	for _, d := range []gateway.Decision{gateway.Approve, gateway.Revise, gateway.Escalate} {
		if d.String() == word {
			return d
		}
	}
	return gateway.Block
}

// addRows writes tests into the file of the policy.
func (a *Commands) addRows(l assembly.Loaded, p *rules.Policy, rows []map[string]any, only bool) error {
	const what = "policy record"
	if only {
		var b strings.Builder
		for _, row := range rows {
			b.WriteString("- " + flowYAML(row) + "\n")
		}
		return a.Print(b.String())
	}
	file, text, steps := l.Path, l.Text, []string{"policies", p.Name}
	if p.File != "" {
		file, text, steps = p.File, p.Text, nil
	}
	if p.Embedded || file == "" {
		return console.Usage(what, errors.New(isEmbedded(p.Name)), "patterngate policy record RUN --print")
	}
	after, err := appendRows(file, string(text), steps, rows)
	if err != nil {
		return console.Usage(what, err, addByHand)
	}
	in := a.Sources()
	in.Texts = map[string][]byte{file: []byte(after)}
	if _, _, err := assembly.Load(in, assembly.LoadOptions{}); err != nil { // servers must load the configuration again
		_ = a.Fault(err)
		return console.Usage(what, errors.New(fileNotChanged), addByHand)
	}
	if err := replaceText(file, string(text), after); err != nil {
		return console.Fault(what, err)
	}
	return a.Print(rowsAdded(file, len(rows), p.Name))
}

// replaceText replaces the whole text of a file and keeps its permissions. It returns an error if the file was changed
// since it was read.
func replaceText(path, before, after string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(real)
	if err != nil {
		return err
	}
	f := clientfile.File{Path: path, Real: real, Info: info, Text: []byte(before)}
	if f.ReadOnly() {
		return fmt.Errorf("%s is read-only", path)
	}
	return f.Write([]byte(after))
}
