package llm

import (
	"math"
	"slices"
	"strings"

	"patterngate/catalog"
)

// rarity weighs words against tools: a word that few of them have says more. One that all have still says something.
func rarity(tools []*studied) map[string]float64 {
	of := map[string]float64{}
	for _, t := range tools {
		for term := range t.weights {
			of[term]++
		}
	}
	n := float64(len(tools))
	for term, holders := range of {
		of[term] = math.Log(1+n/holders) / math.Log(1+n)
	}
	return of
}

// value is what one word says for tool i.
func (r *reading) value(i int, stem string) float64 {
	weights := r.tools[i].weights
	v := weights[stem] * r.rarity[stem]
	if family := kin[stem]; family != "" {
		v = max(v, weights[family]*r.rarity[family])
	}
	if broad[stem] {
		v *= asBroad
	}
	return v
}

// requested reports whether the goal asks for what tool i does: one of its acts is named, outside questions, denials and
// reports of what happened. A noun that a tool merely shares with the goal is no request to change something.
func (r *reading) requested(i int) bool {
	a := r.tools[i].acts
	for at, w := range r.goal.words {
		if w.tells && r.tools[i].tells {
			return true
		}
		if w.denied || w.asks || w.cited || w.why || r.isLabel(i, at) || r.isPast(i, at) {
			continue
		}
		if a.stems[w.stem] || a.light == w.stem && r.sharesClause(i, w) {
			return true
		}
		if family := kin[w.stem]; family != "" && !w.dull {
			for s := range a.stems {
				if kin[s] == family {
					return true
				}
			}
		}
	}
	return false
}

// isLabel reports whether the word at an index only names the value behind it, and the tool does not take that value:
// "order 1234" asks for nothing to be ordered, "email: a@example.org" for nothing to be sent.
func (r *reading) isLabel(i, at int) bool {
	g, w := r.goal, r.goal.words[at]
	k := g.chunkFrom(w.end)
	if k >= len(g.values.chunks) {
		return false
	}
	c := g.values.chunks[k]
	gap := g.text[w.end:c.start]
	switch {
	case strings.Contains(gap, "="), strings.EqualFold(c.text, "address"):
		return true
	case strings.ContainsAny(gap, ".,;!?\n"), !strings.Contains(gap, ":") && slices.Contains(r.first[i].places, c.start):
		return false
	}
	isNumber := isDigits(c.text) && w.stem == r.tools[i].acts.verb && g.endsAt(c.end) && !g.values.isMoney(c.start)
	return isNumber || looksLikeID(c.text) || isEmail(c.text)
}

var auxiliaries = setOf(`was were been is are has have had got already being`)

// isPast reports whether the word at an index tells what was done: "was cancelled", "the hold was". What destroys must be
// asked for in other words than those of a report.
func (r *reading) isPast(i, at int) bool {
	words := r.goal.words
	before, after := "", ""
	if at > 0 {
		before = words[at-1].low
	}
	if at+1 < len(words) && words[at+1].clause == words[at].clause {
		after = words[at+1].low
	}
	if after == "was" || after == "were" || after == "has" || after == "had" {
		return true
	}
	if !strings.HasSuffix(words[at].low, "ed") {
		return false
	}
	return auxiliaries[before] || r.tools[i].Effect == catalog.Destructive && before != "be"
}

func (r *reading) sharesClause(i int, verb goalWord) bool {
	return slices.ContainsFunc(r.goal.words, func(w goalWord) bool {
		return w.clause == verb.clause && w.stem != verb.stem && r.counts(w) && r.tools[i].weights[w.stem] > 0
	})
}

// counts reports whether a word may speak for a tool.
func (r *reading) counts(w goalWord) bool { return !w.dull && !w.cited && !w.why && !w.barred }

// pick is a tool that the goal asks for.
type pick struct {
	tool    int
	score   float64 // of its best clause
	clauses []int
	main    bool // the first choice of a clause
	certain bool // by its name, or by several words
}

// Scores at which a clause speaks of a tool: at all, and of one more.
const (
	enough     = 0.6
	enoughMore = 0.9
	// almost is how near the best a tool must come to be taken instead because its arguments are all known.
	almost = 0.75
	// seated is what a required argument in the clause adds to a tool that its words speak for.
	seated = 0.3
)

// clause is one clause of the goal while tools are picked for it.
type clause struct {
	number int
	words  []goalWord
	left   map[string]bool // stems that no picked tool has yet
}

// pickTools finds for each clause the open tools that its words speak of.
func (r *reading) pickTools() []pick {
	var picks []pick
	words := r.goal.words
	for len(words) > 0 {
		c := clause{number: words[0].clause, left: map[string]bool{}}
		n := 0
		for ; n < len(words) && words[n].clause == c.number; n++ {
			if r.counts(words[n]) {
				c.left[words[n].stem] = true
			}
		}
		c.words, words = words[:n], words[n:]
		picks = r.pickClause(picks, c)
	}
	return picks
}

// pickClause takes the tool that the clause's words speak for most, then what the words left over speak for.
func (r *reading) pickClause(picks []pick, c clause) []pick {
	need := enough
	for round := range 4 {
		best := r.best(c)
		if len(best) == 0 || best[0].score < need || len(best) > 2 {
			return picks
		}
		for _, b := range best {
			b.main = round == 0
			picks = merge(picks, b)
			for stem := range c.left {
				if r.value(b.tool, stem) > 0 {
					delete(c.left, stem)
				}
			}
		}
		need = enoughMore
	}
	return picks
}

// best are the tools that the words speak for most: one, or several that are equal.
func (r *reading) best(c clause) []pick {
	var all []pick
	top := 0.0
	for i := range r.tools {
		if !r.open[i] {
			continue
		}
		p := r.score(i, c)
		if p.score > 0 {
			all = append(all, p)
			top = max(top, p.score)
		}
	}
	equal := slices.DeleteFunc(slices.Clone(all), func(p pick) bool { return p.score < top-1e-9 })
	if len(equal) == 1 && !r.first[equal[0].tool].complete() && r.tools[equal[0].tool].Effect == catalog.Read {
		for _, p := range all {
			if p.score >= almost*top && r.first[p.tool].complete() && r.tools[p.tool].Effect == catalog.Read {
				return []pick{p}
			}
		}
	}
	return equal
}

// score weighs the words left of a clause for tool i. They are summed in their alphabet's order, so that equal sums are
// equal.
func (r *reading) score(i int, c clause) pick {
	p := pick{tool: i, clauses: []int{c.number}}
	words := 0
	for _, stem := range sortedKeys(c.left) {
		if v := r.value(i, stem); v > 0 {
			p.score += v
			words++
			p.certain = p.certain || r.tools[i].weights[stem] >= inName
		}
	}
	if r.tools[i].tells && c.words[0].tells {
		p.score += inName
		words++
	}
	if words == 0 {
		return p
	}
	p.certain = p.certain || words > 1
	if r.actsIn(i, c) {
		p.score += inDescription
	}
	for _, at := range r.first[i].places {
		if r.goal.clauseAt(at) == c.number {
			p.score += seated
		}
	}
	return p
}

// actsIn reports whether the clause holds the light verb that asks for what tool i does.
func (r *reading) actsIn(i int, c clause) bool {
	light := r.tools[i].acts.light
	return light != "" && r.tools[i].Effect != catalog.Read &&
		slices.ContainsFunc(c.words, func(w goalWord) bool { return w.stem == light && !w.denied })
}

func merge(picks []pick, p pick) []pick {
	for i := range picks {
		if old := &picks[i]; old.tool == p.tool {
			old.score = max(old.score, p.score)
			old.main = old.main || p.main
			old.certain = old.certain || p.certain
			if !slices.Contains(old.clauses, p.clauses[0]) {
				old.clauses = append(old.clauses, p.clauses[0])
			}
			return picks
		}
	}
	return append(picks, p)
}
