package english

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"patterngate/ijson"
)

// maxGoal is how much of a goal is read, in bytes; the tools of the server take no more.
const maxGoal = 16 << 10

// Goal is a request as read: its words, parted into clauses, and the values in it.
type Goal struct {
	Text     string // without control characters
	Words    []Word
	Values   values
	ReadOnly bool // it says that nothing at all may change
}

// Word is a word with its part in the sentence.
type Word struct {
	Token
	Clause int
	Dull   bool // says nothing about which tool is wanted
	Cited  bool // quoted, or part of a value
	Why    bool // part of a reason
	Asks   bool // part of a question, a condition or a message: it asks for no action
	Repays bool // wants money back, in more than one word; its stem is repayment's
	Barred bool // after "without", "except": what it names is not wanted
	Denied bool // after "do not", "never" or barred: what it names must not be done
	Oppose bool // denied only by the verb before it: stop the order
}

// Read reads a request. What stands after words that try to change the rules ("ignore the instructions above") is
// not read at all.
func Read(text string) *Goal {
	g := &Goal{Text: strings.Map(printable, ijson.Cut(text, maxGoal))}
	g.split(WordsOf(g.Text))
	g.endAtOrders()
	g.Values = findValues(g)
	for i := range g.Words {
		w := &g.Words[i]
		w.Dull = Dull[w.Low] || len(w.Low) == 1
		w.Cited = g.Values.Covers(w.Start) || g.Values.inQuotes(w.Start)
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
var conjunctions = SetOf(`and then but also plus before after afterwards while`)

// split parts the words into clauses: at punctuation and at conjunctions.
func (g *Goal) split(list []Token) {
	g.Words = make([]Word, len(list))
	clause := 0
	for i, w := range list {
		if i > 0 && !joinsValues(g.Text, list, i) &&
			(parts(g.Text[list[i-1].End:w.Start]) || conjunctions[w.Low] && !conjunctions[list[i-1].Low] && !allBut(list, i)) {
			clause++
		}
		g.Words[i] = Word{Token: w, Clause: clause}
	}
}

// allBut reports whether the word at i excepts something: everything but the harbour.
func allBut(list []Token, i int) bool {
	return list[i].Low == "but" && (list[i-1].Low == "everything" || list[i-1].Low == "all" || list[i-1].Low == "anything")
}

// joinsValues reports whether the place before word i is inside a list of values: 3, 5 and 9; May and June 2027.
func joinsValues(text string, list []Token, i int) bool {
	gap := text[list[i-1].End:list[i].Start]
	if strings.Trim(gap, ", ") != "" || !isValue(list[i-1].Low) {
		return false
	}
	if list[i].Low == "and" {
		i++
		if i < len(list) && (list[i].Low == "of" || list[i].Low == "for" || list[i].Low == "in") {
			i++
		}
	}
	// An id begins with letters: KX-9081 is two words.
	for j := i; j < len(list) && j <= i+1; j++ {
		if isValue(list[j].Low) {
			return true
		}
		if j+1 < len(list) && strings.Trim(text[list[j].End:list[j+1].Start], "-_") != "" {
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
	overruling = SetOf(`ignore disregard forget override bypass`)
	rulings    = StemsOf(`instructions prompt rules policy policies guidelines guardrails directives`)
)

// roles begin a line that pretends to come from somebody who may give orders, such as "SYSTEM:".
var roles = SetOf(`system assistant developer`)

// endAtOrders cuts the goal before the first words that speak about the rules instead of the task.
func (g *Goal) endAtOrders() {
	for i, w := range g.Words {
		pretends := roles[w.Low] && strings.HasPrefix(g.Text[w.End:], ":") && (i == 0 || strings.Contains(g.Text[g.Words[i-1].End:w.Start], "\n"))
		if pretends || overruling[w.Low] && g.speaksOfRules(i+1) {
			g.cutBefore(i)
			return
		}
	}
}

// speaksOfRules reports whether one of the next few words does.
func (g *Goal) speaksOfRules(i int) bool {
	return slices.ContainsFunc(g.Words[i:min(i+6, len(g.Words))], func(w Word) bool { return rulings[w.Stem] })
}

func (g *Goal) cutBefore(i int) {
	for i > 0 && (courtesies[g.Words[i-1].Low] || roles[g.Words[i-1].Low]) {
		i--
	}
	g.Text, g.Words = g.Text[:g.Words[i].Start], g.Words[:i]
}

// ClauseAt is the clause that holds a byte of the text.
func (g *Goal) ClauseAt(at int) int {
	i := sort.Search(len(g.Words), func(i int) bool { return g.Words[i].Start > at })
	if i == 0 {
		return 0
	}
	return g.Words[i-1].Clause
}

// Has reports whether a word that is not left out has its stem in the set.
func (g *Goal) Has(stems map[string]bool) bool {
	return slices.ContainsFunc(g.Words, func(w Word) bool { return stems[w.Stem] && !w.Barred })
}

// Reason is what the goal gives as its reason, or "".
func (g *Goal) Reason() string {
	for i, w := range g.Words {
		if !g.givesReason(i) || w.Cited {
			continue
		}
		end := i
		for end+1 < len(g.Words) && g.Words[end+1].Why {
			end++
		}
		text := ijson.Words(strings.Trim(g.Text[w.End:g.Words[end].End], " .,;:!?\n"))
		return strings.TrimPrefix(strings.TrimPrefix(text, "to "), "of ")
	}
	return ""
}

// PhraseAfter is the text between a word and the next punctuation.
func (g *Goal) PhraseAfter(i int) string {
	end := len(g.Text)
	for j := i + 1; j < len(g.Words); j++ {
		if parts(g.Text[g.Words[j-1].End:g.Words[j].Start]) {
			end = g.Words[j-1].End
			break
		}
	}
	return ijson.Words(strings.TrimRight(g.Text[g.Words[i].End:end], " .,;:!?\n"))
}
