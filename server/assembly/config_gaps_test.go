package assembly

import (
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/settings"
)

// What a policy leaves out is warned of, each with what to add; with all of it added the file is without these warnings.
func TestPolicyGapsAreWarnedOf(t *testing.T) {
	const file = `version: 1
catalog:
  http:
    look: {description: Looks., effect: read, input: {}, request: {method: GET, url: "https://a.example/x"}}
    pay: {description: Pays., effect: write, PHRASEinput: {cents: {type: integer}}, request: {method: POST, url: "https://a.example/x"}}
policies:
  money:
    rules:
    - {id: large, SAYmatch: [pay], when: args.cents > 100, escalate: {}}
    - {id: small, match: [pay], approve: {}}
RULESpatterns:
  desk: {kind: supervisor, title: Desk, description: Pays., tools: [look, pay], policy: money}
`
	told := func(phrase, say, rules string) (lines []string) {
		text := strings.NewReplacer("PHRASE", phrase, "SAY", say, "RULES", rules).Replace(file)
		_, warnings, err := loadText(t, text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for _, w := range warnings {
			lines = append(lines, w.String())
		}
		return lines
	}
	want := []string{
		`warning: pg.yaml:5:10: catalog.http.pay: a rule can ask a person about a call of pay, and it has no phrase; write phrase: TEXT, for example "booking room {room} for {nights} nights"`,
		`warning: pg.yaml:9:5: policies.money.rules: no rule matches look, so every call of it is blocked; write {id: pass_look, match: [look], approve: {}} to let it pass, or block it with a rule`,
		`warning: pg.yaml:9:5: policies.money.rules: no rule matches final, so every final answer is blocked; write {id: answer, match: [final], approve: {}}`,
		`warning: pg.yaml:9:7: policies.money.rules.large: the rule asks a person and does not say why; write say: TEXT, which the approver reads`,
	}
	if got := told("", "", ""); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("warnings:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	lines := "    - {id: pass_look, match: [look], approve: {}}\n    - {id: answer, match: [final], approve: {}}\n"
	if got := told(`phrase: "paying {cents} cents", `, "say: That is much., ", lines); got != nil {
		t.Errorf("with all that was asked for: %q", got)
	}
}

// A rule without match covers each tool for which its condition can be true, and never final. A tool that another pattern reaches, and a
// policy that nobody names, are no gaps. The rule to add has an id of its own, whatever the tool's name is.
func TestPolicyGapsAreTrue(t *testing.T) {
	const file = `version: 1
catalog:
  http:
    look: {description: Looks., effect: read, input: {}, request: {method: GET, url: "https://a.example/x"}}
    Pay-Out: {description: Pays., effect: write, phrase: paying, input: {}, request: {method: POST, url: "https://a.example/x"}}
    other: {description: Looks., effect: read, input: {}, request: {method: GET, url: "https://a.example/x"}}
policies:
  money:
    rules:
    RULE
  unused:
    rules:
    - {id: asks, match: other, say: Look., escalate: {}}
patterns:
  desk: {kind: supervisor, title: Desk, description: Pays., tools: [look, Pay-Out], policy: money}
  elsewhere: {kind: supervisor, title: Else, description: Looks., tools: [other]}
`
	final := "no rule matches final, so every final answer is blocked; write {id: answer, match: [final], approve: {}}"
	answers := "\n    - {id: ends, match: final, approve: {}}"
	for name, tt := range map[string]struct {
		rules string
		want  []string
	}{
		"no match, no condition": {"- {id: all, approve: {}}", []string{final}},
		"its id is taken":        {"- {id: answer, approve: {}}", []string{strings.Replace(final, "answer,", "answer2,", 1)}},
		"all is matched":         {"- {id: all, approve: {}}" + answers, nil},
		"false of what writes": {`- {id: reads, when: tool.effect == "read", approve: {}}` + answers,
			[]string{"no rule matches Pay-Out, so every call of it is blocked; write {id: pass_pay_out, match: [Pay-Out], approve: {}} to let it pass, or block it with a rule"}},
		"asks of what writes":   {`- {id: asks, when: tool.effect == "write", say: Look., escalate: {}}` + "\n    - {id: all, approve: {}}" + answers, nil},
		"depends on the params": {"- {id: all, when: params.open, approve: {}}" + answers, nil},
	} {
		text := strings.Replace(file, "RULE", tt.rules, 1)
		if strings.Contains(tt.rules, "params.") {
			text = strings.Replace(text, "  money:\n", "  money:\n    params: {open: false}\n", 1)
		}
		_, warnings, err := loadText(t, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, w := range warnings {
			if _, gap, is := strings.Cut(w.String(), ": policies.money.rules: "); is {
				got = append(got, gap)
			} else if !strings.Contains(w.String(), "no pattern and no tool uses this policy") && !strings.Contains(w.String(), "no policy judges it") {
				got = append(got, w.String())
			}
		}
		if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: warnings\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// The examples of policies have no gaps.
func TestExamplesHaveNoGaps(t *testing.T) {
	files, err := filepath.Glob("../../examples/policies/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	more, err := filepath.Glob("../../examples/*/patterngate.yaml")
	if err != nil || len(more) < 4 {
		t.Fatalf("%d examples, %v", len(more), err)
	}
	path := binaries(t, "shop", "mcp-server-filesystem")
	for _, file := range append(files, more...) {
		_, warnings, err := Load(settings.Sources{Path: file, Environ: []string{path}}, LoadOptions{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, w := range warnings {
			for _, gap := range []string{"no rule matches", "does not say why", "no phrase", "does not dial", "out of its directory"} {
				if strings.Contains(w.Reason, gap) {
					t.Errorf("%s: %v", file, w)
				}
			}
		}
	}
}

// The fault of a tool that is not declared is told once: no warning suggests a rule for it.
func TestUndeclaredToolIsNoPolicyGap(t *testing.T) {
	const file = `version: 1
catalog:
  http:
    look: {description: Looks., effect: read, input: {}, request: {method: GET, url: "https://a.example/x"}}
policies:
  money:
    rules:
    - {id: looks, match: look, approve: {}}
    - {id: ends, match: final, approve: {}}
patterns:
  desk: {kind: supervisor, title: Desk, description: Looks., tools: [look, lookk], policy: money}
`
	_, warnings, err := loadText(t, file)
	if err == nil || !strings.Contains(err.Error(), "no tool lookk") {
		t.Errorf("the fault is %v", err)
	}
	for _, w := range warnings {
		t.Errorf("a warning besides: %v", w)
	}
}
