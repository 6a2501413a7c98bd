package planning_test

import (
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
)

// FuzzParseSubtasks: whatever is proposed is refused with a reason of the registry and a bounded list of problems, or what
// holds of accepted plans holds of it.
func FuzzParseSubtasks(f *testing.F) {
	for _, text := range []string{
		subtasksOf(sub("a", kpis), sub("b", deps("a"), `"args":{"x":"$results.a./orders"}`)), subtasksOf(sub("p"), sub("c", `"parent":"p"`), sub("d", deps("p"))),
		subtasksOf(sub("a", deps("b")), sub("b", deps("a"))), subtasksOf(sub("a", `"expect":{"type":"object","required":["n"]}`), sub("a"), sub("b", deps("zz", "b"), `"tool":"rm"`)),
		`{"kind":"plan","planning_complete":true,"subtasks":[]}`, subtasksOf(sub("n", deps("k", "e"), `"args":{"a":["$results.e./n","$$"]}`)), subtasksOf("{}", "1"),
		"- [ ] a\n1. [x] b", "x", "{", "",
	} {
		f.Add(text)
	}
	all := map[string]planning.Rules{}
	for _, what := range []string{"flat", "llm", "hierarchical", "execute", "round", "replan"} {
		all[what] = planRulesOf(f, what)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, rules := range all {
			for _, in := range []document.Intent{document.ReadReply(text), document.FromText(text, "/plan")} {
				doc, refusal := planning.ParseSubtasks(in, rules)
				if refusal == nil {
					holds(t, name, doc, rules)
					continue
				}
				if row, known := stopreason.Lookup(refusal.Reason); !known || !row.Occurs(gateway.Planning, "plan") && !row.Occurs(gateway.Planning, "replan") {
					t.Fatalf("%s: ParseSubtasks(%q) is refused for %s, no row of the registry", name, text, refusal.Reason)
				}
				if n := len(refusal.Problems); n == 0 || n > 51 || rules.Family+":"+refusal.Problems[0].Reason != refusal.Reason {
					t.Fatalf("%s: ParseSubtasks(%q) = %s with %d problems", name, text, refusal.Reason, n)
				}
				if has := slices.ContainsFunc(refusal.Problems, func(p document.Problem) bool { return p.Reason == "cycle_detected" }); has != (refusal.Cycle != nil) && len(refusal.Problems) < 51 {
					t.Fatalf("%s: ParseSubtasks(%q): cycle %v", name, text, refusal.Cycle)
				}
			}
		}
	})
}

// holds checks what every accepted plan must be.
func holds(t *testing.T, name string, doc planning.Document, rules planning.Rules) {
	t.Helper()
	ids := map[string]bool{}
	for _, s := range rules.Earlier {
		ids[s.ID] = true
	}
	if n := len(doc.Subtasks); n+len(rules.Earlier) > rules.Max || n == 0 && !(doc.Complete && rules.MayEnd) {
		t.Fatalf("%s: %d subtasks", name, n)
	}
	for _, s := range doc.Subtasks {
		if ids[s.ID] || slices.Contains(rules.Used, s.ID) {
			t.Fatalf("%s: %s stands twice", name, s.ID)
		}
		ids[s.ID] = true
	}
	for _, s := range doc.Subtasks {
		allowed := slices.Contains(rules.Allowed, s.Tool) || s.Tool == planning.CallerExecutor || s.Tool == planning.ModelExecutor && rules.LLM
		if !allowed || s.Args == nil || s.Dependencies == nil || s.Parent != "" && !ids[s.Parent] || ijson.Blank(s.Description) {
			t.Fatalf("%s: accepted %+v", name, s)
		}
		for _, d := range s.Dependencies {
			if !ids[d] || d == s.ID {
				t.Fatalf("%s: %s depends on %s", name, s.ID, d)
			}
		}
	}
	plan := slices.Concat(rules.Earlier, doc.Subtasks)
	g := planning.NewGraph(plan)
	for i := range plan {
		for _, d := range g.Before(i) {
			if g.Level(d) >= g.Level(i) {
				t.Fatalf("%s: %s waits for %s of no lower level", name, plan[i].ID, plan[d].ID)
			}
		}
	}
}

// FuzzChecklists: a checklist has an item for each line that is one, and the items' plan is accepted.
func FuzzChecklists(f *testing.F) {
	for _, text := range []string{"- [ ] a", "1. [x] b\n2) [ ] c", "* [X] d\r\n\t+ [ ] e", "# x\n- [ ]", "-\t[ ]\u00a0x"} {
		f.Add(text)
	}
	rules := subtaskRules(f)
	rules.Max = 1 << 20
	f.Fuzz(func(t *testing.T, text string) {
		if begin := ijson.Trim(text); begin != "" && strings.ContainsRune("{[", rune(begin[0])) {
			return
		}
		doc, refusal := planning.ParseSubtasks(document.FromText(text, "/plan"), rules)
		boxes := strings.Count(strings.ToLower(text), "[x]") + strings.Count(text, "[ ]")
		switch {
		case refusal != nil && refusal.Reason != "invalid_plan:non_json" && !strings.HasSuffix(refusal.Reason, "_bad_description"):
			t.Fatalf("%q is refused for %s", text, refusal.Reason)
		case refusal != nil:
		case len(doc.Subtasks) == 0 || len(doc.Subtasks) > boxes || len(doc.Done) > len(doc.Subtasks):
			t.Fatalf("%q has %d items, %d done, of %d boxes", text, len(doc.Subtasks), len(doc.Done), boxes)
		default:
			holds(t, text, doc, rules)
		}
	})
}

// FuzzResolve: arguments without references stay what they are but for their escapes; with them, they become what the
// results hold or are refused for one of them.
func FuzzResolve(f *testing.F) {
	for _, args := range []string{`{"a":"$results.k./n","b":["$$x"]}`, `{"a":{"b":"$results.q"}}`, `{"a":"$results.k./l/-"}`, `{"a":"$results."}`, `{}`} {
		f.Add(args)
	}
	results := object(f, `{"k":{"n":1,"l":[1,"$results.k"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ijson.Decode([]byte(text))
		args, isObject := v.(map[string]any)
		if err != nil || !isObject {
			return
		}
		before := string(ijson.Canonical(args))
		got, bad := planning.Resolve(args, func(id string) (any, bool) { r, ok := results[id]; return r, ok })
		switch {
		case string(ijson.Canonical(args)) != before:
			t.Fatalf("Resolve changed %s", before)
		case (got == nil) != (bad != "") || bad != "" && !strings.Contains(before, string(ijson.Canonical(bad))):
			t.Fatalf("Resolve(%s) = %v, %q", before, got, bad)
		case bad == "" && !planning.HasReferences(args) && !ijson.Equal(got, args):
			t.Fatalf("Resolve(%s) = %s", before, ijson.Canonical(got))
		}
	})
}
