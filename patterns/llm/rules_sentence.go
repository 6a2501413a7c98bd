package llm

import "strings"

// givesReason reports whether the word at i begins a reason.
func (g *goal) givesReason(i int) bool {
	w := g.words[i]
	return w.low == "because" || w.low == "due" && i+1 < len(g.words) && g.words[i+1].low == "to"
}

// markReasons marks what follows "because" up to the next punctuation, or up to an "and" with which the next order
// begins: it tells why, not what.
func (g *goal) markReasons() {
	inside := false
	for i := range g.words {
		if inside && (parts(g.gapBefore(i)) || g.ordersAgain(i)) {
			inside = false
		}
		inside = inside || g.givesReason(i)
		g.words[i].why = inside
	}
}

// ordersAgain reports whether the word at i is a conjunction with the verb of an order behind it.
func (g *goal) ordersAgain(i int) bool {
	if !conjunctions[g.words[i].low] || i+1 >= len(g.words) {
		return false
	}
	next := g.words[i+1].low
	return telling[next] || showing[next] || next == "send" || next == "please" || next == "then" || next == "also" || next == "let"
}

// gapBefore is what stands between the word at i and the one before it.
func (g *goal) gapBefore(i int) string {
	if i == 0 {
		return ""
	}
	return g.text[g.words[i-1].end:g.words[i].start]
}

// gapAfter is what stands between the word at i and the next one, or the end.
func (g *goal) gapAfter(i int) string {
	if i+1 < len(g.words) {
		return g.gapBefore(i + 1)
	}
	return g.text[g.words[i].end:]
}

// low is the word at i in lower case, "" where there is none or it belongs to another clause than the word at of.
func (g *goal) low(i, of int) string {
	if i < 0 || i >= len(g.words) || g.words[i].clause != g.words[of].clause {
		return ""
	}
	return g.words[i].low
}

// clauseEnd is the index behind the last word of the clause that holds the word at i.
func (g *goal) clauseEnd(i int) int {
	end := i + 1
	for end < len(g.words) && g.words[end].clause == g.words[i].clause {
		end++
	}
	return end
}

var (
	// questions begin a clause that wants to know something.
	questions = setOf(`what whats which how when who whose whom why where is are was were does did has have should am`)
	// inverted begin questions even where no mark ends them.
	inverted = setOf(`is are was were does did has should am`)
	// offers begin one that wants something done, if they speak to somebody: can you, could we.
	offers = setOf(`can could will would may shall`)
	spoken = setOf(`you we i someone somebody please`)
	// showing are verbs that begin a clause in which something is to be seen and not done.
	showing = setOf(`show list check look view display see search find explain describe summarise summarize compare count`)
	// courtesies may stand before the verb of an order.
	courtesies = setOf(`please also then and but first can could you would will i we want to need like now kindly just id d only so hi hello
 hey dear ok okay team all thanks lets let s`)
	// supposing are words behind which something is only thought of, up to the clause's end.
	supposing = setOf(`whether if unless when whenever`)
)

// markQuestions marks what is asked and not to be done: clauses that begin as questions do in a sentence with a question
// mark, those right before that mark that are no polite orders, those that begin with a verb of looking, what follows
// "whether", "if" or "how to", and what somebody is to be told.
func (g *goal) markQuestions() {
	polite := false
	for i := 0; i < len(g.words); {
		end := g.clauseEnd(i)
		polite = polite && !parts(g.gapBefore(i)) || g.isPolite(i) // could you do this and that?
		asks := g.beginsAsQuestion(i, end) || !polite && g.runsIntoQuestion(end) || g.beginsByShowing(i, end)
		told := false
		for ; i < end; i++ {
			w := &g.words[i]
			w.asks = asks
			howTo := w.low == "how" && g.low(i+1, i) == "to"
			asks = asks || supposing[w.low] || howTo || told && (w.low == "that" || w.low == "about" || w.low == "saying")
			told = told || telling[w.low] || notices[w.stem]
		}
	}
}

// isPolite reports whether a clause wants something done although it may end with a question mark.
func (g *goal) isPolite(i int) bool {
	first := g.words[i].low
	return first == "please" || first == "kindly" || offers[first] && spoken[g.low(i+1, i)]
}

func (g *goal) beginsAsQuestion(i, end int) bool {
	first := g.words[i].low
	return inverted[first] || questions[first] && (inverted[g.low(i+1, i)] || g.endsInQuestion(end-1))
}

// runsIntoQuestion reports whether a question mark stands right behind a clause, or behind those that go on from it with
// "and" and are no questions of their own.
func (g *goal) runsIntoQuestion(end int) bool {
	for range farthest {
		if end+1 >= len(g.words) || parts(g.gapBefore(end)) || questions[g.words[end+1].low] {
			break
		}
		end = g.clauseEnd(end)
	}
	return strings.Contains(g.gapAfter(end-1), "?")
}

// endsInQuestion reports whether the first mark that ends a sentence after a word is a question mark.
func (g *goal) endsInQuestion(i int) bool {
	rest := g.text[g.words[i].end:]
	at := strings.IndexAny(rest, ".!?\n")
	return at >= 0 && rest[at] == '?'
}

func (g *goal) beginsByShowing(i, end int) bool {
	for i < end && courtesies[g.words[i].low] {
		i++
	}
	if i >= end {
		return false
	}
	first := g.words[i].low
	return showing[first] || first == "tell" && isMe(g.low(i+1, i))
}

func isMe(low string) bool { return low == "me" || low == "us" }

var (
	// givers are verbs that mean a repayment together with "back" and an amount.
	givers  = setOf(`pay give send put transfer return wire hand want wants get have need needs like`)
	monies  = setOf(`money cash payment fee charge amount`)
	refunds = word{low: "repay", stem: stem("repay")}
)

// markRepayments reads "pay 30 USD back", "wants her money back" and "return 30 USD" as one verb.
func (g *goal) markRepayments() {
	for i := 0; i < len(g.words); {
		end := g.clauseEnd(i)
		if g.holdsMoney(i, end) {
			g.markRepayment(i, end)
			g.markReversal(i, end)
		}
		i = end
	}
}

func (g *goal) holdsMoney(i, end int) bool {
	for k := i; k < end; k++ {
		if monies[g.words[k].low] || g.values.isMoney(g.words[k].start) {
			return true
		}
	}
	return false
}

func (g *goal) markRepayment(i, end int) {
	verb := -1
	for k := i; k < end; k++ {
		w := g.words[k]
		switch {
		case (givers[w.low] || g.asksFor(k)) && (w.low != "get" || g.low(k+1, k) != "back") && (verb < 0 || courtesies[g.words[verb].low]):
			verb = k
			if w.low != "return" {
				continue
			}
		case w.low != "back" || verb < 0:
			continue
		}
		g.words[verb].stem, g.words[verb].repays, g.words[verb].dull = refunds.stem, true, false
		return
	}
}

// asksFor reports whether the word at an index reports a wish: asked for, asks for. It is no order to ask somebody.
func (g *goal) asksFor(at int) bool {
	low := g.words[at].low
	return (low == "asked" || low == "asks") && g.low(at+1, at) == "for"
}

var (
	reversing = setOf(`reverse reverses reversed`)
	charges   = setOf(`charge charges payment payments fee fees`)
	repaid    = kin[stem("refund")]
)

// markReversal reads "reverse the charge" as a repayment. To reverse a refund is the opposite.
func (g *goal) markReversal(i, end int) {
	verb, charged := -1, false
	for k := i; k < end; k++ {
		w := g.words[k]
		switch {
		case kin[w.stem] == repaid || w.repays:
			return
		case reversing[w.low] && verb < 0:
			verb = k
		case verb >= 0 && charges[w.low]:
			charged = true
		}
	}
	if charged {
		g.words[verb].stem, g.words[verb].repays, g.words[verb].dull = refunds.stem, true, false
	}
}

var (
	standing = setOf(`is are was were be been being goes went`)
	outage   = stem("outage")
)

// markOutages reads "the site is down" as an outage.
func (g *goal) markOutages() {
	for i := range g.words {
		if w := &g.words[i]; w.low == "down" && standing[g.low(i-1, i)] {
			w.stem, w.dull = outage, false
		}
	}
}

var timing = setOf(`before after until while during`)

// isWhen reports whether the word at an index belongs to words that only say when: before the meeting.
func (g *goal) isWhen(at int) bool {
	for i := at; g.low(i, at) != ""; i-- {
		if timing[g.words[i].low] {
			return true
		}
	}
	return false
}

// isTotal reports whether the word at an index wants all figures that there are.
func (g *goal) isTotal(at int) bool {
	if !totals[g.words[at].low] || g.words[at].barred {
		return false
	}
	before := g.low(at-1, at)
	return before == "" || rhythms[before] || g.words[at-1].dull
}

// wantsTotals reports whether any word does.
func (g *goal) wantsTotals() bool {
	for at := range g.words {
		if g.isTotal(at) {
			return true
		}
	}
	return false
}
