package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// While a tool's schema is not known, what depends on it waits; what does not is a fault at once, whatever words are in it.
func TestPolicyOfHeldTools(t *testing.T) {
	text := func(when string) string {
		return `version: 1
catalog: {servers: {bank: {http: {url: 'https://bank.example/mcp'}, tools: {pay: {effect: write, policy: pays}}}}}
policies:
  pays:
    rules:
    - {id: cap, match: pay, when: '` + when + `', block: {}}
    - {id: pay, match: pay, approve: {}}
`
	}
	if _, warnings, err := loadText(t, text("sum(run.effects.map(e, e.args.cents)) > 5")); err != nil || !strings.Contains(allOf(warnings), "sum of dyn") {
		t.Errorf("types not known yet: %v, %v", err, warnings)
	}
	if _, _, err := loadText(t, text("dynasty > 5")); err == nil || !strings.Contains(err.Error(), "pg.yaml:6:36: policies.pays.rules.cap.when: no variable dynasty") {
		t.Errorf("a variable that there is not: %v", err)
	}
}

func allOf(faults []yamldoc.Fault) string {
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// Faults of the configuration and of policy files stand together, each file's by place.
func TestFaultsOfTwoFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("b.policy.yaml", "rules:\n- {id: a, wen: true, approve: {}}\n- {id: b, approve: {}, block: {}}\n")
	path := write("a.yaml", "version: 1\n"+
		"policies: {one: {file: b.policy.yaml}, two: {rules: [{id: x}]}}\n"+
		"patterns: {supervised_refund: {policy: one, budget: {max_stepz: 1}}}\n")
	_, _, err := Load(settings.Sources{Path: path}, LoadOptions{})
	if err == nil {
		t.Fatal("no fault")
	}
	var places []string
	for _, line := range strings.Split(err.Error(), "\n") {
		place := strings.SplitN(strings.TrimPrefix(line, dir+"/"), ":", 3)
		places = append(places, strings.Join(place[:2], ":"))
	}
	got := strings.Join(places, " ")
	if want := "a.yaml:2 a.yaml:3 b.policy.yaml:2 b.policy.yaml:3"; got != want {
		t.Errorf("faults at %s, want %s\n%v", got, want, err)
	}
}
