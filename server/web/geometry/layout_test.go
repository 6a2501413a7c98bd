package geometry

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
)

// levelsOf puts each node below all nodes that run before it.
func levelsOf(n int, edges []Edge) [][]int {
	level := make([]int, n)
	for range n {
		for _, e := range edges {
			level[e.To] = max(level[e.To], level[e.From]+1)
		}
	}
	var levels [][]int
	for i, l := range level {
		for len(levels) <= l {
			levels = append(levels, nil)
		}
		levels[l] = append(levels[l], i)
	}
	return levels
}

// random returns a graph without cycles.
func random(seed uint64) (n int, edges []Edge) {
	r := rand.New(rand.NewPCG(seed, 7))
	n = 1 + r.IntN(40)
	for range r.IntN(3 * n) {
		if a, b := r.IntN(n), r.IntN(n); a < b {
			edges = append(edges, Edge{a, b, r.IntN(4) == 0})
		}
	}
	return n, edges
}

var strokeOf = regexp.MustCompile(`M(-?\d+) (-?\d+) (?:V(-?\d+) |C-?\d+ -?\d+ -?\d+ -?\d+ (-?\d+) (-?\d+) )`)

// strokesOf returns the lines of path data, each from its upper end to its lower end.
func strokesOf(t *testing.T, text string) (list [][2]Point) {
	t.Helper()
	for _, m := range strokeOf.FindAllStringSubmatch(text, -1) {
		n := make([]int, 6)
		for i := range n[1:] {
			n[i+1], _ = strconv.Atoi(m[i+1])
		}
		from, to := Point{n[1], n[2]}, Point{n[4], n[5]}
		if m[3] != "" {
			to = Point{n[1], n[3]}
		}
		list = append(list, [2]Point{from, to})
	}
	if rest := strokeOf.ReplaceAllString(text, ""); rest != "" {
		t.Fatalf("path data %q", rest)
	}
	return list
}

// In every drawn plan, no two nodes overlap and nothing is outside the picture. Each edge goes downward, crosses no node and
// connects its two ends.
func TestArrange(t *testing.T) {
	graphs := map[string]struct {
		n     int
		edges []Edge
	}{
		"one":       {1, nil},
		"none tied": {12, nil},
		"chain":     {4, []Edge{{0, 1, false}, {1, 2, false}, {2, 3, false}, {0, 3, false}, {0, 2, true}}},
		"fan":       {32, nil},
		"sink":      {32, nil},
	}
	for i := range 30 {
		fan, sink := graphs["fan"], graphs["sink"]
		fan.edges = append(fan.edges, Edge{0, i + 1, false})
		sink.edges = append(sink.edges, Edge{i, 31, true})
		graphs["fan"], graphs["sink"] = fan, sink
	}
	for seed := range uint64(200) {
		n, edges := random(seed)
		graphs[fmt.Sprint("random ", seed)] = struct {
			n     int
			edges []Edge
		}{n, edges}
	}
	for name, g := range graphs {
		l, ok := Arrange(g.n, levelsOf(g.n, g.edges), g.edges)
		if !ok {
			t.Errorf("%s: not drawn", name)
			continue
		}
		checkNodes(t, name, l)
		checkEdges(t, name, l, g.edges)
	}
}

func checkNodes(t *testing.T, name string, l Layout) {
	t.Helper()
	for i, a := range l.At {
		if a.X < 0 || a.Y < 0 || a.X+nodeWidth > l.Width || a.Y+nodeHeight > l.Height {
			t.Errorf("%s: node %d at %v leaves the picture of %d x %d", name, i, a, l.Width, l.Height)
		}
		for j, b := range l.At[:i] {
			if a.X < b.X+nodeWidth && b.X < a.X+nodeWidth && a.Y < b.Y+nodeHeight && b.Y < a.Y+nodeHeight {
				t.Errorf("%s: nodes %d at %v and %d at %v overlap", name, i, a, j, b)
			}
		}
	}
}

func checkEdges(t *testing.T, name string, l Layout, edges []Edge) {
	t.Helper()
	strokes := map[bool][][2]Point{false: strokesOf(t, l.Solid), true: strokesOf(t, l.Dashed)}
	for part, list := range strokes {
		for _, s := range list {
			if s[0].Y >= s[1].Y || min(s[0].X, s[1].X) < 0 || max(s[0].X, s[1].X) > l.Width {
				t.Errorf("%s: parts %v: a stroke %v", name, part, s)
			}
			for i, n := range l.At {
				if s[0].X > n.X && s[0].X < n.X+nodeWidth && s[0].Y <= n.Y && s[1].Y >= n.Y+nodeHeight {
					t.Errorf("%s: the stroke %v runs through node %d at %v", name, s, i, n)
				}
			}
		}
	}
	for _, e := range edges {
		from, to := Point{l.At[e.From].X + nodeWidth/2, l.At[e.From].Y + nodeHeight}, Point{l.At[e.To].X + nodeWidth/2, l.At[e.To].Y}
		if l.At[e.From].Y+nodeHeight >= l.At[e.To].Y || !reaches(strokes[e.Part], from, to) {
			t.Errorf("%s: no line from %d at %v to %d at %v", name, e.From, from, e.To, to)
		}
	}
}

// reaches reports whether strokes lead from one point to another.
func reaches(strokes [][2]Point, from, to Point) bool {
	at := map[Point]bool{from: true}
	for more := true; more; {
		more = false
		for _, s := range strokes {
			if at[s[0]] && !at[s[1]] {
				at[s[1]], more = true, true
			}
		}
	}
	return at[to]
}

// A plan that is too large is not drawn. An edge that does not lead downward is not drawn either.
func TestArrangeBounds(t *testing.T) {
	var dense, long []Edge
	for i := range 100 {
		for j := range i {
			dense = append(dense, Edge{j, i, false})
		}
	}
	for i := range 399 {
		long = append(long, Edge{i, i + 1, false}, Edge{i / 2, i + 1, false})
	}
	for name, test := range map[string]struct {
		n      int
		levels [][]int
		edges  []Edge
		drawn  bool
	}{
		"nothing":       {0, nil, nil, false},
		"400":           {maxNodes, levelsOf(maxNodes, nil), nil, true},
		"401":           {maxNodes + 1, levelsOf(maxNodes+1, nil), nil, false},
		"many edges":    {100, levelsOf(100, dense), dense, false},
		"long edges":    {400, levelsOf(400, long), long, false},
		"to itself":     {1, [][]int{{0}}, []Edge{{0, 0, false}}, true},
		"to above":      {2, [][]int{{0}, {1}}, []Edge{{1, 0, false}}, true},
		"to the side":   {2, [][]int{{0, 1}}, []Edge{{1, 0, false}}, true},
		"empty levels":  {2, [][]int{{}, {0}, {}, {1}}, []Edge{{0, 1, false}}, true},
		"in no level":   {2, [][]int{{0}}, []Edge{{0, 1, false}}, true},
		"order of plan": {6, [][]int{{0, 1, 2}, {3, 4, 5}}, []Edge{{0, 3, false}, {1, 4, false}, {2, 5, false}}, true},
	} {
		l, ok := Arrange(test.n, test.levels, test.edges)
		if ok != test.drawn {
			t.Errorf("%s: drawn %v, want %v", name, ok, test.drawn)
		}
		if !ok {
			continue
		}
		checkNodes(t, name, l)
		if (name == "to itself" || name == "to above" || name == "to the side") && l.Solid != "" {
			t.Errorf("%s: drawn as %q", name, l.Solid)
		}
	}
}

// Nodes are sorted so that edges do not cross where that is possible.
func TestArrangeUntangles(t *testing.T) {
	edges := []Edge{{0, 5, false}, {1, 4, false}, {2, 3, false}}
	l, ok := Arrange(6, [][]int{{0, 1, 2}, {3, 4, 5}}, edges)
	if !ok {
		t.Fatal("not drawn")
	}
	for _, e := range edges {
		if l.At[e.From].X != l.At[e.To].X {
			t.Errorf("%d stands at %v, %d at %v; want them below each other", e.From, l.At[e.From], e.To, l.At[e.To])
		}
	}
}
