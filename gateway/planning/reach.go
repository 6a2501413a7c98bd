package planning

// reach finds out whether a subtask waits for another, directly or not. It handles 64 subtasks at a time, so many questions about
// a large plan stay cheap. Ask all questions with ask, then call answer, then read each answer with may.
type reach struct {
	order  *waits
	unsure func(node int32) bool // it is not known which subtasks this one waits for

	asking []int32 // the subtasks that questions are about, each once
	about  [][]int32
	place  map[int32]int // of a subtask in asking
	yes    map[[2]int32]bool
}

func newReach(order *waits, unsure func(int32) bool) *reach {
	return &reach{order: order, unsure: unsure, place: map[int32]int{}, yes: map[[2]int32]bool{}}
}

// ask notes the question whether node waits for on.
func (r *reach) ask(node, on int32) {
	at, known := r.place[node]
	if !known {
		at = len(r.asking)
		r.place[node] = at
		r.asking, r.about = append(r.asking, node), append(r.about, nil)
	}
	r.about[at] = append(r.about[at], on)
}

// may reports whether node waits for on, or whether that is not known.
func (r *reach) may(node, on int32) bool { return r.yes[[2]int32{node, on}] }

// answer answers all questions that were asked.
func (r *reach) answer() {
	if len(r.asking) == 0 {
		return
	}
	sorted, acyclic := r.order.sorted()
	mask := make([]uint64, r.order.nodes()) // for each node, which of the 64 wait for it
	for from := 0; from < len(r.asking); from += 64 {
		clear(mask)
		some := r.asking[from:min(from+64, len(r.asking))]
		for k, node := range some {
			mask[node] |= 1 << k
		}
		vague := r.spread(mask, sorted, acyclic)
		for k, node := range some {
			for _, on := range r.about[from+k] {
				r.yes[[2]int32{node, on}] = (mask[on]|vague)>>k&1 == 1
			}
		}
	}
}

// maxPasses bounds the passes over a plan with cycles.
const maxPasses = 8

// spread passes the bits of waiting subtasks on to all nodes that they wait for. vague has the bits of those whose answer is not known.
func (r *reach) spread(mask []uint64, sorted []int32, acyclic bool) (vague uint64) {
	changed := true
	for pass := 0; changed && pass < maxPasses; pass++ {
		changed = r.pass(mask, sorted) && !acyclic
	}
	if changed { // too many nested cycles to find out; the plan is refused for a cycle anyway
		return ^uint64(0)
	}
	for i := range int32(r.order.n) {
		if mask[i] != 0 && r.unsure(i) {
			vague |= mask[i]
		}
	}
	return vague
}

// pass passes the bits of each node on to the nodes that it waits for.
func (r *reach) pass(mask []uint64, sorted []int32) (changed bool) {
	for s := len(sorted) - 1; s >= 0; s-- {
		node := sorted[s]
		if mask[node] == 0 {
			continue
		}
		for k := 0; ; k++ {
			on, more := r.order.next(node, k)
			if !more {
				break
			}
			if mask[on]|mask[node] != mask[on] {
				mask[on] |= mask[node]
				changed = true
			}
		}
	}
	return changed
}
