package offline

import (
	"math"
	"slices"

	"patterngate/catalog"
	"patterngate/patterns/llm/offline/english"
)

// rarity weighs words against tools: a word that few of them have says more. One that all have still says something.
func rarity(tools []*studied) map[string]float64 {
	terms := 0
	for _, t := range tools {
		terms += len(t.weights)
	}
	of := make(map[string]float64, terms)
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
	if family := english.Kin[stem]; family != "" {
		v = max(v, weights[family]*r.rarity[family])
	}
	if english.Broad[stem] {
		v *= asBroad
	}
	return v
}

// counts reports whether a word may speak for a tool.
func (r *reading) counts(w english.Word) bool { return !w.Dull && !w.Cited && !w.Why && !w.Barred }

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
	first  int // index of its first word
	words  []english.Word
	left   map[string]bool // stems that no picked tool has yet
}

// pickTools finds for each clause the open tools that its words speak of.
func (r *reading) pickTools() []pick {
	var picks []pick
	words := r.goal.Words
	for i := 0; i < len(words); {
		end := r.goal.ClauseEnd(i)
		c := clause{number: words[i].Clause, first: i, words: words[i:end], left: map[string]bool{}}
		for _, w := range c.words {
			if r.counts(w) && !w.Denied {
				c.left[w.Stem] = true
			}
		}
		picks = r.pickClause(picks, c)
		i = end
	}
	return picks
}

// pickClause takes the tools that are to change something, then the one that the clause's words speak for most, then what
// the words left over speak for.
func (r *reading) pickClause(picks []pick, c clause) []pick {
	need := enough
	take := func(p pick) {
		picks = merge(picks, p)
		for stem := range c.left {
			if r.value(p.tool, stem) > 0 && !r.goesOn(p.tool, stem) {
				delete(c.left, stem)
			}
		}
		need = enoughMore
	}
	for _, p := range r.demanded(c) {
		p.main, p.certain = true, true
		take(p)
	}
	for round := range 4 {
		best := r.best(c)
		if len(best) == 0 || best[0].score < need || len(best) > 2 {
			return picks
		}
		for _, p := range best {
			p.main = round == 0 && need == enough
			take(p)
		}
	}
	return picks
}

// demanded are the tools that the clause asks to change something, for each word that does so the one that the clause
// speaks for most. Without it a tool that only reads could take all the words that both have.
func (r *reading) demanded(c clause) []pick {
	var picks []pick
	for at := c.first; at < c.first+len(c.words); at++ {
		var best []pick
		for i := range r.tools {
			if !r.open[i] || !slices.Contains(r.asked[i], at) {
				continue
			}
			p := r.score(i, c)
			if len(best) > 0 && p.score > best[0].score+1e-9 {
				best = nil
			}
			if len(best) == 0 || p.score > best[0].score-1e-9 {
				best = append(best, p)
			}
		}
		if len(best) == 1 {
			picks = merge(picks, best[0])
		}
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
	if r.links != nil {
		return r.nearest(equal, all)
	}
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
	if r.tools[i].tells && slices.ContainsFunc(r.asked[i], func(at int) bool { return r.goal.Words[at].Clause == c.number }) {
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
		if r.goal.ClauseAt(at) == c.number {
			p.score += seated
		}
	}
	return p
}

// actsIn reports whether the clause holds the light verb that asks for what tool i does.
func (r *reading) actsIn(i int, c clause) bool {
	light := r.tools[i].acts.light
	return light != "" && r.tools[i].Effect != catalog.Read &&
		slices.ContainsFunc(c.words, func(w english.Word) bool { return w.Stem == light && !w.Denied })
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
