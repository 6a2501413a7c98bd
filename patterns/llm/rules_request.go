package llm

import (
	"slices"
	"strings"

	"patterngate/catalog"
)

// requests are the words, by index, by which the goal asks for what tool i does. A tool that changes something is asked
// for by a verb as orders have it, or by a noun behind a verb of doing or wanting: refund her, make a refund, she wants a
// refund. Neither a noun that a tool merely shares with the goal is a request, nor what stands in questions, denials,
// conditions and reports of what happened.
func (r *reading) requests(i int) []int {
	var found []int
	for at, w := range r.goal.words {
		if !w.denied && !w.asks && !w.cited && !w.why && r.isRequest(i, at) && !r.isLabel(i, at) {
			found = append(found, at)
		}
	}
	return found
}

// isRequest reports whether the word at an index asks for tool i.
func (r *reading) isRequest(i, at int) bool {
	t, g, w := r.tools[i], r.goal, r.goal.words[at]
	switch {
	case t.tells:
		return g.delivers(at)
	case t.acts.light == w.stem && g.isOrder(at) && r.hasObject(i, at):
		return true
	case !t.acts.names(w):
		return false
	case w.repays:
		return wanting[w.low] || g.isOrder(at)
	case lightVerbs[w.low] || w.dull:
		return g.isOrder(at) && r.hasObject(i, at)
	case r.isCompound(i, at):
		return false
	}
	return g.isOrder(at) || !w.isParticiple() && g.isWanted(at)
}

// names reports whether a word, or one that often stands for it, is an act.
func (a acts) names(w goalWord) bool {
	if a.stems[w.stem] {
		return true
	}
	family := kin[w.stem]
	if family == "" || w.dull {
		return false
	}
	for s := range a.stems {
		if kin[s] == family {
			return true
		}
	}
	return false
}

// forbidden reports whether the goal says not to do what tool i does.
func (r *reading) forbidden(i int) bool {
	t := r.tools[i]
	return slices.ContainsFunc(r.goal.words, func(w goalWord) bool {
		if !w.denied || w.oppose || w.cited {
			return false
		}
		return t.acts.names(w) && !lightVerbs[w.low] || t.tells && (telling[w.low] || notices[w.stem])
	})
}

// Words around a noun that tell whether somebody wants it.
var (
	// wanting are verbs of those who want what their object says.
	wanting = setOf(`want wants wanting wanted need needs request requests requested requesting ask asks asked asking demand demands claim
 claims deserve deserves like`)
	// doing are verbs that do what their object says, besides the light ones.
	doing = setOf(`send approve authorise authorize grant arrange initiate`)
	// articles may stand before a noun and after the verb.
	articles = setOf(`a an the one another full partial quick urgent immediate new my her his their its our this that back please`)
	definite = setOf(`the my her his their its our this that`)
	// heading come before a word that is only about something else: a note on the refund.
	heading = setOf(`about regarding concerning on of with after before from in by per via how that into against than`)
	// ordering come right before the verb of an order.
	ordering = setOf(`you please then and just now also lets must should can could will or kindly only so us never`)
	// governing come before the "to" of an order, besides verbs of wanting: ask us to, is to, have to.
	governing = setOf(`us you we me is are be have has had got sure forget remember hesitate fail go`)
	// finite verbs behind a noun make a report of it.
	finite = setOf(`is are was were has have had did does do failed can could may might would`)
	// matters are what is known about things, not done to them.
	matters = stemsOf(`policy rules rule history status report rate context statistics summary list log terms overview window deadline details
 information conditions eligibility amount amounts`)
)

// isOrder reports whether the word at an index is the verb of an order: it begins its clause, courtesies aside, or stands
// behind "to", "please" and the like; a participle stands behind "to be" or a wish.
func (g *goal) isOrder(at int) bool {
	w := g.words[at]
	before := g.low(at-1, at)
	if w.isParticiple() {
		return g.isWished(at, before)
	}
	if next := g.low(at+1, at); next == "of" || next == "for" || finite[next] || strings.HasSuffix(w.low, "ing") {
		return false
	}
	if before == "to" {
		two := g.low(at-2, at)
		return two == "" || wanting[two] || governing[two]
	}
	if ordering[before] {
		return true
	}
	i := at
	for g.low(i-1, at) != "" && courtesies[g.low(i-1, at)] {
		i--
	}
	return g.low(i-1, at) == ""
}

func (w goalWord) isParticiple() bool { return w.stem != w.low && strings.HasSuffix(w.low, "ed") }

// isWished reports whether a participle says what is to be done: is to be cancelled, wants it reserved.
func (g *goal) isWished(at int, before string) bool {
	if before == "be" {
		two := g.low(at-2, at)
		return two == "to" || two == "must" || two == "should" || two == "please"
	}
	if auxiliaries[before] {
		return false
	}
	for i := at - 1; g.low(i, at) != ""; i-- {
		if low := g.words[i].low; wanting[low] || low == "have" || low == "get" {
			return i > 0 && g.low(i-1, at) != "did"
		}
	}
	return false
}

// farthest bounds how many words or clauses a sentence is followed for, since there are hostile ones.
const farthest = 40

// isWanted reports whether the word at an index is a noun that a verb of doing or wanting before it has as its object,
// or one that makes up its clause alone: 20 USD refund for van 7.
func (g *goal) isWanted(at int) bool {
	if g.low(at-1, at) == "to" { // a verb
		return false
	}
	mustWant, only := false, true
	for i := at - 1; g.low(i, at) != ""; i-- {
		low := g.words[i].low
		switch {
		case at-i > farthest:
			return false
		case wanting[low] || !mustWant && (lightVerbs[low] || doing[low]):
			return true
		case low == "for":
			mustWant = true
		case heading[low]:
			return false
		}
		only = only && (articles[low] && !definite[low] || isValue(low) || currencies[low] != "" || courtesies[low])
	}
	return only && !mustWant && !strings.HasSuffix(g.words[at].low, "ing") && !g.isReport(at)
}

// isReport reports whether the rest of the clause tells what becomes or became of the noun at an index.
func (g *goal) isReport(at int) bool {
	for i := at + 1; g.low(i, at) != ""; i++ {
		if w := g.words[i]; !w.why && (finite[w.low] || wanting[w.low] || w.isParticiple()) {
			return true
		}
	}
	return false
}

// isCompound reports whether the word at an index belongs to the next one, which is no matter of tool i: refund policy.
func (r *reading) isCompound(i, at int) bool {
	g := r.goal
	if g.low(at+1, at) == "" || g.gapAfter(at) != " " {
		return false
	}
	next := g.words[at+1]
	if next.dull || next.cited || r.tools[i].weights[next.stem] > 0 {
		return false
	}
	least := inArguments
	if g.isOrder(at) { // so it is more likely the verb
		least = inName
	}
	return matters[next.stem] || slices.ContainsFunc(r.tools, func(t *studied) bool {
		return t.Effect == catalog.Read && t.weights[next.stem] >= least
	})
}

// hasObject reports whether the clause of a verb that says little holds another word of tool i, which is not only what
// something is about.
func (r *reading) hasObject(i, verb int) bool {
	g := r.goal
	for at := verb - 1; g.low(at, verb) != ""; at-- {
		if r.speaksFor(i, at) && g.words[at].stem != g.words[verb].stem {
			return true
		}
	}
	for at := verb + 1; g.low(at, verb) != ""; at++ {
		switch low := g.words[at].low; {
		case low == "about" || low == "regarding" || low == "concerning":
			return false
		case r.speaksFor(i, at) && g.words[at].stem != g.words[verb].stem && !r.isCompound(i, at):
			return true
		}
	}
	return false
}

func (r *reading) speaksFor(i, at int) bool {
	return r.counts(r.goal.words[at]) && r.tools[i].weights[r.goal.words[at].stem] > 0
}

// delivers reports whether the word at an index asks to tell somebody something: email her, let the driver know, send a
// confirmation, and by mail.
func (g *goal) delivers(at int) bool {
	w := g.words[at]
	next := g.low(at+1, at)
	switch {
	case telling[w.low] && g.isOrder(at):
		return next != "" && !isMe(next) && next != "address"
	case w.low == "let":
		return !isMe(next) && g.behind(at, func(w goalWord) bool { return w.low == "know" })
	case (w.low == "send" || w.low == "confirm" || w.low == "write" || w.low == "answer") && g.isOrder(at):
		return !isMe(next) && g.behind(at, func(w goalWord) bool { return notices[w.stem] })
	case w.low == "by" || w.low == "via" || w.low == "with":
		i := at + 1
		for articles[g.low(i, at)] {
			i++
		}
		return g.low(i, at) != "" && notices[g.words[i].stem] && i == g.clauseEnd(at)-1
	}
	return false
}

// behind reports whether a word behind the one at an index, in its clause, is as wanted.
func (g *goal) behind(at int, wanted func(goalWord) bool) bool {
	return slices.ContainsFunc(g.words[at+1:g.clauseEnd(at)], wanted)
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
