package english

import "strings"

// givesReason reports whether the word at i begins a reason.
func (g *Goal) givesReason(i int) bool {
	w := g.Words[i]
	return w.Low == "because" || w.Low == "due" && i+1 < len(g.Words) && g.Words[i+1].Low == "to"
}

// markReasons marks what follows "because" up to the next punctuation, or up to an "and" with which the next order
// begins: it tells why, not what.
func (g *Goal) markReasons() {
	inside := false
	for i := range g.Words {
		if inside && (parts(g.gapBefore(i)) || g.ordersAgain(i)) {
			inside = false
		}
		inside = inside || g.givesReason(i)
		g.Words[i].Why = inside
	}
}

// ordersAgain reports whether the word at i is a conjunction with the verb of an order behind it.
func (g *Goal) ordersAgain(i int) bool {
	if !conjunctions[g.Words[i].Low] || i+1 >= len(g.Words) {
		return false
	}
	next := g.Words[i+1].Low
	return Telling[next] || showing[next] || next == "send" || next == "please" || next == "then" || next == "also" || next == "let"
}

// gapBefore is what stands between the word at i and the one before it.
func (g *Goal) gapBefore(i int) string {
	if i == 0 {
		return ""
	}
	return g.Text[g.Words[i-1].End:g.Words[i].Start]
}

// GapAfter is what stands between the word at i and the next one, or the end.
func (g *Goal) GapAfter(i int) string {
	if i+1 < len(g.Words) {
		return g.gapBefore(i + 1)
	}
	return g.Text[g.Words[i].End:]
}

// Low is the word at i in lower case, "" where there is none or it belongs to another clause than the word at of.
func (g *Goal) Low(i, of int) string {
	if i < 0 || i >= len(g.Words) || g.Words[i].Clause != g.Words[of].Clause {
		return ""
	}
	return g.Words[i].Low
}

// ClauseEnd is the index behind the last word of the clause that holds the word at i.
func (g *Goal) ClauseEnd(i int) int {
	end := i + 1
	for end < len(g.Words) && g.Words[end].Clause == g.Words[i].Clause {
		end++
	}
	return end
}

var (
	// questions begin a clause that wants to know something.
	questions = SetOf(`what whats which how when who whose whom why where is are was were does did has have should am`)
	// inverted begin questions even where no mark ends them.
	inverted = SetOf(`is are was were does did has should am`)
	// offers begin one that wants something done, if they speak to somebody: can you, could we.
	offers = SetOf(`can could will would may shall`)
	spoken = SetOf(`you we i someone somebody please`)
	// showing are verbs that begin a clause that asks to see something, not to do it.
	showing = SetOf(`show list check look view display see search find explain describe summarise summarize compare count`)
	// courtesies may stand before the verb of an order.
	courtesies = SetOf(`please also then and but first can could you would will i we want to need like now kindly just id d only so hi hello
 hey dear ok okay team all thanks lets let s`)
	// supposing are words behind which something is only thought of, up to the clause's end.
	supposing = SetOf(`whether if unless when whenever`)
)

// markQuestions marks clauses that ask and do not order. In a sentence with a question mark these are the clauses that begin as questions,
// and those right before the mark that are no polite orders. In every sentence they are the clauses that begin with a verb of looking, what
// follows "whether", "if" or "how to", and what to tell somebody.
func (g *Goal) markQuestions() {
	polite := false
	for i := 0; i < len(g.Words); {
		end := g.ClauseEnd(i)
		polite = polite && !parts(g.gapBefore(i)) || g.isPolite(i) // could you do this and that?
		asks := g.beginsAsQuestion(i, end) || !polite && g.runsIntoQuestion(end) || g.beginsByShowing(i, end)
		told := false
		for ; i < end; i++ {
			w := &g.Words[i]
			w.Asks = asks
			howTo := w.Low == "how" && g.Low(i+1, i) == "to"
			asks = asks || supposing[w.Low] || howTo || told && (w.Low == "that" || w.Low == "about" || w.Low == "saying")
			told = told || Telling[w.Low] || Notices[w.Stem]
		}
	}
}

// isPolite reports whether a clause wants something done although it may end with a question mark.
func (g *Goal) isPolite(i int) bool {
	first := g.Words[i].Low
	return first == "please" || first == "kindly" || offers[first] && spoken[g.Low(i+1, i)]
}

func (g *Goal) beginsAsQuestion(i, end int) bool {
	first := g.Words[i].Low
	return inverted[first] || questions[first] && (inverted[g.Low(i+1, i)] || g.endsInQuestion(end-1))
}

// runsIntoQuestion reports whether a question mark stands right behind a clause, or behind those that go on from it with
// "and" and are no questions of their own.
func (g *Goal) runsIntoQuestion(end int) bool {
	for range farthest {
		if end+1 >= len(g.Words) || parts(g.gapBefore(end)) || questions[g.Words[end+1].Low] {
			break
		}
		end = g.ClauseEnd(end)
	}
	return strings.Contains(g.GapAfter(end-1), "?")
}

// endsInQuestion reports whether the first mark that ends a sentence after a word is a question mark.
func (g *Goal) endsInQuestion(i int) bool {
	rest := g.Text[g.Words[i].End:]
	at := strings.IndexAny(rest, ".!?\n")
	return at >= 0 && rest[at] == '?'
}

func (g *Goal) beginsByShowing(i, end int) bool {
	for i < end && courtesies[g.Words[i].Low] {
		i++
	}
	if i >= end {
		return false
	}
	first := g.Words[i].Low
	return showing[first] || first == "tell" && isMe(g.Low(i+1, i))
}

func isMe(low string) bool { return low == "me" || low == "us" }

var (
	// givers are verbs that mean a repayment together with "back" and an amount.
	givers  = SetOf(`pay give send put transfer return wire hand want wants get have need needs like`)
	monies  = SetOf(`money cash payment fee charge amount`)
	refunds = Token{Low: "repay", Stem: Stem("repay")}
)

// markRepayments reads "pay 30 USD back", "wants her money back" and "return 30 USD" as one verb.
func (g *Goal) markRepayments() {
	for i := 0; i < len(g.Words); {
		end := g.ClauseEnd(i)
		if g.holdsMoney(i, end) {
			g.markRepayment(i, end)
			g.markReversal(i, end)
		}
		i = end
	}
}

func (g *Goal) holdsMoney(i, end int) bool {
	for k := i; k < end; k++ {
		if monies[g.Words[k].Low] || g.Values.IsMoney(g.Words[k].Start) {
			return true
		}
	}
	return false
}

func (g *Goal) markRepayment(i, end int) {
	verb := -1
	for k := i; k < end; k++ {
		w := g.Words[k]
		switch {
		case (givers[w.Low] || g.asksFor(k)) && (w.Low != "get" || g.Low(k+1, k) != "back") && (verb < 0 || courtesies[g.Words[verb].Low]):
			verb = k
			if w.Low != "return" {
				continue
			}
		case w.Low != "back" || verb < 0:
			continue
		}
		g.Words[verb].Stem, g.Words[verb].Repays, g.Words[verb].Dull = refunds.Stem, true, false
		return
	}
}

// asksFor reports whether the word at an index reports a wish: asked for, asks for. It is no order to ask somebody.
func (g *Goal) asksFor(at int) bool {
	low := g.Words[at].Low
	return (low == "asked" || low == "asks") && g.Low(at+1, at) == "for"
}

var (
	reversing = SetOf(`reverse reverses reversed`)
	charges   = SetOf(`charge charges payment payments fee fees`)
	repaid    = Kin[Stem("refund")]
)

// markReversal reads "reverse the charge" as a repayment. To reverse a refund is the opposite.
func (g *Goal) markReversal(i, end int) {
	verb, charged := -1, false
	for k := i; k < end; k++ {
		w := g.Words[k]
		switch {
		case Kin[w.Stem] == repaid || w.Repays:
			return
		case reversing[w.Low] && verb < 0:
			verb = k
		case verb >= 0 && charges[w.Low]:
			charged = true
		}
	}
	if charged {
		g.Words[verb].Stem, g.Words[verb].Repays, g.Words[verb].Dull = refunds.Stem, true, false
	}
}

var (
	standing = SetOf(`is are was were be been being goes went`)
	outage   = Stem("outage")
)

// markOutages reads "the site is down" as an outage.
func (g *Goal) markOutages() {
	for i := range g.Words {
		if w := &g.Words[i]; w.Low == "down" && standing[g.Low(i-1, i)] {
			w.Stem, w.Dull = outage, false
		}
	}
}

var timing = SetOf(`before after until while during`)

// IsWhen reports whether the word at an index belongs to words that only say when: before the meeting.
func (g *Goal) IsWhen(at int) bool {
	for i := at; g.Low(i, at) != ""; i-- {
		if timing[g.Words[i].Low] {
			return true
		}
	}
	return false
}

// IsTotal reports whether the word at an index wants all figures that there are.
func (g *Goal) IsTotal(at int) bool {
	if !totals[g.Words[at].Low] || g.Words[at].Barred {
		return false
	}
	before := g.Low(at-1, at)
	return before == "" || Rhythms[before] || g.Words[at-1].Dull
}

// WantsTotals reports whether any word does.
func (g *Goal) WantsTotals() bool {
	for at := range g.Words {
		if g.IsTotal(at) {
			return true
		}
	}
	return false
}
