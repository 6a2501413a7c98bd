package offline

import (
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/patterns/llm/offline/english"
)

// requests are the words, by index, by which the goal asks for what tool i does. A tool that changes something is asked
// for by a verb as orders have it, or by a noun behind a verb of doing or wanting: refund her, make a refund, she wants a
// refund. A noun that a tool merely shares with the goal is no request. Nor is what is part of a question, a denial,
// a condition or a report of what happened.
func (r *reading) requests(i int) []int {
	var found []int
	for at, w := range r.goal.Words {
		if !w.Denied && !w.Asks && !w.Cited && !w.Why && r.isRequest(i, at) && !r.isLabel(i, at) {
			found = append(found, at)
		}
	}
	return found
}

// isRequest reports whether the word at an index asks for tool i.
func (r *reading) isRequest(i, at int) bool {
	t, g, w := r.tools[i], r.goal, r.goal.Words[at]
	switch {
	case t.tells:
		return g.Delivers(at)
	case t.acts.light == w.Stem && g.IsOrder(at) && r.hasObject(i, at):
		return true
	case !t.acts.names(w):
		return false
	case w.Repays:
		return english.Wanting[w.Low] || g.IsOrder(at)
	case english.LightVerbs[w.Low] || w.Dull:
		return g.IsOrder(at) && r.hasObject(i, at)
	case r.isCompound(i, at):
		return false
	}
	return g.IsOrder(at) || !w.IsParticiple() && g.IsWanted(at)
}

// names reports whether a word, or one that is often used for it, is an act.
func (a acts) names(w english.Word) bool {
	if a.stems[w.Stem] {
		return true
	}
	family := english.Kin[w.Stem]
	if family == "" || w.Dull {
		return false
	}
	for s := range a.stems {
		if english.Kin[s] == family {
			return true
		}
	}
	return false
}

// forbidden reports whether the goal says not to do what tool i does.
func (r *reading) forbidden(i int) bool {
	t := r.tools[i]
	return slices.ContainsFunc(r.goal.Words, func(w english.Word) bool {
		if !w.Denied || w.Oppose || w.Cited {
			return false
		}
		return t.acts.names(w) && !english.LightVerbs[w.Low] || t.tells && (english.Telling[w.Low] || english.Notices[w.Stem])
	})
}

// Words around a noun that tell whether somebody wants it.
var (
	// matters are what is known about things, not done to them.
	matters = english.StemsOf(`policy rules rule history status report rate context statistics summary list log terms overview window deadline details
 information conditions eligibility amount amounts`)
)

// isCompound reports whether the word at an index belongs to the next one, which is no matter of tool i: refund policy.
func (r *reading) isCompound(i, at int) bool {
	g := r.goal
	if g.Low(at+1, at) == "" || g.GapAfter(at) != " " {
		return false
	}
	next := g.Words[at+1]
	if next.Dull || next.Cited || r.tools[i].weights[next.Stem] > 0 {
		return false
	}
	least := inArguments
	if g.IsOrder(at) { // so it is more likely the verb
		least = inName
	}
	return matters[next.Stem] || slices.ContainsFunc(r.tools, func(t *studied) bool {
		return t.Effect == catalog.Read && t.weights[next.Stem] >= least
	})
}

// hasObject reports whether the clause of a verb that says little holds another word of tool i, which is not only what
// something is about.
func (r *reading) hasObject(i, verb int) bool {
	g := r.goal
	for at := verb - 1; g.Low(at, verb) != ""; at-- {
		if r.speaksFor(i, at) && g.Words[at].Stem != g.Words[verb].Stem {
			return true
		}
	}
	for at := verb + 1; g.Low(at, verb) != ""; at++ {
		switch low := g.Words[at].Low; {
		case low == "about" || low == "regarding" || low == "concerning":
			return false
		case r.speaksFor(i, at) && g.Words[at].Stem != g.Words[verb].Stem && !r.isCompound(i, at):
			return true
		}
	}
	return false
}

func (r *reading) speaksFor(i, at int) bool {
	return r.counts(r.goal.Words[at]) && r.tools[i].weights[r.goal.Words[at].Stem] > 0
}

// isLabel reports whether the word at an index only names the value behind it, and the tool does not take that value:
// "order 1234" asks for nothing to be ordered, "email: a@example.org" for nothing to be sent.
func (r *reading) isLabel(i, at int) bool {
	g, w := r.goal, r.goal.Words[at]
	k := g.ChunkFrom(w.End)
	if k >= len(g.Values.Chunks) {
		return false
	}
	c := g.Values.Chunks[k]
	gap := g.Text[w.End:c.Start]
	switch {
	case strings.Contains(gap, "="), strings.EqualFold(c.Text, "address"):
		return true
	case strings.ContainsAny(gap, ".,;!?\n"), !strings.Contains(gap, ":") && slices.Contains(r.first[i].places, c.Start):
		return false
	}
	isNumber := english.IsDigits(c.Text) && w.Stem == r.tools[i].acts.verb && g.EndsAt(c.End) && !g.Values.IsMoney(c.Start)
	return isNumber || looksLikeID(c.Text) || english.IsEmail(c.Text)
}
