package planning

import (
	"maps"
	"slices"
	"strconv"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// check makes the checks of more than one subtask, in the order of the specification.
func (p *subtaskParser) check() {
	p.sameIDs()
	p.unknownDependencies()
	p.selfDependencies()
	p.unknownParents()
	p.link()
	p.cycles()
	p.depths()
	p.executors()
	p.arguments()
	p.references()
	p.progress()
}

// each calls visit for the subtasks that are not left out.
func (p *subtaskParser) each(visit func(i int, row *subtaskRow)) {
	for i := range p.rows {
		if !p.rows[i].left {
			visit(i, &p.rows[i])
		}
	}
}

// wrong notes a fault of a member of the i-th subtask.
func (p *subtaskParser) wrong(i int, reason, key, want string) *document.Problem {
	return p.Add(reason, p.place(i, key), document.Member(p.rows[i].members, key), want)
}

// sameIDs finds ids that are used twice or belong to an earlier subtask. It also numbers the earlier subtasks and the plan's as
// nodes, by id. The first subtask with an id gets the node.
func (p *subtaskParser) sameIDs() {
	p.byID = make(map[string]int32, len(p.rules.Earlier)+len(p.rows))
	for i, s := range p.rules.Earlier {
		p.byID[s.ID] = int32(i)
	}
	used := make(map[string]bool, len(p.rules.Used))
	for _, id := range p.rules.Used {
		used[id] = true
	}
	if p.rules.Reused {
		p.reusedIDs(used)
	}
	for i := range p.rows {
		row := &p.rows[i]
		row.node = int32(len(p.rules.Earlier) + i)
		if !row.known {
			continue
		}
		_, twice := p.byID[row.ID]
		if !twice {
			p.byID[row.ID] = row.node
		}
		if !row.left && (twice || used[row.ID]) {
			p.duplicateID(i, used)
			row.left = true
		}
	}
}

func (p *subtaskParser) reusedIDs(used map[string]bool) {
	p.each(func(i int, row *subtaskRow) {
		if used[row.ID] {
			p.wrong(i, "id_reused:"+row.ID, "id", newID)
			row.left = true
		}
	})
}

// duplicateID notes an id that is used twice. A new id is a sure repair only if no other subtask names the id, as that one can mean
// the first, the second or both.
func (p *subtaskParser) duplicateID(i int, used map[string]bool) {
	id := p.rows[i].ID
	q := p.wrong(i, "duplicate_id:"+id, "id", unusedID)
	if !q.Listed() || used[id] {
		return
	}
	if p.namedByOthers(id) {
		q.Choose = chooseID
		return
	}
	if free := p.ids.Unused(id); isSubtaskID(free) && !used[free] {
		q.Fix = &document.Fix{At: p.place(i, "id"), Value: free}
	}
}

// namedByOthers reports whether a subtask with another id has this one as a dependency or parent. A member that will be renamed to
// dependencies counts too.
func (p *subtaskParser) namedByOthers(id string) bool {
	return slices.ContainsFunc(p.rows, func(row subtaskRow) bool {
		if row.ID == id {
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(row.members)) {
			if list, ok := idsOf(row.members[name]); ok && (name == "dependencies" || slices.Contains(wordsOfNeeds, document.Folded(name))) && slices.Contains(list.([]any), any(id)) {
				return true
			}
		}
		return row.Parent == id
	})
}

func (p *subtaskParser) unknownDependencies() {
	var nodes []int32 // of all, in one piece of memory
	p.each(func(i int, row *subtaskRow) {
		from := len(nodes)
		for k, id := range row.Dependencies {
			if on, there := p.byID[id]; there {
				nodes = append(nodes, on)
				continue
			}
			at := p.place(i, "dependencies").Index(k)
			q := p.Add("unknown_dependency:"+row.ID+":"+ijson.Cut(id, document.MaxNamed), at, id, otherSubtaskOfPlan)
			if q.Listed() {
				p.meansID(q, at, id, row)
			}
		}
		row.on = nodes[from:len(nodes):len(nodes)]
	})
}

// meansID offers the id of a subtask that is close to the given one, unless the row has that dependency already.
func (p *subtaskParser) meansID(q *document.Problem, at ijson.Pointer, id string, row *subtaskRow) {
	var ids []string
	for _, s := range p.rules.Earlier {
		ids = append(ids, s.ID)
	}
	for _, other := range p.rows {
		if other.known {
			ids = append(ids, other.ID)
		}
	}
	if near := catalog.Near(id, ids); near != row.ID && !slices.Contains(row.Dependencies, near) {
		q.Means(at, id, near)
	}
}

func (p *subtaskParser) selfDependencies() {
	p.each(func(i int, row *subtaskRow) {
		if k := slices.Index(row.Dependencies, row.ID); k >= 0 {
			p.Add("self_dependency:"+row.ID, p.place(i, "dependencies").Index(k), row.ID, otherSubtask)
		}
	})
}

// unknownParents finds parents that are not subtasks of this plan. An earlier subtask cannot be a parent: it ran without this child.
func (p *subtaskParser) unknownParents() {
	p.each(func(i int, row *subtaskRow) {
		if row.Parent == "" {
			return
		}
		if node, there := p.byID[row.Parent]; there && int(node) >= len(p.rules.Earlier) {
			return
		}
		q := p.wrong(i, "unknown_parent:"+row.ID+":"+ijson.Cut(row.Parent, document.MaxNamed), "parent", otherSubtaskOfThisPlan)
		if q.Listed() {
			p.meansID(q, p.place(i, "parent"), row.Parent, row)
		}
	})
}

// link finds which subtask waits for which. Subtasks that are left out wait for none.
func (p *subtaskParser) link() {
	nodes := len(p.rules.Earlier) + len(p.rows)
	w := newWaiting(nodes)
	for _, s := range p.rules.Earlier {
		for _, id := range s.Dependencies {
			if on, there := p.byID[id]; there && int(on) < len(p.rules.Earlier) {
				w.wait(on)
			}
		}
		w.next(p.parentNode(s.Parent, 0, len(p.rules.Earlier)))
	}
	for _, row := range p.rows {
		if row.left {
			w.next(-1)
			continue
		}
		for _, on := range row.on {
			if on != row.node {
				w.wait(on)
			}
		}
		w.next(p.parentNode(row.Parent, len(p.rules.Earlier), nodes))
	}
	p.order = w.order()
}

// parentNode returns the node of a parent if it is at least from and less than to; else -1.
func (p *subtaskParser) parentNode(id string, from, to int) int32 {
	if id == "" {
		return -1
	}
	if node, there := p.byID[id]; there && int(node) >= from && int(node) < to {
		return node
	}
	return -1
}

func (p *subtaskParser) cycles() {
	if _, acyclic := p.order.sorted(); acyclic {
		return
	}
	cycle := p.order.cycle()
	for _, node := range cycle {
		p.cycle = append(p.cycle, p.idOf(node))
	}
	i := int(cycle[0]) - len(p.rules.Earlier)
	key := "dependencies"
	if row := p.rows[i]; row.Parent != "" && !slices.Contains(row.Dependencies, p.cycle[len(p.cycle)-2]) {
		key = "parent"
	}
	p.wrong(i, "cycle_detected", key, noCycle(document.Listing("", p.cycle)))
}

func (p *subtaskParser) idOf(node int32) string {
	if n := len(p.rules.Earlier); int(node) >= n {
		return p.rows[int(node)-n].ID
	}
	return p.rules.Earlier[node].ID
}

func (p *subtaskParser) depths() {
	if !p.order.tree {
		return
	}
	for i, row := range p.rows {
		if !row.left && p.order.depthOf(row.node) > p.rules.MaxDepth {
			p.wrong(i, "max_depth", "parent", atMostLevels(strconv.Itoa(p.rules.MaxDepth)))
			return
		}
	}
}

func (p *subtaskParser) executors() {
	p.each(func(i int, row *subtaskRow) {
		if p.tools[row.Tool] {
			return
		}
		q := p.wrong(i, "executor_not_allowed:"+ijson.Cut(row.Tool, document.MaxNamed), "tool", "")
		if q.Listed() {
			names := p.executorNames()
			q.Want = ijson.Cut(document.OneOf(names), document.MaxWant)
			q.Means(p.place(i, "tool"), row.Tool, catalog.Near(row.Tool, names))
		}
	})
}

// executorNames are the tools and others that can work on a subtask.
func (p *subtaskParser) executorNames() []string {
	names := slices.Concat(p.rules.Allowed, []string{CallerExecutor})
	if p.rules.LLM {
		names = append(names, ModelExecutor)
	}
	return names
}

// progress finds a replan that only repeats the subtasks that it replaces.
func (p *subtaskParser) progress() {
	if p.rules.Removed == nil || len(p.rules.Removed) != len(p.rows) {
		return
	}
	work := func(s Subtask) string {
		args := s.Args
		if args == nil {
			args = map[string]any{}
		}
		return string(ijson.Canonical([]any{s.Description, s.Tool, args}))
	}
	left := map[string]int{}
	for _, s := range p.rules.Removed {
		left[work(s)]++
	}
	for _, row := range p.rows {
		if row.left {
			return
		}
		what := work(row.Subtask)
		if left[what]--; left[what] < 0 {
			return
		}
	}
	p.Add("no_progress", p.at, document.Missing, newWork)
}
