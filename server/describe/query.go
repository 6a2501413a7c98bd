package describe

import (
	"slices"
	"strings"
	"unicode"
)

// search holds the arguments of describe_catalog after they were read.
type search struct {
	pattern int      // position of the pattern; -1: any
	names   []string // none: any
	words   []string // of the query; none: any
	from    int      // the first to show, of those found
	limit   int      // how many to show
	bound   string   // what a cursor of this search is bound to; empty: no cursor
}

// filtered reports whether the search filters by names or by a query.
func (s search) filtered() bool { return len(s.names) > 0 || len(s.words) > 0 }

// found returns the positions of the tools that match a search, and how many of the query's words each of them has. A
// query finds the tools that have the most of its words. It finds none if no tool has any of its words.
func (d *directory) found(s search) (places []int, met int) {
	for i, e := range d.tools {
		if s.pattern >= 0 && !slices.Contains(e.patterns, s.pattern) || len(s.names) > 0 && !slices.Contains(s.names, e.name) {
			continue
		}
		n := e.meets(s.words)
		if n > met {
			places, met = places[:0], n
		}
		if n == met && (n > 0 || len(s.words) == 0) {
			places = append(places, i)
		}
	}
	return places, met
}

// fillers are the words of a query that are ignored.
var fillers = strings.Fields("a an and any are at by can do for from get how i in is it me my of on or s some that the this to tool " +
	"tools want what which with")

// queryWords returns the words of a query without the fillers.
func queryWords(query string) []string {
	return slices.DeleteFunc(wordsOf(query), func(w string) bool { return slices.Contains(fillers, w) })
}

// meets returns how many words of a query are in the tool's name or description.
func (e entry) meets(query []string) int {
	n := 0
	for _, q := range query {
		if slices.ContainsFunc(e.words, func(w string) bool { return sameWord(q, w) }) {
			n++
		}
	}
	return n
}

// sameWord reports whether a word of a query matches a word of a tool: as its beginning, or as its longer form
// (refunds, refund).
func sameWord(query, word string) bool {
	const stem = 4
	return strings.HasPrefix(word, query) || len(word) >= stem && strings.HasPrefix(query, word)
}

// wordsOf returns the words of a text in lower case, sorted and without duplicates. Words consist of letters, marks and
// digits.
func wordsOf(text string) []string {
	parted := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	slices.Sort(parted)
	return slices.Compact(parted)
}
