package assembly

import (
	"strings"
	"testing"

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
