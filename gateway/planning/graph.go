package planning

import "slices"

// Graph says which subtask of a plan runs after which. It is made from accepted subtasks, which it knows by their place in the plan,
// and does not change. Do not change what its methods return. It is safe for concurrent use.
type Graph struct {
	order waits
	after lists // the inverse of order.direct
	level []int32
}

// waitsOf returns which subtask waits for which. It skips ids that are not among the subtasks.
func waitsOf(subtasks []Subtask) waits {
	byID := make(map[string]int32, len(subtasks))
	for i, s := range subtasks {
		byID[s.ID] = int32(i)
	}
	who := newWaiting(len(subtasks))
	for i, s := range subtasks {
		for _, id := range s.Dependencies {
			if on, there := byID[id]; there && on != int32(i) {
				who.wait(on)
			}
		}
		parent := int32(-1)
		if p, there := byID[s.Parent]; there && s.Parent != "" {
			parent = p
		}
		who.next(parent)
	}
	return who.order()
}

// NewGraph returns the graph of subtasks with unique ids and without a cycle. A dependency that is not among them, on a removed
// subtask, counts as done. A subtask whose parent is not among them is a root.
func NewGraph(subtasks []Subtask) *Graph {
	g := &Graph{order: waitsOf(subtasks)}
	g.after = g.order.direct.inverse()
	g.level = g.order.levels()
	return g
}

// HasCycle reports whether subtasks wait for each other. It skips dependencies that are not among the subtasks.
func HasCycle(subtasks []Subtask) bool {
	order := waitsOf(subtasks)
	_, acyclic := order.sorted()
	return !acyclic
}

// Before returns the subtasks that must be completed before the i-th can run, each once, in plan order: its dependencies, its children,
// and the dependencies of its ancestors, except descendants of those ancestors.
func (g *Graph) Before(i int) []int { return g.order.before(int32(i)) }

// After returns the subtasks that have the i-th in Before, in plan order.
func (g *Graph) After(i int) []int {
	direct := g.after.of(int32(i))
	if !g.order.tree {
		return ints(direct)
	}
	all := slices.Clone(direct)
	for _, w := range direct { // the descendants of w wait too
		if slices.Contains(g.order.bound.of(w), int32(i)) {
			all = append(all, g.order.descendants(w)...)
		}
	}
	slices.Sort(all)
	return ints(slices.Compact(all))
}

// Inputs returns the subtasks whose results the i-th gets: its own dependencies and children, in plan order.
func (g *Graph) Inputs(i int) []int { return ints(g.order.direct.of(int32(i))) }

// Level is 0 for a subtask that waits for none. Else it is one more than the highest level among those that it waits for.
func (g *Graph) Level(i int) int { return int(g.level[i]) }

// Depth is the depth of a subtask in the tree; a root has depth 1.
func (g *Graph) Depth(i int) int { return g.order.depthOf(int32(i)) }

// Order returns all subtasks by level, then by place.
func (g *Graph) Order() []int {
	highest := int32(-1)
	for _, l := range g.level {
		highest = max(highest, l)
	}
	next := make([]int, highest+2) // where the next of a level goes
	for _, l := range g.level {
		next[l+1]++
	}
	for l := range next[1:] {
		next[l+1] += next[l]
	}
	order := make([]int, len(g.level))
	for i, l := range g.level {
		order[next[l]] = i
		next[l]++
	}
	return order
}

func ints(list []int32) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(v)
	}
	return out
}

// lists holds a list of numbers for each of 0, 1, 2, ..., in one slice.
type lists struct {
	end []int32 // of the i-th list in all, after a leading 0
	all []int32
}

func (l lists) len() int { return len(l.end) - 1 }

func (l lists) of(i int32) []int32 { return l.all[l.end[i]:l.end[i+1]:l.end[i+1]] }

// inverse returns lists in which the list of d holds i if the list of i in l holds d. They are in rising order.
func (l lists) inverse() lists {
	inv := lists{end: make([]int32, len(l.end)), all: make([]int32, len(l.all))}
	for _, d := range l.all {
		inv.end[d+1]++
	}
	for i := range l.len() {
		inv.end[i+1] += inv.end[i]
	}
	next := slices.Clone(inv.end)
	for i := range int32(l.len()) {
		for _, d := range l.of(i) {
			inv.all[next[d]] = i
			next[d]++
		}
	}
	return inv
}

// compact keeps each number once in its list; the lists must be sorted.
func (l lists) compact() lists {
	out := lists{end: make([]int32, 1, len(l.end)), all: l.all[:0]}
	for i := range int32(l.len()) {
		from := len(out.all)
		for _, d := range l.of(i) {
			if len(out.all) == from || out.all[len(out.all)-1] != d {
				out.all = append(out.all, d)
			}
		}
		out.end = append(out.end, int32(len(out.all)))
	}
	return out
}
