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
	text     string // without control characters
	words    []goalWord
	values   values
	readOnly bool // it says that nothing at all is to be changed
}

// goalWord is a word with its part in the sentence.
type goalWord struct {
	word
	clause int
	dull   bool // says nothing about which tool is wanted
	cited  bool // quoted, or part of a value
	why    bool // part of a reason
	asks   bool // part of a question, a condition or of what is to be told: nothing is to be done
	repays bool // wants money back, in more than one word; its stem is repayment's
	barred bool // after "without", "except": what it names is not wanted
	denied bool // after "do not", "never" or barred: what it names must not be done
	oppose bool // denied only by the verb before it: stop the order
}

// readGoal reads a request. What stands after words that try to change the rules ("ignore the instructions above") is
// not read at all.
func readGoal(text string) *goal {
	g := &goal{text: strings.Map(printable, ijson.Cut(text, maxGoal))}
	g.split(wordsOf(g.text))
	g.endAtOrders()
	g.values = findValues(g)
	for i := range g.words {
		w := &g.words[i]
		w.dull = dull[w.low] || len(w.low) == 1
		w.cited = g.values.covers(w.start) || g.values.inQuotes(w.start)
	}
	g.markReasons()
	g.markDenied()
	g.markQuestions()
	g.markRepayments()
	g.markOutages()
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
			(parts(g.text[list[i-1].end:w.start]) || conjunctions[w.low] && !conjunctions[list[i-1].low] && !allBut(list, i)) {
			clause++
		}
		g.words[i] = goalWord{word: w, clause: clause}
	}
}

// allBut reports whether the word at i excepts something: everything but the harbour.
func allBut(list []word, i int) bool {
	return list[i].low == "but" && (list[i-1].low == "everything" || list[i-1].low == "all" || list[i-1].low == "anything")
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
		if !g.givesReason(i) || w.cited {
			continue
		}
		end := i
		for end+1 < len(g.words) && g.words[end+1].why {
			end++
		}
		text := ijson.Words(strings.Trim(g.text[w.end:g.words[end].end], " .,;:!?\n"))
		return strings.TrimPrefix(strings.TrimPrefix(text, "to "), "of ")
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
