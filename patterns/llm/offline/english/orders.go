package english

import (
	"slices"
	"strings"
)

// Wanting are verbs of those who want what their object says.
var Wanting = SetOf(`want wants wanting wanted need needs request requests requested requesting ask asks asked asking demand demands claim
 claims deserve deserves like`)

// doing are verbs that do what their object says, besides the light ones.
var doing = SetOf(`send approve authorise authorize grant arrange initiate`)

// articles may stand before a noun and after the verb.
var articles = SetOf(`a an the one another full partial quick urgent immediate new my her his their its our this that back please`)

var definite = SetOf(`the my her his their its our this that`)

// heading come before a word that is only about something else: a note on the refund.
var heading = SetOf(`about regarding concerning on of with after before from in by per via how that into against than`)

// ordering come right before the verb of an order.
var ordering = SetOf(`you please then and just now also lets must should can could will or kindly only so us never`)

// governing come before the "to" of an order, besides verbs of wanting: ask us to, is to, have to.
var governing = SetOf(`us you we me is are be have has had got sure forget remember hesitate fail go`)

// finite verbs behind a noun make a report of it.
var finite = SetOf(`is are was were has have had did does do failed can could may might would`)

// IsOrder reports whether the word at an index is the verb of an order: it begins its clause, courtesies aside, or stands
// behind "to", "please" and the like; a participle stands behind "to be" or a wish.
func (g *Goal) IsOrder(at int) bool {
	w := g.Words[at]
	before := g.Low(at-1, at)
	if w.IsParticiple() {
		return g.isWished(at, before)
	}
	if next := g.Low(at+1, at); next == "of" || next == "for" || finite[next] || strings.HasSuffix(w.Low, "ing") {
		return false
	}
	if before == "to" {
		two := g.Low(at-2, at)
		return two == "" || Wanting[two] || governing[two]
	}
	if ordering[before] {
		return true
	}
	i := at
	for g.Low(i-1, at) != "" && courtesies[g.Low(i-1, at)] {
		i--
	}
	return g.Low(i-1, at) == ""
}

func (w Word) IsParticiple() bool { return w.Stem != w.Low && strings.HasSuffix(w.Low, "ed") }

// isWished reports whether a participle says what the user wants: "is to be cancelled", "wants it reserved".
func (g *Goal) isWished(at int, before string) bool {
	if before == "be" {
		two := g.Low(at-2, at)
		return two == "to" || two == "must" || two == "should" || two == "please"
	}
	if auxiliaries[before] {
		return false
	}
	for i := at - 1; g.Low(i, at) != ""; i-- {
		if low := g.Words[i].Low; Wanting[low] || low == "have" || low == "get" {
			return i > 0 && g.Low(i-1, at) != "did"
		}
	}
	return false
}

// farthest bounds how many words or clauses a sentence is followed for, since there are hostile ones.
const farthest = 40

// IsWanted reports whether the word at an index is a noun that a verb of doing or wanting before it has as its object,
// or one that makes up its clause alone: 20 USD refund for van 7.
func (g *Goal) IsWanted(at int) bool {
	if g.Low(at-1, at) == "to" { // a verb
		return false
	}
	mustWant, only := false, true
	for i := at - 1; g.Low(i, at) != ""; i-- {
		low := g.Words[i].Low
		switch {
		case at-i > farthest:
			return false
		case Wanting[low] || !mustWant && (LightVerbs[low] || doing[low]):
			return true
		case low == "for":
			mustWant = true
		case heading[low]:
			return false
		}
		only = only && (articles[low] && !definite[low] || isValue(low) || Currencies[low] != "" || courtesies[low])
	}
	return only && !mustWant && !strings.HasSuffix(g.Words[at].Low, "ing") && !g.isReport(at)
}

// isReport reports whether the rest of the clause tells what becomes or became of the noun at an index.
func (g *Goal) isReport(at int) bool {
	for i := at + 1; g.Low(i, at) != ""; i++ {
		if w := g.Words[i]; !w.Why && (finite[w.Low] || Wanting[w.Low] || w.IsParticiple()) {
			return true
		}
	}
	return false
}

// Delivers reports whether the word at an index asks to tell somebody something: email her, let the driver know, send a
// confirmation, and by mail.
func (g *Goal) Delivers(at int) bool {
	w := g.Words[at]
	next := g.Low(at+1, at)
	switch {
	case Telling[w.Low] && g.IsOrder(at):
		return next != "" && !isMe(next) && next != "address"
	case w.Low == "let":
		return !isMe(next) && g.behind(at, func(w Word) bool { return w.Low == "know" })
	case (w.Low == "send" || w.Low == "confirm" || w.Low == "write" || w.Low == "answer") && g.IsOrder(at):
		return !isMe(next) && g.behind(at, func(w Word) bool { return Notices[w.Stem] })
	case w.Low == "by" || w.Low == "via" || w.Low == "with":
		i := at + 1
		for articles[g.Low(i, at)] {
			i++
		}
		return g.Low(i, at) != "" && Notices[g.Words[i].Stem] && i == g.ClauseEnd(at)-1
	}
	return false
}

// behind reports whether a word behind the one at an index, in its clause, is as wanted.
func (g *Goal) behind(at int, wanted func(Word) bool) bool {
	return slices.ContainsFunc(g.Words[at+1:g.ClauseEnd(at)], wanted)
}

var auxiliaries = SetOf(`was were been is are has have had got already being`)

// LightVerbs say that something is done, and not what.
var LightVerbs = SetOf(`issue issues place places make makes create creates perform performs process processes submit submits execute executes
 run runs start starts put puts set sets add adds open opens give gives take takes apply applies record records register registers
 do does handle handles trigger triggers log logs post posts`)

var Notices = StemsOf(`email mail message notice notification reminder sms letter text confirmation alert`)

// Telling is the set of verbs whose object is the receiver of a message.
var Telling = SetOf(`tell inform notify message text email mail remind alert`)
