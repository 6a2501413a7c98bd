package assembly

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patterngate/server/settings"
)

// What config show prints of patterns of the file's own loads to the same, also as JSON: fields read those above them, workers keep their
// order, and a figure of a kind that is over that of who calls the pattern is not said.
func TestOwnPatternsShownLoad(t *testing.T) {
	files := map[string]string{
		"fields and workers in their order": ownFile("a: " + ofKindOver("orchestrator", "workers: {z: {tool: find}, b: {tool: find}}",
			"aggregate: {fields: {zz: tasks.z.attempts, aa: fields.zz + 1}, health: [{is: red, when: fields.aa > 9}]}, input: {z: {type: string}, a: {type: string}}")),
		"a child whose kind has more time": ownFile("b: "+ofKindOver("routing", "routes: {x: {pattern: a}}", ""), "a: "+ofKind("orchestrator", "")),
		"a built-in child": "version: 1\ndemo: {enabled: true}\npatterns:\n  b: " +
			ofKindOver("routing", "routes: {x: {pattern: run_task_decomposition}}", "budget: {max_seconds: 10, max_tool_calls: 2}") + "\n",
		"vars in their order": ownFileOf("version: 1",
			"policies: {all: {params: {cap: 1000.0}, vars: {z: params.cap * 2.0, a: vars.z + 1.0}, rules: [{id: ok, when: vars.a > 0.0, approve: {}}]}}",
			"a: "+ofKind("supervisor", "policy: all")),
	}
	for name, text := range files {
		t.Run(name, func(t *testing.T) {
			loaded, _, err := Load(settings.Sources{Path: writeConfig(t, text)}, LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for format, shown := range map[string][]byte{"YAML": loaded.YAML(), "JSON": loaded.JSON()} {
				path := filepath.Join(t.TempDir(), "shown.yaml")
				if err := os.WriteFile(path, shown, 0o600); err != nil {
					t.Fatal(err)
				}
				again, _, err := Load(settings.Sources{Path: path}, LoadOptions{})
				if err != nil {
					t.Errorf("%s does not load: %v", format, err)
					continue
				}
				if again.Hash() != loaded.Hash() {
					t.Errorf("%s loads to another configuration", format)
				}
				if string(again.YAML()) != string(loaded.YAML()) {
					t.Errorf("%s is shown otherwise", format)
				}
			}
		})
	}
}

// What clients show of a schema has no character that turns text around.
func TestSchemasOfUnseenCharacters(t *testing.T) {
	for key, kind := range map[string]string{"input": "supervisor", "answer": "task_decomposition"} {
		for _, schema := range []string{
			`{x: {type: string, description: "a\u202Eb"}}`, `{x: {type: string, enum: ["a\u0007"]}}`,
			`{x: {type: object, properties: {"y\u2066": {type: string}}}}`, `{x: {type: string, default: "\u200F", optional: true}}`,
		} {
			_, _, err := Load(settings.Sources{Path: writeConfig(t, ownFile("a: "+ofKind(kind, key+": "+schema)))}, LoadOptions{})
			if err == nil || !strings.Contains(err.Error(), "which is invisible or changes the reading direction; remove it") {
				t.Errorf("%s: %s: %v", key, schema, err)
			}
		}
		loaded := ownFile("a: " + ofKind(kind, key+`: {x: {type: string, pattern: "^[^\u202e]*$", description: "two\nlines, 漢字"}}`))
		if _, _, err := Load(settings.Sources{Path: writeConfig(t, loaded)}, LoadOptions{}); err != nil {
			t.Errorf("%s: what is seen is refused: %v", key, err)
		}
	}
}

// Of a route of the demo the kind knows what its status says; only others decline by an expression where the file does not say.
func TestDemoRoutesDecline(t *testing.T) {
	loaded, _, err := Load(settings.Sources{Path: writeConfig(t, "version: 1\ndemo: {enabled: true}\npatterns:\n  a: "+
		ofKindOver("routing", `routes: {bill: {tool: billing_specialist}, told: {tool: sales_specialist, reroute: 'true'}, run: {pattern: run_orchestrator}}`, "")+"\n")}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reroute := declaredIn(t, loaded)["a"].Reroute
	if reroute["bill"] != nil || reroute["told"] == nil || reroute["run"] == nil {
		t.Errorf("reroute of %v", reroute)
	}
}
