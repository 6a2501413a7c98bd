package offline

import (
	"cmp"
	"slices"

	"patterngate/catalog"
)

// source is where the value of an argument comes from: a member of what another tool returns.
type source struct {
	tool    int
	out     output
	quality int
}

// guess is what a source costs besides its call.
func (s source) guess() int {
	if s.out.first {
		return aGuess
	}
	return 0
}

// links know which tool's result could fill which other tool's argument.
type links struct {
	named  map[string][]source // members of the reading tools' results by their names, in the order of the tools
	cost   []int               // how many calls, one after the other, a tool takes that no more is known for; unreachable: none
	scores []float64
}

const (
	unreachable = 1 << 20
	aGuess      = 1000 // what it costs to take the first entry of a list
)

// maxChain bounds how many calls, one after the other, lead to an argument.
const maxChain = 5

// link reads what the tools return, and finds which tools can be called with what others found.
func (r *reading) link() {
	r.links = &links{named: map[string][]source{}, scores: r.overlaps()}
	for i, t := range r.tools {
		if t.Effect != catalog.Read || !r.open[i] || r.leftOut(i) {
			continue
		}
		for _, o := range r.rules.shelf.outputs(t.Tool) {
			for _, name := range o.names {
				r.links.named[name] = append(r.links.named[name], source{tool: i, out: o})
			}
		}
	}
	r.links.cost = r.costs(func(int) bool { return true })
}

// ready reports whether a tool's arguments are known, or can be found by calls before it.
func (r *reading) ready(i int) bool {
	return r.first[i].complete() || r.links != nil && r.links.cost[i] < unreachable
}

// costs are how many calls each tool takes when only some tools may provide for others.
func (r *reading) costs(provides func(int) bool) []int {
	cost := make([]int, len(r.tools))
	for i := range cost {
		cost[i] = unreachable
		if r.first[i].complete() {
			cost[i] = 1
		}
	}
	for range maxChain - 1 {
		next := slices.Clone(cost)
		for i := range r.tools {
			if cost[i] == unreachable {
				next[i] = r.costOf(i, cost, provides)
			}
		}
		cost = next
	}
	return cost
}

func (r *reading) costOf(i int, cost []int, provides func(int) bool) int {
	worst := 0
	for _, name := range r.first[i].missing {
		least := unreachable
		for _, s := range r.sources(i, r.first[i], name) {
			if provides(s.tool) {
				least = min(least, cost[s.tool]+s.guess())
			}
		}
		if least >= unreachable {
			return unreachable
		}
		worst = max(worst, least)
	}
	return worst + 1
}

// sources are the tools whose results could fill an argument that the goal leaves out. An argument for which the goal holds
// several values has none: a result would only be one more.
func (r *reading) sources(i int, f filled, name string) []source {
	at := slices.IndexFunc(r.tools[i].arguments, func(a argument) bool { return a.Name == name })
	if at < 0 || f.several[name] != nil {
		return nil
	}
	a := r.tools[i].arguments[at]
	if !a.linkable() {
		return nil
	}
	var found []source // one for each tool
	for _, wanted := range a.wants(subjectStems(r.tools[i].Name)) {
		for _, s := range r.links.named[wanted] {
			s.quality = a.takes(s.out)
			last := len(found) - 1
			switch {
			case s.tool == i || s.quality == 0:
			case last < 0 || found[last].tool != s.tool:
				found = append(found, s)
			case s.quality > found[last].quality:
				found[last] = s
			}
		}
	}
	return found
}

// chooseSource picks the source of an argument: a tool that is wanted anyway, the better member, the shorter way, the tool
// that the goal speaks of more. Where that leaves several there is none: nothing says which is meant.
func (r *reading) chooseSource(i int, f filled, name string, way way) (source, bool) {
	list := slices.DeleteFunc(r.sources(i, f, name), func(s source) bool { return way.cost[s.tool] >= way.cost[i] })
	compare := func(a, b source) int {
		return cmp.Or(-compareBool(way.picked(a.tool), way.picked(b.tool)), cmp.Compare(b.quality, a.quality),
			cmp.Compare(way.cost[a.tool], way.cost[b.tool]), cmp.Compare(r.links.scores[b.tool], r.links.scores[a.tool]))
	}
	slices.SortStableFunc(list, compare)
	if len(list) == 0 || len(list) > 1 && compare(list[0], list[1]) == 0 {
		return source{}, false
	}
	return list[0], true
}

// seatedEnough is how near the best a tool must come to be taken instead because the goal holds its arguments, and not those
// of the best.
const seatedEnough = 0.5

// nearest returns those of the equally likely tools of a clause whose arguments are most certain. If none of them has
// arguments, it returns the best other tool whose own arguments are in the goal. all holds the likely tools of the clause.
func (r *reading) nearest(equal, all []pick) []pick {
	if len(equal) == 0 || r.tools[equal[0].tool].Effect != catalog.Read {
		return equal
	}
	least := unreachable
	for _, p := range equal {
		least = min(least, r.links.cost[p.tool])
	}
	if least < unreachable {
		return r.surest(slices.DeleteFunc(equal, func(p pick) bool { return r.links.cost[p.tool] > max(least, aGuess-1) }))
	}
	var other []pick
	for _, p := range all {
		seated := r.first[p.tool].complete() && len(r.first[p.tool].places) > 0 && r.tools[p.tool].Effect == catalog.Read
		if seated && p.score >= seatedEnough*equal[0].score && (len(other) == 0 || p.score > other[0].score+1e-9) {
			other = []pick{p}
		}
	}
	if other != nil {
		return other
	}
	return equal
}

// surest are those whose arguments are in the goal as they are, if there are such tools: a day is not meant to be a month.
func (r *reading) surest(list []pick) []pick {
	fewest := unreachable
	for _, p := range list {
		fewest = min(fewest, r.first[p.tool].derived)
	}
	return slices.DeleteFunc(list, func(p pick) bool { return r.first[p.tool].derived > fewest })
}

// goesOn reports whether a word of the goal, which tool p only describes, names another tool that needs what p finds. The
// word may be the parcel of an order, when a parcel can be tracked.
func (r *reading) goesOn(p int, stem string) bool {
	if r.links == nil || r.tools[p].weights[stem] >= inName {
		return false
	}
	for i, t := range r.tools {
		f := r.first[i]
		if t.Effect != catalog.Read || !r.open[i] || f.complete() || !r.ready(i) || t.weights[stem] < inName {
			continue
		}
		if slices.ContainsFunc(r.sources(i, f, f.missing[0]), func(s source) bool { return s.tool == p }) {
			return true
		}
	}
	return false
}

// way is how the tools of one plan get to their arguments.
type way struct {
	cost   []int
	picked func(int) bool
}

// ways are the picked tools among themselves where that is enough for tool i, else all tools.
func (r *reading) ways(i int, picked func(int) bool) way {
	if among := r.costs(picked); among[i] < unreachable {
		return way{among, picked}
	}
	return way{r.links.cost, picked}
}
