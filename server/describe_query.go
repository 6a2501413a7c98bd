package server

import (
	"slices"
	"strings"
	"unicode"
)

// search is what describe_catalog was asked for.
type search struct {
	pattern int      // place of the pattern; -1: any
	names   []string // none: any
	words   []string // of the query; none: any
	from    int      // the first to show, of those found
	limit   int      // how many to show
	bound   string   // what a cursor of this search is bound to; empty: it has none
}

// filtered reports whether tools are chosen by more than their pattern.
func (s search) filtered() bool { return len(s.names) > 0 || len(s.words) > 0 }

// found are the tools of a search by their places, and how many of the query's words each of them meets. A query finds
// the tools that meet most of its words, and none where no tool meets one: who asks for too much gets what comes nearest.
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

// fillers are words of a query that say nothing about a tool.
var fillers = strings.Fields("a an and any are at by can do for from get how i in is it me my of on or s some that the this to tool " +
	"tools want what which with")

// queryWords are the words of a query that count.
func queryWords(query string) []string {
	return slices.DeleteFunc(wordsOf(query), func(w string) bool { return slices.Contains(fillers, w) })
}

// meets counts the words of a query that the tool's name or description has.
func (e entry) meets(query []string) int {
	n := 0
	for _, q := range query {
		if slices.ContainsFunc(e.words, func(w string) bool { return sameWord(q, w) }) {
			n++
		}
	}
	return n
}

// sameWord compares a query's word with one of a tool: the beginning of it, or its longer form (refunds, refund).
func sameWord(query, word string) bool {
	const stem = 4
	return strings.HasPrefix(word, query) || len(word) >= stem && strings.HasPrefix(query, word)
}

// wordsOf are a text's words in lower case, each once. Everything but letters, marks and digits parts them.
func wordsOf(text string) []string {
	parted := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	slices.Sort(parted)
	return slices.Compact(parted)
}
