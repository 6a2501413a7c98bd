package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"patterngate/server/cli/console"
)

// A tool that is exposed as it is is no pattern: validate counts it apart.
func TestValidateCountsPatterns(t *testing.T) {
	text := strings.Replace(paysConfig, "catalog:\n", "demo: {enabled: false}\ncatalog:\n  expose: [pay]\n", 1)
	text = text[:strings.Index(text, "patterns:\n")]
	code, out, errs := runCommand(t, []string{"HOME=" + t.TempDir()}, "validate", writeConfig(t, text))
	if code != console.ExitDone || !strings.Contains(out, "in order; 1 tool, 0 patterns, 1 exposed tool,") {
		t.Errorf("validate ends with %d: %s%s", code, out, errs)
	}
}

// policy diff counts the tests of the files, and not those of the policy that the program brings along.
func TestPolicyDiffCountsItsOwnTests(t *testing.T) {
	a, b := writeConfig(t, paysConfig), writeConfig(t, strings.Replace(paysConfig, "name: small", "name: little", 1))
	code, out, errs := runCommand(t, []string{"HOME=" + t.TempDir()}, "policy", "diff", "--state", ":memory:", "--json", a, b)
	var got struct{ Tests int }
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != console.ExitDone || got.Tests != 3 {
		t.Errorf("policy diff ends with %d and %d tests, want the 3 of the files (%v)\n%s%s", code, got.Tests, err, out, errs)
	}
	a, b = writeConfig(t, "version: 1\n"), writeConfig(t, "version: 1\nllm: {provider: rules}\n")
	if _, out, _ = runCommand(t, []string{"HOME=" + t.TempDir()}, "policy", "diff", "--state", ":memory:", a, b); strings.HasPrefix(out, "0 tests") {
		t.Errorf("files without a policy of their own are compared by nothing: %s", out)
	}
}

// One argument that no rule reads can be ignored; others still count.
func TestPolicyCoverageIgnoresOneArgument(t *testing.T) {
	text := strings.Replace(paysConfig, "to: {type: string}}", "to: {type: string}, note: {type: string}, memo: {type: string}}", 1)
	text = strings.ReplaceAll(text, "to: ann}", "to: ann, note: n, memo: m}")
	path := writeConfig(t, text)
	cover := func(args ...string) (code int, out string) {
		code, out, errs := runCommand(t, []string{"HOME=" + t.TempDir()}, append([]string{"policy", "coverage", "--state", ":memory:", "--config", path, "--ignore", "dead,shadowed,no_rule"}, args...)...)
		return code, out + errs
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"neither":          {nil, console.ExitFault, "pay.note"},
		"the way out":      {nil, console.ExitFault, "; add a rule, or --ignore pay.note\n"},
		"one":              {[]string{"--ignore", "pay.note"}, console.ExitFault, "; add a rule, or --ignore pay.memo\n"},
		"one, counted":     {[]string{"--ignore", "pay.note"}, console.ExitFault, "\n1 finding, 2 ignored\n"},
		"neither, counted": {nil, console.ExitFault, "\n2 findings, 1 ignored\n"},
		"both":             {[]string{"--ignore", "pay.note,pay.memo"}, console.ExitDone, "; ignored\n"},
		"both, counted":    {[]string{"--ignore", "pay.note,pay.memo"}, console.ExitDone, "\n0 findings, 3 ignored\n"},
		"calls":            {nil, console.ExitFault, ", 0 recorded calls, the rest variations\n"},
		"another tool":     {[]string{"--ignore", "paid.note,pay.memo"}, console.ExitUsage, "--ignore: no tool has the argument \"paid.note\"; did you mean pay.note?\n"},
		"a typo":           {[]string{"--ignore", "pay.not"}, console.ExitUsage, "did you mean pay.note?"},
		"a read argument":  {[]string{"--ignore", "pay.to"}, console.ExitFault, "pay.note"},
		"no such kind":     {[]string{"--ignore", "note"}, console.ExitUsage, "or TOOL.ARG for one unread argument"},
		"no argument":      {[]string{"--ignore", "pay."}, console.ExitUsage, "or TOOL.ARG for one unread argument"},
	} {
		if code, out := cover(tt.args...); code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("%s: ends with %d, want %d and %q:\n%s", name, code, tt.code, tt.want, out)
		}
	}
	_, out := cover("--ignore", "pay.note", "--json")
	var got struct {
		Findings []struct {
			Kind, Tool, Argument string
			Ignored              bool
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err, out)
	}
	for _, f := range got.Findings {
		if f.Kind == "unread" && f.Ignored != (f.Argument == "note") {
			t.Errorf("%s.%s: ignored is %t", f.Tool, f.Argument, f.Ignored)
		}
	}
}

// A configuration file in this directory that nothing names is not in use. Commands about the embedded configuration say so.
func TestFileThatIsNotInUseIsNoted(t *testing.T) {
	t.Chdir(t.TempDir())
	home := []string{"HOME=" + t.TempDir()}
	const note = "note: patterngate.yaml in this directory is not in use. This is the embedded configuration; to use the file, give --config patterngate.yaml\n"
	commands := [][]string{{"policy", "test"}, {"policy", "coverage", "--state", ":memory:"}, {"validate"}, {"tools"}}
	for _, args := range commands {
		if _, _, errs := runCommand(t, home, args...); strings.Contains(errs, note) {
			t.Errorf("%v: there is no such file: %s", args, errs)
		}
	}
	if err := os.WriteFile("patterngate.yaml", []byte(paysConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range commands {
		if _, _, errs := runCommand(t, home, args...); strings.Count(errs, note) != 1 {
			t.Errorf("%v: want the note once: %s", args, errs)
		}
		if _, _, errs := runCommand(t, append(home, "PATTERNGATE_CONFIG=patterngate.yaml"), args...); strings.Contains(errs, "not in use") {
			t.Errorf("%v: the file is in use: %s", args, errs)
		}
	}
}
