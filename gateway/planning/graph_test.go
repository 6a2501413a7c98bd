package planning_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/document"
	"patterngate/gateway/planning"
)

// graphOf makes subtasks of words ID, ID<DEPENDENCY,DEPENDENCY and ID^PARENT<DEPENDENCY.
func graphOf(words ...string) []planning.Subtask {
	var list []planning.Subtask
	for _, w := range words {
		name, on, _ := strings.Cut(w, "<")
		id, parent, _ := strings.Cut(name, "^")
		s := planning.Subtask{ID: id, Parent: parent, Dependencies: []string{}}
		if on != "" {
			s.Dependencies = strings.Split(on, ",")
		}
		list = append(list, s)
	}
	return list
}

func TestGraph(t *testing.T) {
	tests := map[string]struct {
		plan string
		want []string // ID: BEFORE; AFTER; INPUTS; LEVEL DEPTH
		seq  string
	}{
		"none":                             {"", nil, ""},
		"diamond":                          {"d<b,c b<a c<a a", []string{"d: b c; ; b c; 2 1", "b: a; d; a; 1 1", "c: a; d; a; 1 1", "a: ; b c; ; 0 1"}, "a b c d"},
		"order is by level, then by place": {"z a m<z c<a", []string{"z: ; m; ; 0 1", "a: ; c; ; 0 1", "m: z; ; z; 1 1", "c: a; ; a; 1 1"}, "z a m c"},
		"a tombstone is done":              {"n<gone", []string{"n: ; ; ; 0 1"}, "n"},
		"tree": {"report figures^report k^figures s^figures w^report", []string{
			"report: figures w; ; figures w; 2 1", "figures: k s; report; k s; 1 2", "k: ; figures; ; 0 3", "s: ; figures; ; 0 3", "w: ; report; ; 0 2"}, "k s w figures report"},
		"phases": {"one a^one two<one b^two", []string{"one: a; two b; a; 1 1", "a: ; one; ; 0 2", "two: one b; ; one b; 3 1", "b: one; two; ; 2 2"}, "a one b two"},
		"inherited through levels, own descendants excepted": {"p<q,c c^p d^c<r q r", []string{
			"p: c q; ; c q; 3 1", "c: d q; p; d; 2 2", "d: q r; c; r; 1 3", "q: ; p c d; ; 0 1", "r: ; d; ; 0 1"}, "q r d c p"},
		"a parent that is not there": {"a^gone b<a", []string{"a: ; b; ; 0 1", "b: a; ; a; 1 1"}, "a b"},
	}
	for name, tt := range tests {
		plan := graphOf(strings.Fields(tt.plan)...)
		g := planning.NewGraph(plan)
		ids := func(list []int) string {
			words := make([]string, len(list))
			for k, i := range list {
				words[k] = plan[i].ID
			}
			return strings.Join(words, " ")
		}
		var got []string
		for i, s := range plan {
			got = append(got, fmt.Sprintf("%s: %s; %s; %s; %d %d", s.ID, ids(g.Before(i)), ids(g.After(i)), ids(g.Inputs(i)), g.Level(i), g.Depth(i)))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
		if seq := ids(g.Order()); seq != tt.seq {
			t.Errorf("%s: Order = %s, want %s", name, seq, tt.seq)
		}
	}
}

// randomPlan is a plan without a cycle: dependencies lead to earlier subtasks that are neither ancestors nor bound by the
// subtask, parents to any earlier one.
func randomPlan(r *rand.Rand, n int, tree bool) []planning.Subtask {
	list := make([]planning.Subtask, n)
	for i := range list {
		list[i] = planning.Subtask{ID: fmt.Sprintf("s%d", i), Dependencies: []string{}}
		for range r.IntN(4) {
			if i == 0 || tree {
				continue
			}
			if d := fmt.Sprintf("s%d", r.IntN(i)); !slices.Contains(list[i].Dependencies, d) {
				list[i].Dependencies = append(list[i].Dependencies, d)
			}
		}
	}
	if tree { // two forests: the second may depend on all of the first, as that never waits for it
		for i := 1; i < n; i++ {
			if from := i / (n/2 + 1) * (n/2 + 1); i > from && r.IntN(3) > 0 {
				list[i].Parent = fmt.Sprintf("s%d", from+r.IntN(i-from))
			}
			if i > n/2 && r.IntN(2) == 0 {
				list[i].Dependencies = append(list[i].Dependencies, fmt.Sprintf("s%d", r.IntN(n/2+1)))
			}
		}
	}
	r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// Whatever the plan: levels and order respect who waits for whom, which is what the contract's words say, read slowly.
func TestGraphRespectsDependencies(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		plan := randomPlan(r, 1+r.IntN(40), seed%2 == 0)
		g := planning.NewGraph(plan)
		place := map[int]int{}
		for k, i := range g.Order() {
			place[i] = k
		}
		if len(place) != len(plan) {
			t.Fatalf("seed %d: Order has %d of %d subtasks", seed, len(place), len(plan))
		}
		for i := range plan {
			before := slowBefore(plan, i)
			if got := g.Before(i); !slices.Equal(got, before) {
				t.Fatalf("seed %d: Before(%d) = %v, want %v in %v", seed, i, got, before, plan)
			}
			level := 0
			for _, d := range before {
				level = max(level, g.Level(d)+1)
				if place[d] > place[i] || !slices.Contains(g.After(d), i) {
					t.Fatalf("seed %d: %d waits for %d, which comes at %d and not %d, After %v", seed, i, d, place[d], place[i], g.After(d))
				}
			}
			if g.Level(i) != level {
				t.Fatalf("seed %d: Level(%d) = %d, want %d", seed, i, g.Level(i), level)
			}
			for _, a := range g.After(i) {
				if !slices.Contains(g.Before(a), i) {
					t.Fatalf("seed %d: After(%d) has %d, which does not wait for it", seed, i, a)
				}
			}
		}
	}
}

// slowBefore finds who the i-th waits for by the words of the contract.
func slowBefore(plan []planning.Subtask, i int) []int {
	at := map[string]int{}
	for k, s := range plan {
		at[s.ID] = k
	}
	under := func(k, p int) bool {
		for k != p && plan[k].Parent != "" {
			k = at[plan[k].Parent]
		}
		return k == p
	}
	var list []int
	for k, s := range plan {
		waits := slices.Contains(plan[i].Dependencies, s.ID) || s.Parent == plan[i].ID
		for up := i; plan[up].Parent != ""; {
			up = at[plan[up].Parent]
			waits = waits || slices.Contains(plan[up].Dependencies, s.ID) && !under(k, up)
		}
		if waits {
			list = append(list, k)
		}
	}
	return list
}

// What is deep or wide costs no stack and no squares.
func TestLargePlans(t *testing.T) {
	const n = 5000
	rows := map[string]func(i int) string{
		"chain":      func(i int) string { return sub(fmt.Sprintf("s%d", i), deps(fmt.Sprintf("s%d", i-1))) },
		"fan":        func(i int) string { return sub(fmt.Sprintf("s%d", i), deps("s0")) },
		"tree chain": func(i int) string { return sub(fmt.Sprintf("s%d", i), fmt.Sprintf(`"parent":"s%d"`, i-1)) },
		"wide tree":  func(i int) string { return sub(fmt.Sprintf("s%d", i), `"parent":"s0"`) },
	}
	level := map[string]int{"chain": n - 1, "fan": 1, "tree chain": 0, "wide tree": 0}
	for name, row := range rows {
		rules := subtaskRules(t)
		rules.Max, rules.MaxDepth = n, n
		if strings.Contains(name, "tree") {
			rules.Strategy = planning.Hierarchical
		}
		list := []string{sub("s0")}
		for i := 1; i < n; i++ {
			list = append(list, row(i))
		}
		doc, refusal := planning.ParseSubtasks(document.ReadReply(subtasksOf(list...)), rules)
		if refusal != nil {
			t.Fatalf("%s: %v", name, refusal)
		}
		g := planning.NewGraph(doc.Subtasks)
		if got := g.Level(n - 1); got != level[name] || len(g.Order()) != n {
			t.Errorf("%s: Level of the last = %d, want %d; Order has %d", name, got, level[name], len(g.Order()))
		}
		for i := range n {
			_, _ = g.Before(i), g.After(i)
		}
	}
}
