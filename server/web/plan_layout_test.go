package web

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
)

// levelsOf puts each node below all that come before it.
func levelsOf(n int, edges []edge) [][]int {
	level := make([]int, n)
	for range n {
		for _, e := range edges {
			level[e.to] = max(level[e.to], level[e.from]+1)
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

// random is a graph without cycles.
func random(seed uint64) (n int, edges []edge) {
	r := rand.New(rand.NewPCG(seed, 7))
	n = 1 + r.IntN(40)
	for range r.IntN(3 * n) {
		if a, b := r.IntN(n), r.IntN(n); a < b {
			edges = append(edges, edge{a, b, r.IntN(4) == 0})
		}
	}
	return n, edges
}

var strokeOf = regexp.MustCompile(`M(-?\d+) (-?\d+) (?:V(-?\d+) |C-?\d+ -?\d+ -?\d+ -?\d+ (-?\d+) (-?\d+) )`)

// strokesOf are the pieces of path data, from above to below.
func strokesOf(t *testing.T, text string) (list [][2]point) {
	t.Helper()
	for _, m := range strokeOf.FindAllStringSubmatch(text, -1) {
		n := make([]int, 6)
		for i := range n[1:] {
			n[i+1], _ = strconv.Atoi(m[i+1])
		}
		from, to := point{n[1], n[2]}, point{n[4], n[5]}
		if m[3] != "" {
			to = point{n[1], n[3]}
		}
		list = append(list, [2]point{from, to})
	}
	if rest := strokeOf.ReplaceAllString(text, ""); rest != "" {
		t.Fatalf("path data %q", rest)
	}
	return list
}

// Of any plan no two nodes overlap, nothing leaves the picture, an edge goes only downward, runs through no node, and
// connects its ends.
func TestArrange(t *testing.T) {
	graphs := map[string]struct {
		n     int
		edges []edge
	}{
		"one":       {1, nil},
		"none tied": {12, nil},
		"chain":     {4, []edge{{0, 1, false}, {1, 2, false}, {2, 3, false}, {0, 3, false}, {0, 2, true}}},
		"fan":       {32, nil},
		"sink":      {32, nil},
	}
	for i := range 30 {
		fan, sink := graphs["fan"], graphs["sink"]
		fan.edges = append(fan.edges, edge{0, i + 1, false})
		sink.edges = append(sink.edges, edge{i, 31, true})
		graphs["fan"], graphs["sink"] = fan, sink
	}
	for seed := range uint64(200) {
		n, edges := random(seed)
		graphs[fmt.Sprint("random ", seed)] = struct {
			n     int
			edges []edge
		}{n, edges}
	}
	for name, g := range graphs {
		l, ok := arrange(g.n, levelsOf(g.n, g.edges), g.edges)
		if !ok {
			t.Errorf("%s: not drawn", name)
			continue
		}
		checkNodes(t, name, l)
		checkEdges(t, name, l, g.edges)
	}
}

func checkNodes(t *testing.T, name string, l layout) {
	t.Helper()
	for i, a := range l.at {
		if a.x < 0 || a.y < 0 || a.x+nodeWidth > l.Width || a.y+nodeHeight > l.Height {
			t.Errorf("%s: node %d at %v leaves the picture of %d x %d", name, i, a, l.Width, l.Height)
		}
		for j, b := range l.at[:i] {
			if a.x < b.x+nodeWidth && b.x < a.x+nodeWidth && a.y < b.y+nodeHeight && b.y < a.y+nodeHeight {
				t.Errorf("%s: nodes %d at %v and %d at %v overlap", name, i, a, j, b)
			}
		}
	}
}

func checkEdges(t *testing.T, name string, l layout, edges []edge) {
	t.Helper()
	strokes := map[bool][][2]point{false: strokesOf(t, l.solid), true: strokesOf(t, l.dashed)}
	for part, list := range strokes {
		for _, s := range list {
			if s[0].y >= s[1].y || min(s[0].x, s[1].x) < 0 || max(s[0].x, s[1].x) > l.Width {
				t.Errorf("%s: parts %v: a stroke %v", name, part, s)
			}
			for i, n := range l.at {
				if s[0].x > n.x && s[0].x < n.x+nodeWidth && s[0].y <= n.y && s[1].y >= n.y+nodeHeight {
					t.Errorf("%s: the stroke %v runs through node %d at %v", name, s, i, n)
				}
			}
		}
	}
	for _, e := range edges {
		from, to := point{l.at[e.from].x + nodeWidth/2, l.at[e.from].y + nodeHeight}, point{l.at[e.to].x + nodeWidth/2, l.at[e.to].y}
		if l.at[e.from].y+nodeHeight >= l.at[e.to].y || !reaches(strokes[e.part], from, to) {
			t.Errorf("%s: no line from %d at %v to %d at %v", name, e.from, from, e.to, to)
		}
	}
}

// reaches reports whether strokes lead from one point to another.
func reaches(strokes [][2]point, from, to point) bool {
	at := map[point]bool{from: true}
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

// What is too large to be drawn is not; nor is an edge that leads nowhere below.
func TestArrangeBounds(t *testing.T) {
	var dense, long []edge
	for i := range 100 {
		for j := range i {
			dense = append(dense, edge{j, i, false})
		}
	}
	for i := range 399 {
		long = append(long, edge{i, i + 1, false}, edge{i / 2, i + 1, false})
	}
	for name, test := range map[string]struct {
		n      int
		levels [][]int
		edges  []edge
		drawn  bool
	}{
		"nothing":       {0, nil, nil, false},
		"400":           {maxNodes, levelsOf(maxNodes, nil), nil, true},
		"401":           {maxNodes + 1, levelsOf(maxNodes+1, nil), nil, false},
		"many edges":    {100, levelsOf(100, dense), dense, false},
		"long edges":    {400, levelsOf(400, long), long, false},
		"to itself":     {1, [][]int{{0}}, []edge{{0, 0, false}}, true},
		"to above":      {2, [][]int{{0}, {1}}, []edge{{1, 0, false}}, true},
		"to the side":   {2, [][]int{{0, 1}}, []edge{{1, 0, false}}, true},
		"empty levels":  {2, [][]int{{}, {0}, {}, {1}}, []edge{{0, 1, false}}, true},
		"in no level":   {2, [][]int{{0}}, []edge{{0, 1, false}}, true},
		"order of plan": {6, [][]int{{0, 1, 2}, {3, 4, 5}}, []edge{{0, 3, false}, {1, 4, false}, {2, 5, false}}, true},
	} {
		l, ok := arrange(test.n, test.levels, test.edges)
		if ok != test.drawn {
			t.Errorf("%s: drawn %v, want %v", name, ok, test.drawn)
		}
		if !ok {
			continue
		}
		checkNodes(t, name, l)
		if (name == "to itself" || name == "to above" || name == "to the side") && l.solid != "" {
			t.Errorf("%s: drawn as %q", name, l.solid)
		}
	}
}

// Nodes stand below those that they follow, so that edges need not cross.
func TestArrangeUntangles(t *testing.T) {
	edges := []edge{{0, 5, false}, {1, 4, false}, {2, 3, false}}
	l, ok := arrange(6, [][]int{{0, 1, 2}, {3, 4, 5}}, edges)
	if !ok {
		t.Fatal("not drawn")
	}
	for _, e := range edges {
		if l.at[e.from].x != l.at[e.to].x {
			t.Errorf("%d stands at %v, %d at %v; want them below each other", e.from, l.at[e.from], e.to, l.at[e.to])
		}
	}
}
