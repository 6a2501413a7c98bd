package llm

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"patterngate/ijson"
)

// maxGoal is how much of a goal is read, in bytes; the tools of the server take no more.
const maxGoal = 16 << 10

// goal is a request as read: its words, parted into clauses, and the values that stand in it.
type goal struct {
	text   string // without control characters
	words  []goalWord
	values values
}

// goalWord is a word with its part in the sentence.
type goalWord struct {
	word
	clause int
	dull   bool // says nothing about which tool is wanted
	cited  bool // quoted, or part of a value
	why    bool // part of a reason
	asks   bool // in a clause that asks a question, so nothing is to be done
	tells  bool // in a clause that wants somebody told something
	barred bool // after "without", "except": what it names is not wanted
	denied bool // after "do not", "never" or barred: what it names must not be done
}

// readGoal reads a request. What stands after words that try to change the rules ("ignore the instructions above") is
// not read at all.
func readGoal(text string) *goal {
	g := &goal{text: strings.Map(printable, ijson.Cut(text, maxGoal))}
	g.split(wordsOf(g.text))
	g.endAtOrders()
	g.values = findValues(g)
	g.markReasons()
	g.markDenied()
	g.markClauses()
	for i := range g.words {
		w := &g.words[i]
		w.dull = dull[w.low] || len(w.low) == 1
		w.cited = g.values.covers(w.start) || g.values.inQuotes(w.start)
	}
	return g
}

func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' || r == '\u2028' || r == '\u2029' {
		return ' '
	}
	return r
}

// conjunctions begin a clause of their own.
var conjunctions = setOf(`and then but also plus before after afterwards while`)

// split parts the words into clauses: at punctuation and at conjunctions.
func (g *goal) split(list []word) {
	g.words = make([]goalWord, len(list))
	clause := 0
	for i, w := range list {
		if i > 0 && !joinsValues(g.text, list, i) &&
			(parts(g.text[list[i-1].end:w.start]) || conjunctions[w.low] && !conjunctions[list[i-1].low]) {
			clause++
		}
		g.words[i] = goalWord{word: w, clause: clause}
	}
}

// joinsValues reports whether the place before word i is inside a list of values: 3, 5 and 9; May and June 2027.
func joinsValues(text string, list []word, i int) bool {
	gap := text[list[i-1].end:list[i].start]
	if strings.Trim(gap, ", ") != "" || !isValue(list[i-1].low) {
		return false
	}
	if list[i].low == "and" {
		i++
		if i < len(list) && (list[i].low == "of" || list[i].low == "for" || list[i].low == "in") {
			i++
		}
	}
	// An id begins with letters: KX-9081 is two words.
	for j := i; j < len(list) && j <= i+1; j++ {
		if isValue(list[j].low) {
			return true
		}
		if j+1 < len(list) && strings.Trim(text[list[j].end:list[j+1].start], "-_") != "" {
			return false
		}
	}
	return false
}

func isValue(low string) bool {
	_, isMonth := monthNumbers[low]
	return isMonth && low != "may" || strings.ContainsFunc(low, unicode.IsDigit)
}

// parts reports whether what stands between two words ends a clause: punctuation with white space or a bracket. A point
// in a number or a colon in a time does not.
func parts(gap string) bool {
	if strings.ContainsAny(gap, "()[]\n") {
		return true
	}
	return strings.ContainsAny(gap, " \t") && strings.ContainsAny(gap, ".,;:!?–—") || strings.Contains(gap, " - ")
}

var (
	overruling = setOf(`ignore disregard forget override bypass`)
	rulings    = stemsOf(`instructions prompt rules policy policies guidelines guardrails directives`)
)

// roles begin a line that pretends to come from somebody who may give orders, such as "SYSTEM:".
var roles = setOf(`system assistant developer`)

// endAtOrders cuts the goal before the first words that speak about the rules instead of the task.
func (g *goal) endAtOrders() {
	for i, w := range g.words {
		pretends := roles[w.low] && strings.HasPrefix(g.text[w.end:], ":") && (i == 0 || strings.Contains(g.text[g.words[i-1].end:w.start], "\n"))
		if pretends || overruling[w.low] && g.speaksOfRules(i+1) {
			g.cutBefore(i)
			return
		}
	}
}

// speaksOfRules reports whether one of the next few words does.
func (g *goal) speaksOfRules(i int) bool {
	return slices.ContainsFunc(g.words[i:min(i+6, len(g.words))], func(w goalWord) bool { return rulings[w.stem] })
}

func (g *goal) cutBefore(i int) {
	for i > 0 && (courtesies[g.words[i-1].low] || roles[g.words[i-1].low]) {
		i--
	}
	g.text, g.words = g.text[:g.words[i].start], g.words[:i]
}

// givesReason reports whether the word at i begins a reason.
func (g *goal) givesReason(i int) bool {
	w := g.words[i]
	return w.low == "because" || w.low == "due" && i+1 < len(g.words) && g.words[i+1].low == "to"
}

// markReasons marks what follows "because" up to the next punctuation: it tells why, not what.
func (g *goal) markReasons() {
	inside := false
	for i := range g.words {
		w := &g.words[i]
		if inside && parts(g.text[g.words[i-1].end:w.start]) {
			inside = false
		}
		inside = inside || g.givesReason(i)
		w.why = inside
	}
}

var (
	// questions begin a clause that wants to know something; "can you" and "could you" want something done.
	questions = setOf(`what whats which how when who whose why where is are was were does did has have should am`)
	// showing are verbs that begin a clause in which something is to be seen and not done.
	showing = setOf(`show list check look view display see search find explain describe summarise summarize compare count`)
	// courtesies may stand before them.
	courtesies = setOf(`please also then and but first can could you would will i we want to need like now kindly just id d`)
)

// markClauses marks the clauses that tell, and those that ask: their sentence ends with a question mark and they begin with a question word,
// or they begin with a verb of looking.
func (g *goal) markClauses() {
	for i := 0; i < len(g.words); {
		end := i + 1
		for end < len(g.words) && g.words[end].clause == g.words[i].clause {
			end++
		}
		asks := questions[g.words[i].low] && g.endsInQuestion(end-1) || g.beginsByShowing(i, end)
		tells := !asks && g.tells(i, end)
		for ; i < end; i++ {
			g.words[i].asks, g.words[i].tells = asks, tells
		}
	}
}

func (g *goal) beginsByShowing(i, end int) bool {
	for i < end && courtesies[g.words[i].low] {
		i++
	}
	if i >= end {
		return false
	}
	first := g.words[i].low
	return showing[first] || first == "tell" && i+1 < end && isMe(g.words[i+1].low)
}

var telling = setOf(`tell inform notify message text email remind alert`)

// tells reports whether the clause of words i to end wants somebody else told something: tell him, let the driver know.
func (g *goal) tells(i, end int) bool {
	for i < end && (courtesies[g.words[i].low] || g.words[i].low == "let") {
		if next := i + 1; g.words[i].low == "let" && !g.words[i].denied && next < end && !isMe(g.words[next].low) {
			return slices.ContainsFunc(g.words[next:end], func(w goalWord) bool { return w.low == "know" })
		}
		i++
	}
	return i+1 < end && telling[g.words[i].low] && !g.words[i].denied && !isMe(g.words[i+1].low)
}

func isMe(low string) bool { return low == "me" || low == "us" }

// endsInQuestion reports whether the first mark that ends a sentence after a word is a question mark.
func (g *goal) endsInQuestion(i int) bool {
	rest := g.text[g.words[i].end:]
	at := strings.IndexAny(rest, ".!?\n")
	return at >= 0 && rest[at] == '?'
}

var barring = setOf(`without except excluding skip`)

// reach is how many words a denial covers within its clause.
const reach = 4

// markDenied marks what the goal says not to do, and what it leaves out.
func (g *goal) markDenied() {
	for i, w := range g.words {
		next := ""
		if i+1 < len(g.words) {
			next = g.words[i+1].low
		}
		bars := barring[w.low] || w.low == "leave" && next == "out"
		denies := w.low == "dont" || w.low == "never" || w.low == "do" && next == "not" || w.low == "no" && next == "need"
		if !bars && !denies {
			continue
		}
		for j := i + 1; j < len(g.words) && j <= i+reach && g.words[j].clause == w.clause; j++ {
			g.words[j].denied = true
			g.words[j].barred = g.words[j].barred || bars
		}
	}
}

// clauseAt is the clause that holds a byte of the text.
func (g *goal) clauseAt(at int) int {
	i := sort.Search(len(g.words), func(i int) bool { return g.words[i].start > at })
	if i == 0 {
		return 0
	}
	return g.words[i-1].clause
}

// has reports whether a word that is not left out has its stem in the set.
func (g *goal) has(stems map[string]bool) bool {
	return slices.ContainsFunc(g.words, func(w goalWord) bool { return stems[w.stem] && !w.barred })
}

// reason is what the goal gives as its reason, or "".
func (g *goal) reason() string {
	for i, w := range g.words {
		if g.givesReason(i) && !g.values.inQuotes(w.start) {
			return strings.TrimPrefix(g.phraseAfter(i), "to ")
		}
	}
	return ""
}

// phraseAfter is the text between a word and the next punctuation.
func (g *goal) phraseAfter(i int) string {
	end := len(g.text)
	for j := i + 1; j < len(g.words); j++ {
		if parts(g.text[g.words[j-1].end:g.words[j].start]) {
			end = g.words[j-1].end
			break
		}
	}
	return ijson.Words(strings.TrimRight(g.text[g.words[i].end:end], " .,;:!?\n"))
}
