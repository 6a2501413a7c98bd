package llm

import "strings"

// A denial says of what follows, or of what stands around it, that it is not to be done.
type denial int

const (
	affirms denial = iota // no denial at all
	denies                // do not: what follows in the clause
	bars                  // without: what the next words name is not wanted either
	opposes               // stop, cancel: what follows in the clause
	voids                 // is not allowed, nothing: the whole clause
)

var (
	barring  = setOf(`without except excluding skip`)
	denying  = setOf(`dont doesnt didnt wont shouldnt mustnt neednt cant cannot couldnt wouldnt shant not never no neither nor`)
	voiding  = setOf(`isnt arent nothing nobody none forbidden prohibited`)
	opposing = setOf(`stop stopping avoid avoiding refuse reject decline deny withhold block prevent undo revert reverse cancel abort halt
 refrain abstain postpone forbid prohibit revoke veto oppose`)
	// reporting come before a "not" that tells what has not happened: was not paid.
	reporting = setOf(`was were has have had been`)
	// happening come behind "did not" where it tells the same: did not arrive.
	happening = setOf(`get receive see find work go arrive come`)
	// reminding turn a "do not" into an order: do not forget to.
	reminding = setOf(`forget hesitate fail miss worry`)
	// idioms begin with "no" and deny nothing.
	idioms = setOf(`matter later problem doubt worries`)
	// resuming end what a denial covers within its clause.
	resuming = setOf(`so please just only but instead`)
)

// denialAt is what the word at i denies.
func (g *goal) denialAt(i int) denial {
	low, before, next := g.words[i].low, g.low(i-1, i), g.low(i+1, i)
	switch {
	case g.words[i].cited || g.words[i].why:
		return affirms
	case barring[low], low == "leave" && next == "out", low == "instead" && next == "of", low == "rather" && next == "than":
		return bars
	case low == "but" && (before == "everything" || before == "all" || before == "anything"):
		return bars
	case voiding[low] && (low != "nothing" || next != "else" && next != "more"), low == "not" && (before == "is" || before == "are"):
		return voids
	case denying[low] && !g.onlyReports(i, before, next):
		return denies
	case opposing[low], low == "hold" && (next == "off" || next == "back"):
		return opposes
	}
	return affirms
}

// onlyReports reports whether a denying word forbids nothing: was not paid, did not arrive, do not forget, no. 7.
func (g *goal) onlyReports(i int, before, next string) bool {
	switch low := g.words[i].low; low {
	case "no":
		return idioms[next] || isValue(next) || strings.HasPrefix(g.gapAfter(i), ".") && i+1 < len(g.words) && isValue(g.words[i+1].low)
	case "not":
		return next == "only" || reporting[before] || before == "did" && happening[next] || reminding[next]
	case "didnt":
		return happening[next]
	case "dont", "never":
		return reminding[next]
	}
	return false
}

// reach is how many words a word like "without" covers within its clause.
const reach = 4

// markDenied marks what the goal says not to do, and what it leaves out.
func (g *goal) markDenied() {
	covered := 0
	for i := range g.words {
		switch g.denialAt(i) {
		case bars:
			g.markBarred(i)
		case opposes:
			g.markOpposed(i)
		case voids:
			begin := i
			for begin > 0 && g.words[begin-1].clause == g.words[i].clause && !subordinates[g.words[begin-1].low] {
				begin--
			}
			g.deny(begin, g.clauseEnd(i))
		case denies:
			if i >= covered {
				covered = g.coveredTo(i)
				g.deny(i+1, covered)
			}
		}
	}
	g.readOnly = g.changesNothing()
}

// subordinates begin the part of a clause to which a denial in it belongs.
var subordinates = setOf(`that because since as who which if when while`)

func (g *goal) markBarred(i int) {
	end := g.clauseEnd(i)
	if end < len(g.words) && g.words[end].low == "and" && g.clauseEnd(end) <= end+2 { // without this and that
		end = g.clauseEnd(end)
	}
	for k := i + 1; k < end && k <= i+reach; k++ {
		w := &g.words[k]
		w.denied, w.barred, w.oppose = true, true, false
	}
}

func (g *goal) markOpposed(i int) {
	end := g.clauseEnd(i)
	for k := i + 1; k < end; k++ {
		w := &g.words[k]
		w.oppose, w.denied = w.oppose || !w.denied, true
	}
}

// coveredTo is the index behind what "do not" at i covers: its clause, one that goes on with "and" and no comma, and the
// whole sentence where its clause ends with it: do not, under no circumstances, refund.
func (g *goal) coveredTo(i int) int {
	end := g.clauseEnd(i)
	for k := i + 1; k < end; k++ {
		if resuming[g.words[k].low] {
			return k
		}
	}
	switch {
	case end == i+1:
		for !g.endsSentence(end - 1) {
			end++
		}
	case end+1 < len(g.words) && g.words[end].low == "and" && !parts(g.gapBefore(end)) && !g.resumesAt(end+1):
		end = g.clauseEnd(end)
	}
	return end
}

func (g *goal) endsSentence(i int) bool {
	return i+1 >= len(g.words) || strings.ContainsAny(g.gapAfter(i), ".!?\n;")
}

func (g *goal) resumesAt(i int) bool { return resuming[g.words[i].low] || g.words[i].low == "then" }

func (g *goal) deny(begin, end int) {
	for i := begin; i < end; i++ {
		g.words[i].denied, g.words[i].oppose = true, false
	}
}

// deniedAt reports whether the word at a byte is denied, and not only opposed: cancel order 7 names the order.
func (g *goal) deniedAt(at int) bool {
	i := g.wordAt(at)
	return i < len(g.words) && g.words[i].denied && !g.words[i].oppose
}

var (
	// anything stands for whatever would be done.
	anything = setOf(`it this that them anything so any one ones yet`)
	changing = setOf(`change changes modify write writes alter touch act do execute`)
	// foreign denials make everything doubtful: what they cover is not understood.
	foreign = setOf(`nicht kein keine keinen nein nie jamais nunca niet geen`)
	// reserving and confirming make everything wait for somebody's word.
	reserving  = setOf(`after until once unless when if with without`)
	confirming = setOf(`confirm approve agree say ok approval consent permission confirmation`)
	// saying "no" and rejections take back what was wanted.
	saying     = setOf(`said say says answered decided`)
	rejections = setOf(`rejected declined refused denied cancelled canceled withdrawn revoked`)
)

// changesNothing reports whether the goal says so of everything: do not do it, make no changes, read only, dry run,
// ask me first; or takes back what it said: no, don't; but it was rejected.
func (g *goal) changesNothing() bool {
	for i, w := range g.words {
		if w.cited || w.why {
			continue
		}
		if g.deniesAll(i) || g.takesBack(i) {
			return true
		}
	}
	return false
}

func (g *goal) deniesAll(i int) bool {
	w, next := g.words[i], g.low(i+1, i)
	switch {
	case w.low == "read" && next == "only", w.low == "dry" && next == "run", w.low == "do" && next == "nothing":
		return true
	case w.low == "wait" && (next == "for" || next == "until"), w.low == "ask" && isMe(next) && g.isOrder(i), foreign[w.low], g.reserves(i):
		return true
	case !w.denied || w.barred || w.oppose || !(lightVerbs[w.low] || changing[w.low] || doing[w.low]):
		return false
	}
	return next == "" || anything[next] && g.low(i+2, i) == ""
}

// reserves reports whether the word at i begins what somebody wants to do first: after I confirm.
func (g *goal) reserves(i int) bool {
	next := g.low(i+1, i)
	return reserving[g.words[i].low] && (next == "i" || next == "we" || next == "my" || next == "our") &&
		(confirming[g.low(i+2, i)] || confirming[g.low(i+3, i)])
}

// takesBack reports whether the word at i turns down what the words before it want.
func (g *goal) takesBack(i int) bool {
	before := g.low(i-1, i)
	switch low := g.words[i].low; {
	case low == "dont" || low == "not" && before == "do":
		return g.denialAt(i) == denies && g.clauseEnd(i) == i+1 && g.endsSentence(i)
	case low == "no":
		return saying[before] && g.clauseEnd(i) == i+1
	default:
		return rejections[low] && g.words[i-g.place(i)].low == "but"
	}
}

// place is how many words of its clause stand before the word at i.
func (g *goal) place(i int) int {
	n := 0
	for g.low(i-n-1, i) != "" {
		n++
	}
	return n
}
