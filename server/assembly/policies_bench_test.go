package assembly

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/settings"
)

// BenchmarkLoadPolicies loads a file with a policy of 100 rules over 200 tools of their own arguments, and the same tools without
// one: the difference is what reading and type-checking the policy takes. The aim is 75 ms.
func BenchmarkLoadPolicies(b *testing.B) {
	var tools, names, rules strings.Builder
	for i := range 200 {
		fmt.Fprintf(&tools, "    tool_%d:\n      description: Pays.\n      effect: write\n      policy: pays\n      request: {method: POST, url: 'https://a.example/%d'}\n"+
			"      input: {id: {type: string}, amount_%d: {type: integer, minimum: 1}, cents: {type: integer}}\n", i, i, i)
		fmt.Fprintf(&names, "tool_%d, ", i)
	}
	for i := range 100 {
		fmt.Fprintf(&rules, "    - {id: rule_%d, match: [tool_%d, tool_%d], when: 'args.cents + vars.spent > params.cap && args.id != \"%d\"', block: {}}\n", i, 2*i, 2*i+1, i)
	}
	plain := "version: 1\ncatalog:\n  http:\n" + strings.ReplaceAll(tools.String(), "      policy: pays\n", "") + "patterns: {run_task_decomposition: {tools: [" + names.String() + "]}}\n"
	with := "version: 1\ncatalog:\n  http:\n" + tools.String() + "patterns: {run_task_decomposition: {tools: [" + names.String() + "], policy: pays}}\n" +
		"policies:\n  pays:\n    params: {cap: 5}\n    vars: {spent: 'sum(run.effects.filter(e, e.counts).map(e, e.args.cents))'}\n    rules:\n" + rules.String()
	for name, text := range map[string]string{"without": plain, "with": with} {
		path := filepath.Join(b.TempDir(), "pg.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Load(settings.Sources{Path: path}, LoadOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
