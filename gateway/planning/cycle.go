package planning

import "slices"

// cycle returns the shortest cycle through the earliest subtask that is on a cycle. Each subtask waits for the one before it, and the
// earliest is first and last. Gates are left out. There must be a cycle.
func (o *waits) cycle() []int32 {
	start := o.earliestOnCycle()
	from := make([]int32, o.nodes()) // the node that reached it first
	for i := range from {
		from[i] = -1
	}
	now, later := []int32{start}, []int32(nil)
	for len(now) > 0 {
		for i := 0; i < len(now); i++ { // a gate is not a step of its own: it joins the present ones
			for k := 0; ; k++ {
				on, more := o.next(now[i], k)
				if !more {
					break
				}
				if from[on] >= 0 {
					continue
				}
				from[on] = now[i]
				switch {
				case on == start:
					return o.path(start, from)
				case o.isGate(on):
					now = append(now, on)
				default:
					later = append(later, on)
				}
			}
		}
		now, later = later, now[:0]
	}
	return []int32{start, start} // never: it is on a cycle
}

// path walks back from start to itself.
func (o *waits) path(start int32, from []int32) []int32 {
	path := []int32{start}
	for node := from[start]; node != start; node = from[node] {
		if !o.isGate(node) {
			path = append(path, node)
		}
	}
	return append(path, start)
}

// earliestOnCycle finds the first subtask that waits for itself, by the components of Tarjan (1972), without recursion.
func (o *waits) earliestOnCycle() int32 {
	t := components{o: o, index: make([]int32, o.nodes()), low: make([]int32, o.nodes()), open: make([]bool, o.nodes()), earliest: -1}
	for node := range int32(o.nodes()) {
		if t.index[node] == 0 {
			t.visit(node)
		}
	}
	return t.earliest
}

type components struct {
	o          *waits
	index, low []int32
	count      int32
	open       []bool  // on the stack
	stack      []int32 // whose component is not complete
	earliest   int32   // subtask on a cycle so far; -1
}

type step struct {
	node int32
	k    int
}

func (t *components) enter(node int32) step {
	t.count++
	t.index[node], t.low[node], t.open[node] = t.count, t.count, true
	t.stack = append(t.stack, node)
	return step{node, 0}
}

func (t *components) visit(start int32) {
	path := []step{t.enter(start)}
	for len(path) > 0 {
		top := &path[len(path)-1]
		on, more := t.o.next(top.node, top.k)
		top.k++
		switch {
		case more && t.index[on] == 0:
			path = append(path, t.enter(on))
		case more && t.open[on]:
			t.low[top.node] = min(t.low[top.node], t.index[on])
		case !more:
			node := top.node
			if path = path[:len(path)-1]; len(path) > 0 {
				above := path[len(path)-1].node
				t.low[above] = min(t.low[above], t.low[node])
			}
			if t.low[node] == t.index[node] {
				t.leave(node)
			}
		}
	}
}

// leave removes a component from the stack. A component of several nodes, or of a child that is its own parent, is a cycle.
func (t *components) leave(root int32) {
	at := len(t.stack) - 1
	for t.stack[at] != root {
		at--
	}
	for _, node := range t.stack[at:] {
		t.open[node] = false
		onCycle := len(t.stack)-at > 1 || slices.Contains(t.o.direct.of(node%int32(t.o.n)), node)
		if onCycle && !t.o.isGate(node) && (t.earliest < 0 || node < t.earliest) {
			t.earliest = node
		}
	}
	t.stack = t.stack[:at]
}
