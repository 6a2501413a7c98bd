package english

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsNear reports whether a byte is in one of the clauses, or in one that only adds values to it: and van 9.
func (g *Goal) IsNear(at int, clauses []int) bool {
	of := g.ClauseAt(at)
	if slices.Contains(clauses, of) {
		return true
	}
	i := g.WordAt(at)
	return slices.Contains(clauses, of-1) && (g.Low(i-1, i) == "and" || g.Low(i-2, i) == "and")
}

// ChunkFrom is the index of the first chunk that begins at or after a byte.
func (g *Goal) ChunkFrom(at int) int {
	i, _ := slices.BinarySearchFunc(g.Values.Chunks, at, func(c Span, at int) int { return c.Start - at })
	return i
}

// WordAt is the index of the first word that begins at or after a byte.
func (g *Goal) WordAt(at int) int {
	i, _ := slices.BinarySearchFunc(g.Words, at, func(w Word, at int) int { return w.Start - at })
	return i
}

// WordBefore is the word before a byte, in lower case.
func (g *Goal) WordBefore(at int) string {
	if i := g.WordAt(at); i > 0 {
		return g.Words[i-1].Low
	}
	return ""
}

var small = SetOf(`to for from on by in with as and please`)

// EndsAt reports whether a number that ends at a byte has no unit: punctuation, the end or a small word follows.
func (g *Goal) EndsAt(at int) bool {
	i := g.WordAt(at)
	return i >= len(g.Words) || parts(g.Text[at:g.Words[i].Start]) || small[g.Words[i].Low]
}

var Titles = SetOf(`named called mr mrs ms miss dr for is customer client patient member user guest person employee`)

// Capitalised finds runs of capitalised words that do not only begin a sentence.
func (g *Goal) Capitalised() []Span {
	var found []Span
	for i := 0; i < len(g.Words); i++ {
		if !g.capital(i) {
			continue
		}
		j := i
		for j+1 < len(g.Words) && g.capital(j+1) && g.Text[g.Words[j].End:g.Words[j+1].Start] == " " {
			j++
		}
		begins := i == 0 || strings.ContainsAny(g.Text[g.Words[i-1].End:g.Words[i].Start], ".!?:\n")
		if begins && j > i && (g.Words[i].Dull || Titles[g.Words[i].Low]) {
			i, begins = i+1, false
		}
		if !begins || j > i {
			s := Span{Start: g.Words[i].Start, End: g.Words[j].End}
			s.Text = g.Text[s.Start:s.End]
			found = append(found, s)
		}
		i = j
	}
	return found
}

func (g *Goal) capital(i int) bool {
	w := g.Words[i]
	r, _ := utf8.DecodeRuneInString(g.Text[w.Start:])
	_, isMonth := monthNumbers[w.Low]
	return unicode.IsUpper(r) && len(w.Low) > 1 && !w.Cited && !isMonth && Currencies[w.Low] == "" &&
		!strings.ContainsFunc(w.Low, unicode.IsDigit) && !g.beginsID(i)
}

// beginsID reports whether a word is the letters before a number: the ORD of ORD-9001.
func (g *Goal) beginsID(i int) bool {
	gap := g.GapAfter(i)
	return i+1 < len(g.Words) && (gap == "-" || gap == "_" || gap == "#") && strings.ContainsFunc(g.Words[i+1].Low, unicode.IsDigit)
}

// PhraseAfterColon is the rest of the sentence after "name:".
func (g *Goal) PhraseAfterColon(i int) string {
	rest := strings.TrimLeft(g.Text[g.Words[i].End:], " :\n")
	if end := strings.IndexAny(rest, ".!?;)\n"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Trim(rest, " \"'“”")
}

// Said is what one of the clauses wants said: what follows "that" or "saying".
func (g *Goal) Said(clauses []int) string {
	for i, w := range g.Words {
		if (w.Low == "that" || w.Low == "saying" || w.Low == "says") && slices.Contains(clauses, w.Clause) {
			return g.PhraseAfter(i)
		}
	}
	return ""
}

// Rhythms say how often an overview comes, not of what.
var Rhythms = SetOf(`daily weekly monthly quarterly yearly annual`)
