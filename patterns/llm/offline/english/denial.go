package english

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
	barring  = SetOf(`without except excluding skip`)
	denying  = SetOf(`dont doesnt didnt wont shouldnt mustnt neednt cant cannot couldnt wouldnt shant not never no neither nor`)
	voiding  = SetOf(`isnt arent nothing nobody none forbidden prohibited`)
	opposing = SetOf(`stop stopping avoid avoiding refuse reject decline deny withhold block prevent undo revert reverse cancel abort halt
 refrain abstain postpone forbid prohibit revoke veto oppose`)
	// reporting come before a "not" that tells what has not happened: was not paid.
	reporting = SetOf(`was were has have had been`)
	// happening come behind "did not" where it tells the same: did not arrive.
	happening = SetOf(`get receive see find work go arrive come`)
	// reminding turn a "do not" into an order: do not forget to.
	reminding = SetOf(`forget hesitate fail miss worry`)
	// idioms begin with "no" and deny nothing.
	idioms = SetOf(`matter later problem doubt worries`)
	// resuming end what a denial covers within its clause.
	resuming = SetOf(`so please just only but instead`)
)

// denialAt is what the word at i denies.
func (g *Goal) denialAt(i int) denial {
	low, before, next := g.Words[i].Low, g.Low(i-1, i), g.Low(i+1, i)
	switch {
	case g.Words[i].Cited || g.Words[i].Why:
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
func (g *Goal) onlyReports(i int, before, next string) bool {
	switch low := g.Words[i].Low; low {
	case "no":
		return idioms[next] || isValue(next) || strings.HasPrefix(g.GapAfter(i), ".") && i+1 < len(g.Words) && isValue(g.Words[i+1].Low)
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
func (g *Goal) markDenied() {
	covered := 0
	for i := range g.Words {
		switch g.denialAt(i) {
		case bars:
			g.markBarred(i)
		case opposes:
			g.markOpposed(i)
		case voids:
			begin := i
			for begin > 0 && g.Words[begin-1].Clause == g.Words[i].Clause && !subordinates[g.Words[begin-1].Low] {
				begin--
			}
			g.deny(begin, g.ClauseEnd(i))
		case denies:
			if i >= covered {
				covered = g.coveredTo(i)
				g.deny(i+1, covered)
			}
		}
	}
	g.ReadOnly = g.changesNothing()
}

// subordinates begin the part of a clause to which a denial in it belongs.
var subordinates = SetOf(`that because since as who which if when while`)

func (g *Goal) markBarred(i int) {
	end := g.ClauseEnd(i)
	if end < len(g.Words) && g.Words[end].Low == "and" && g.ClauseEnd(end) <= end+2 { // without this and that
		end = g.ClauseEnd(end)
	}
	for k := i + 1; k < end && k <= i+reach; k++ {
		w := &g.Words[k]
		w.Denied, w.Barred, w.Oppose = true, true, false
	}
}

func (g *Goal) markOpposed(i int) {
	end := g.ClauseEnd(i)
	for k := i + 1; k < end; k++ {
		w := &g.Words[k]
		w.Oppose, w.Denied = w.Oppose || !w.Denied, true
	}
}

// coveredTo is the index behind what "do not" at i covers: its clause, and one that continues it with "and" and no comma. It
// covers the whole sentence if its clause ends with it: do not, under no circumstances, refund.
func (g *Goal) coveredTo(i int) int {
	end := g.ClauseEnd(i)
	for k := i + 1; k < end; k++ {
		if resuming[g.Words[k].Low] {
			return k
		}
	}
	switch {
	case end == i+1:
		for !g.endsSentence(end - 1) {
			end++
		}
	case end+1 < len(g.Words) && g.Words[end].Low == "and" && !parts(g.gapBefore(end)) && !g.resumesAt(end+1):
		end = g.ClauseEnd(end)
	}
	return end
}

func (g *Goal) endsSentence(i int) bool {
	return i+1 >= len(g.Words) || strings.ContainsAny(g.GapAfter(i), ".!?\n;")
}

func (g *Goal) resumesAt(i int) bool { return resuming[g.Words[i].Low] || g.Words[i].Low == "then" }

func (g *Goal) deny(begin, end int) {
	for i := begin; i < end; i++ {
		g.Words[i].Denied, g.Words[i].Oppose = true, false
	}
}

// DeniedAt reports whether the word at a byte is denied, and not only opposed: cancel order 7 names the order.
func (g *Goal) DeniedAt(at int) bool {
	i := g.WordAt(at)
	return i < len(g.Words) && g.Words[i].Denied && !g.Words[i].Oppose
}

var (
	// anything is what people say for whatever would be done.
	anything = SetOf(`it this that them anything so any one ones yet`)
	changing = SetOf(`change changes modify write writes alter touch act do execute`)
	// foreign denials make everything doubtful: what they cover is not understood.
	foreign = SetOf(`nicht kein keine keinen nein nie jamais nunca niet geen`)
	// reserving and confirming make everything wait for somebody's word.
	reserving  = SetOf(`after until once unless when if with without`)
	confirming = SetOf(`confirm approve agree say ok approval consent permission confirmation`)
	// saying "no" and rejections take back what was wanted.
	saying     = SetOf(`said say says answered decided`)
	rejections = SetOf(`rejected declined refused denied cancelled canceled withdrawn revoked`)
)

// changesNothing reports whether the goal says so of everything: do not do it, make no changes, read only, dry run,
// ask me first; or takes back what it said: no, don't; but it was rejected.
func (g *Goal) changesNothing() bool {
	for i, w := range g.Words {
		if w.Cited || w.Why {
			continue
		}
		if g.deniesAll(i) || g.takesBack(i) {
			return true
		}
	}
	return false
}

func (g *Goal) deniesAll(i int) bool {
	w, next := g.Words[i], g.Low(i+1, i)
	switch {
	case w.Low == "read" && next == "only", w.Low == "dry" && next == "run", w.Low == "do" && next == "nothing":
		return true
	case w.Low == "wait" && (next == "for" || next == "until"), w.Low == "ask" && isMe(next) && g.IsOrder(i), foreign[w.Low], g.reserves(i):
		return true
	case !w.Denied || w.Barred || w.Oppose || !(LightVerbs[w.Low] || changing[w.Low] || doing[w.Low]):
		return false
	}
	return next == "" || anything[next] && g.Low(i+2, i) == ""
}

// reserves reports whether the word at i begins what somebody wants to do first: after I confirm.
func (g *Goal) reserves(i int) bool {
	next := g.Low(i+1, i)
	return reserving[g.Words[i].Low] && (next == "i" || next == "we" || next == "my" || next == "our") &&
		(confirming[g.Low(i+2, i)] || confirming[g.Low(i+3, i)])
}

// takesBack reports whether the word at i turns down what the words before it want.
func (g *Goal) takesBack(i int) bool {
	before := g.Low(i-1, i)
	switch low := g.Words[i].Low; {
	case low == "dont" || low == "not" && before == "do":
		return g.denialAt(i) == denies && g.ClauseEnd(i) == i+1 && g.endsSentence(i)
	case low == "no":
		return saying[before] && g.ClauseEnd(i) == i+1
	default:
		return rejections[low] && g.Words[i-g.place(i)].Low == "but"
	}
}

// place is how many words of its clause stand before the word at i.
func (g *Goal) place(i int) int {
	n := 0
	for g.Low(i-n-1, i) != "" {
		n++
	}
	return n
}
