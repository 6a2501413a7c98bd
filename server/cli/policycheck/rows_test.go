package policycheck

import (
	"strings"
	"testing"
)

func TestAppendRows(t *testing.T) {
	row := map[string]any{"name": "run_1 no: 2", "call": map[string]any{"tool": "pay", "args": map[string]any{"cents": 5.0, "no": []any{"a b", nil, true}}}, "want": "block", "want_rule": "yes"}
	const written = `- {name: "run_1 no: 2", call: {tool: pay, args: {cents: 5, "no": ["a b", null, true]}}, want: block, want_rule: "yes"}` + "\n"
	tests := map[string]struct{ text, want, err string }{
		"behind rows": {
			"policies:\n  p:\n    tests:\n    - {name: a}\n    - name: b\n      want: block\n\n# the end\npatterns: {}\n",
			"policies:\n  p:\n    tests:\n    - {name: a}\n    - name: b\n      want: block\n    " + written + "\n# the end\npatterns: {}\n", ""},
		"in the last place": {"policies:\n  p:\n    tests:\n      - {name: a}", "policies:\n  p:\n    tests:\n      - {name: a}\n      " + written, ""},
		"the first": {"policies:\n  p:\n    rules:\n    - {id: a}\n    - id: b\n      approve: {}\nx: 1\n",
			"policies:\n  p:\n    rules:\n    - {id: a}\n    - id: b\n      approve: {}\n    tests:\n    " + written + "x: 1\n", ""},
		"before another member": {"policies:\n  p:\n    tests:\n    - {name: a}\n    rules: []\n", "policies:\n  p:\n    tests:\n    - {name: a}\n    " + written + "    rules: []\n", ""},
		"on one line":           {"policies: {p: {tests: [{name: a}]}}\n", "", `the tests of policies.p are not a block of lines that begin with "- "`},
		"an empty list":         {"policies:\n  p:\n    tests: []\n", "", `the tests of policies.p are not a block of lines that begin with "- "`},
		"a policy on one line":  {"policies:\n  p: {rules: []}\n", "", `the tests of policies.p are not a block of lines that begin with "- "`},
		"no such policy":        {"policies: {q: {}}\n", "", "there is no policies.p in pg.yaml"},
		"an anchored list":      {"policies:\n  p:\n    tests: &t\n    - {name: a}\n  q:\n    tests: *t\n", "", "the rows cannot be added to pg.yaml without changing something else in it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := appendRows("pg.yaml", tt.text, []string{"policies", "p"}, []map[string]any{row})
			said := ""
			if err != nil {
				said = err.Error()
			}
			if got != tt.want || said != tt.err {
				t.Errorf("%s\ngot:\n%s%s\nwant:\n%s%s", strings.ReplaceAll(tt.text, "\n", "|"), got, said, tt.want, tt.err)
			}
		})
	}
}
