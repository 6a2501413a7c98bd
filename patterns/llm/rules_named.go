package llm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"patterngate/ijson"
)

// byNames finds the values that stand behind the argument's name or behind what it belongs to: van_id=7, "van 7",
// "van no. 7"; and the others of a list after a plural: "vans 7 and 9".
func (r *reading) byNames(a argument) []candidate {
	if a.need == needProse || a.need == needQuery {
		return nil
	}
	var list []candidate
	for i := range r.goal.words {
		n, why := a.namedAt(r.goal.words[i:])
		if n == 0 {
			continue
		}
		list = append(list, r.valuesBehind(a, i+n-1, why)...)
	}
	return list
}

// namedAt reports how many words name the argument, and how well.
func (a argument) namedAt(list []goalWord) (int, evidence) {
	switch {
	case beginsWith(list, a.stems):
		return len(a.stems), byName
	case beginsWith(list, a.head):
		return len(a.head), byHead
	case len(a.head) == 1 && len(a.stems) > 1 && kin[a.head[0]] != "" && kin[list[0].stem] == kin[a.head[0]]:
		return 1, byHead
	}
	return 0, 0
}

func beginsWith(list []goalWord, stems []string) bool {
	if len(stems) == 0 || len(stems) > len(list) {
		return false
	}
	for i, s := range stems {
		if list[i].stem != s {
			return false
		}
	}
	return true
}

// fillers may stand between a name and its value.
var fillers = setOf(`id no nr num number code ref reference is was = equals named called with #`)

// valuesBehind reads what follows the word at i.
func (r *reading) valuesBehind(a argument, i int, why evidence) []candidate {
	g := r.goal
	at := g.words[i].end
	explicit, labelled := false, true
	k := g.chunkFrom(at)
	for skipped := 0; k < len(g.values.chunks) && skipped < 3; skipped++ {
		c := g.values.chunks[k]
		gap := g.text[at:max(at, c.start)]
		if strings.ContainsAny(gap, "!?;,)\n") || strings.Contains(gap, ". ") && skipped == 0 {
			return nil
		}
		explicit = explicit || strings.ContainsAny(gap, "=:") || c.text == "="
		low := strings.ToLower(c.text)
		if !fillers[low] {
			break
		}
		labelled = low != "with"
		at = c.end
		k++
	}
	if !labelled { // a customer with 42 orders
		return nil
	}
	plural := strings.HasSuffix(g.words[i].low, "s") && g.words[i].low != g.words[i].stem
	return r.listFrom(a, k, valueRules{why: why, explicit: explicit, plural: plural})
}

type valueRules struct {
	why              evidence
	explicit, plural bool
}

// listFrom reads the value in chunk k and, after a plural, those that "," and "and" add to it.
func (r *reading) listFrom(a argument, k int, rules valueRules) []candidate {
	var list []candidate
	chunks := r.goal.values.chunks
	for k < len(chunks) && len(list) < 8 {
		v, ok := r.valueAt(a, chunks[k], rules.explicit)
		if !ok {
			break
		}
		list = append(list, candidate{value: v, why: rules.why, at: chunks[k].start})
		if k+1 >= len(chunks) || !rules.plural && strings.ToLower(chunks[k+1].text) != "or" {
			break
		}
		comma := strings.Contains(r.goal.text[chunks[k].end:chunks[k+1].start], ",")
		k++
		if joining[strings.ToLower(chunks[k].text)] {
			k++
		} else if !comma {
			break
		}
	}
	return list
}

var joining = setOf(`and or &`)

// valueAt reads one chunk for an argument. A text without a digit is a value only where = or : or quotes say so.
func (r *reading) valueAt(a argument, c span, explicit bool) (any, bool) {
	v := &r.goal.values
	if a.need != needMoney && v.isMoney(c.start) {
		return nil, false
	}
	for _, q := range v.quoted {
		if q.start <= c.start && c.start < q.end {
			return a.convert(q.text)
		}
	}
	isText := a.Type == "string" || a.Type == ""
	if isText && !explicit && !strings.ContainsFunc(c.text, unicode.IsDigit) {
		return nil, false
	}
	return a.convert(c.text)
}

// chunkFrom is the index of the first chunk that begins at or after a byte.
func (g *goal) chunkFrom(at int) int {
	i, _ := slices.BinarySearchFunc(g.values.chunks, at, func(c span, at int) int { return c.start - at })
	return i
}

// wordAt is the index of the first word that begins at or after a byte.
func (g *goal) wordAt(at int) int {
	i, _ := slices.BinarySearchFunc(g.words, at, func(w goalWord, at int) int { return w.start - at })
	return i
}

// wordBefore is the word before a byte, in lower case.
func (g *goal) wordBefore(at int) string {
	if i := g.wordAt(at); i > 0 {
		return g.words[i-1].low
	}
	return ""
}

var small = setOf(`to for from on by in with as and please`)

// endsAt reports whether a number that ends at a byte has no unit: punctuation, the end or a small word follows.
func (g *goal) endsAt(at int) bool {
	i := g.wordAt(at)
	return i >= len(g.words) || parts(g.text[at:g.words[i].start]) || small[g.words[i].low]
}

// query composes search words: what the goal quotes, else what follows "about" or "for", else the clause's own words.
func (r *reading) query(a argument, clauses []int) []candidate {
	var list []candidate
	for _, q := range r.goal.values.quoted {
		list = append(list, candidate{value: q.text, why: byForm, at: q.start})
	}
	if len(list) > 0 {
		return list
	}
	own := a.tool.name
	var rest []string
	for i, w := range r.goal.words {
		if clauses != nil && !slices.Contains(clauses, w.clause) {
			continue
		}
		if introduces[w.low] {
			text := r.goal.phraseAfter(i)
			if w.low != "for" {
				text, _, _ = strings.Cut(text, " for ")
			}
			if text = strings.TrimSuffix(text, " please"); text != "" {
				return []candidate{{value: text, why: onlyOne, at: -1}}
			}
		}
		if !w.dull && !slices.ContainsFunc(own, func(o word) bool { return o.stem == w.stem }) {
			rest = append(rest, r.goal.text[w.start:w.end])
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return []candidate{{value: strings.Join(rest[:min(len(rest), 12)], " "), why: onlyOne, at: -1}}
}

var introduces = setOf(`about for on regarding concerning titled called`)

var (
	titles = setOf(`named called mr mrs ms miss dr for is customer client patient member user guest person employee`)
	where  = setOf(`in at from to near of for`)
)

// properNames takes capitalised names: behind the argument's name or a title, or the only one that the goal holds.
func (r *reading) properNames(a argument) []candidate {
	before := titles
	if a.named(placeish) {
		before = where
	}
	var list []candidate
	found := r.goal.capitalised()
	for _, s := range found {
		previous := r.goal.wordBefore(s.start)
		switch {
		case before[previous] || slices.Contains(a.head, stem(previous)):
			list = append(list, candidate{value: s.text, why: byCue, at: s.start})
		case len(found) == 1:
			list = append(list, candidate{value: s.text, why: onlyOne, at: s.start})
		}
	}
	return list
}

// capitalised finds runs of capitalised words that do not only begin a sentence.
func (g *goal) capitalised() []span {
	var found []span
	for i := 0; i < len(g.words); i++ {
		if !g.capital(i) {
			continue
		}
		j := i
		for j+1 < len(g.words) && g.capital(j+1) && g.text[g.words[j].end:g.words[j+1].start] == " " {
			j++
		}
		begins := i == 0 || strings.ContainsAny(g.text[g.words[i-1].end:g.words[i].start], ".!?:\n")
		if begins && j > i && (g.words[i].dull || titles[g.words[i].low]) {
			i, begins = i+1, false
		}
		if !begins || j > i {
			s := span{start: g.words[i].start, end: g.words[j].end}
			s.text = g.text[s.start:s.end]
			found = append(found, s)
		}
		i = j
	}
	return found
}

func (g *goal) capital(i int) bool {
	w := g.words[i]
	r, _ := utf8.DecodeRuneInString(g.text[w.start:])
	_, isMonth := monthNumbers[w.low]
	return unicode.IsUpper(r) && len(w.low) > 1 && !w.cited && !isMonth && currencies[w.low] == "" &&
		!strings.ContainsFunc(w.low, unicode.IsDigit) && !g.beginsID(i)
}

// beginsID reports whether a word is the letters before a number: the ORD of ORD-9001.
func (g *goal) beginsID(i int) bool {
	gap := g.gapAfter(i)
	return i+1 < len(g.words) && (gap == "-" || gap == "_" || gap == "#") && strings.ContainsFunc(g.words[i+1].low, unicode.IsDigit)
}

// maxProse bounds a text that is composed for an argument, in bytes.
const maxProse = 400

var givingReasons = stemsOf(`reason justification purpose comment explanation`)

// prose composes a text for people: what the goal writes for it, its reason, the figures of the step before, at last the
// goal itself. It is no fact, so nothing is invented.
func (r *reading) prose(a argument, clauses []int, more follow) []candidate {
	var list []candidate
	add := func(text string, why evidence) {
		if text = clip(text, maxProse); text != "" {
			list = append(list, candidate{value: text, why: why, at: -1})
		}
	}
	g := r.goal
	for i := range g.words {
		n, why := a.namedAt(g.words[i:])
		if n > 0 && why == byName && strings.HasPrefix(strings.TrimLeft(g.text[g.words[i+n-1].end:], " "), ":") {
			add(g.phraseAfterColon(i+n-1), byName)
		}
	}
	if a.named(givingReasons) {
		add(g.reason(), byName)
	}
	for _, q := range g.values.quoted {
		if slices.Contains(clauses, g.clauseAt(q.start)) {
			add(q.text, byForm)
		}
	}
	if more.asked {
		add(more.note, byForm)
	} else if !a.named(givingReasons) {
		add(g.said(clauses), byForm)
	}
	add(ijson.Words(g.text), onlyOne)
	return list[:min(len(list), 1)]
}

// phraseAfterColon is the rest of the sentence after "name:".
func (g *goal) phraseAfterColon(i int) string {
	rest := strings.TrimLeft(g.text[g.words[i].end:], " :\n")
	if end := strings.IndexAny(rest, ".!?;)\n"); end >= 0 {
		rest = rest[:end]
	}
	return strings.Trim(rest, " \"'“”")
}

// said is what one of the clauses wants said: what follows "that" or "saying".
func (g *goal) said(clauses []int) string {
	for i, w := range g.words {
		if (w.low == "that" || w.low == "saying" || w.low == "says") && slices.Contains(clauses, w.clause) {
			return g.phraseAfter(i)
		}
	}
	return ""
}
