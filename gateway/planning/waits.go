package planning

import "slices"

// waits says which of n subtasks waits for which. The descendants of a parent wait for its dependencies too. To store these
// once, they wait for the gate of the parent: node n+p is the gate of parent p. It opens when the dependencies of p outside its
// subtree are completed. Subtasks in or under a loop of parents have no gate and no depth.
type waits struct {
	n      int
	direct lists // own dependencies and children, in rising order, each once

	tree       bool // there are parents; if not, the fields below are empty
	parent     []int32
	depth      []int32 // a root's is 1; 0 in and under loops
	place      []int32 // in an order in which each is directly before its descendants
	size       []int32 // of the subtree
	descending []int32 // that order
	bound      lists   // by parent: its dependencies outside its subtree
	above      []int32 // the nearest ancestor with such dependencies; -1 if none
}

// waiting collects, subtask by subtask, which waits for which.
type waiting struct {
	own    lists
	parent []int32
	tree   bool
}

func newWaiting(n int) *waiting {
	return &waiting{own: lists{end: make([]int32, 1, n+1), all: make([]int32, 0, 2*n)}, parent: make([]int32, 0, n)}
}

// wait adds a dependency of the present subtask.
func (w *waiting) wait(on int32) { w.own.all = append(w.own.all, on) }

// next ends the present subtask; parent is -1 if it has none.
func (w *waiting) next(parent int32) {
	w.own.end = append(w.own.end, int32(len(w.own.all)))
	w.parent = append(w.parent, parent)
	w.tree = w.tree || parent >= 0
}

func (w *waiting) order() waits {
	o := waits{n: len(w.parent), tree: w.tree}
	if !w.tree {
		o.direct = w.own.inverse().inverse().compact()
		return o
	}
	o.parent = w.parent
	children := childrenOf(w.parent)
	both := lists{end: make([]int32, 1, o.n+1)}
	for i := range int32(o.n) {
		both.all = append(append(both.all, w.own.of(i)...), children.of(i)...)
		both.end = append(both.end, int32(len(both.all)))
	}
	o.direct = both.inverse().inverse().compact()
	o.plant(children)
	o.bind(w.own, children)
	return o
}

func childrenOf(parent []int32) lists {
	up := lists{end: make([]int32, 1, len(parent)+1)}
	for _, p := range parent {
		if p >= 0 {
			up.all = append(up.all, p)
		}
		up.end = append(up.end, int32(len(up.all)))
	}
	return up.inverse()
}

// plant sets the depth, place and size of the subtasks in trees.
func (o *waits) plant(children lists) {
	o.depth, o.place, o.size = make([]int32, o.n), make([]int32, o.n), make([]int32, o.n)
	o.descending = make([]int32, 0, o.n)
	var open []int32
	for root := int32(o.n) - 1; root >= 0; root-- {
		if o.parent[root] < 0 {
			open = append(open, root)
		}
	}
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		o.depth[i], o.place[i], o.size[i] = 1, int32(len(o.descending)), 1
		if p := o.parent[i]; p >= 0 {
			o.depth[i] = o.depth[p] + 1
		}
		o.descending = append(o.descending, i)
		open = append(open, children.of(i)...)
	}
	for _, i := range slices.Backward(o.descending) {
		if p := o.parent[i]; p >= 0 {
			o.size[p] += o.size[i]
		}
	}
}

// bind finds the dependencies that parents have for their descendants.
func (o *waits) bind(own, children lists) {
	o.bound = lists{end: make([]int32, 1, o.n+1)}
	for p := range int32(o.n) {
		if o.depth[p] > 0 && len(children.of(p)) > 0 {
			for _, d := range own.of(p) {
				if !o.below(d, p) {
					o.bound.all = append(o.bound.all, d)
				}
			}
		}
		o.bound.end = append(o.bound.end, int32(len(o.bound.all)))
	}
	o.above = make([]int32, o.n)
	for i := range o.above {
		o.above[i] = -1
	}
	for _, i := range o.descending {
		if p := o.parent[i]; p >= 0 {
			o.above[i] = o.above[p]
			if len(o.bound.of(p)) > 0 {
				o.above[i] = p
			}
		}
	}
}

// below reports whether i is a descendant of p; p must be in a tree.
func (o *waits) below(i, p int32) bool {
	return o.depth[i] > 0 && o.place[i] > o.place[p] && o.place[i] < o.place[p]+o.size[p]
}

func (o *waits) descendants(p int32) []int32 {
	if o.depth[p] == 0 {
		return nil
	}
	return o.descending[o.place[p]+1 : o.place[p]+o.size[p]]
}

func (o *waits) depthOf(i int32) int {
	if !o.tree {
		return 1
	}
	return int(o.depth[i])
}

func (o *waits) gateAbove(i int32) int32 {
	if !o.tree {
		return -1
	}
	return o.above[i]
}

func (o *waits) before(i int32) []int {
	direct := o.direct.of(i)
	p := o.gateAbove(i)
	if p < 0 {
		return ints(direct)
	}
	all := slices.Clone(direct)
	for ; p >= 0; p = o.above[p] {
		all = append(all, o.bound.of(p)...)
	}
	slices.Sort(all)
	return ints(slices.Compact(all))
}

// nodes counts subtasks and gates.
func (o *waits) nodes() int {
	if o.tree {
		return 2 * o.n
	}
	return o.n
}

func (o *waits) isGate(node int32) bool { return int(node) >= o.n }

// next returns the k-th node that a node waits for; false after the last.
func (o *waits) next(node int32, k int) (int32, bool) {
	i, on := node, []int32(nil)
	if o.isGate(node) {
		i = node - int32(o.n)
		on = o.bound.of(i)
	} else {
		on = o.direct.of(i)
	}
	if k < len(on) {
		return on[k], true
	}
	if p := o.gateAbove(i); k == len(on) && p >= 0 {
		return int32(o.n) + p, true
	}
	return 0, false
}

// sorted returns all nodes, each after those that it waits for, and whether there is no cycle.
func (o *waits) sorted() ([]int32, bool) {
	const entered, left = 1, 2
	type visit struct {
		node int32
		k    int
	}
	state := make([]byte, o.nodes())
	order := make([]int32, 0, len(state))
	acyclic := true
	var path []visit
	for start := range int32(len(state)) {
		if state[start] != 0 {
			continue
		}
		state[start] = entered
		path = append(path, visit{start, 0})
		for len(path) > 0 {
			top := &path[len(path)-1]
			on, more := o.next(top.node, top.k)
			top.k++
			switch {
			case !more:
				state[top.node] = left
				order = append(order, top.node)
				path = path[:len(path)-1]
			case state[on] == entered:
				acyclic = false
			case state[on] == 0:
				state[on] = entered
				path = append(path, visit{on, 0})
			}
		}
	}
	return order, acyclic
}

// levels returns the levels of the subtasks; there must be no cycle.
func (o *waits) levels() []int32 {
	order, _ := o.sorted()
	level := make([]int32, o.nodes()) // the level of a gate is the lowest that a subtask which waits for it can have
	for _, node := range order {
		for k := 0; ; k++ {
			on, more := o.next(node, k)
			if !more {
				break
			}
			least := level[on]
			if !o.isGate(on) {
				least++
			}
			level[node] = max(level[node], least)
		}
	}
	return level[:o.n]
}
