package offline

import (
	"slices"
	"strings"
	"unicode"

	"patterngate/ijson"
	"patterngate/patterns/llm/offline/english"
)

// byNames finds the values that stand behind the argument's name or behind what it belongs to: van_id=7, "van 7",
// "van no. 7"; and the others of a list after a plural: "vans 7 and 9".
func (r *reading) byNames(a argument) []candidate {
	if a.need == needProse || a.need == needQuery {
		return nil
	}
	var list []candidate
	for i := range r.goal.Words {
		n, why := a.namedAt(r.goal.Words[i:])
		if n == 0 {
			continue
		}
		list = append(list, r.valuesBehind(a, i+n-1, why)...)
	}
	return list
}

// namedAt reports how many words name the argument, and how well.
func (a argument) namedAt(list []english.Word) (int, evidence) {
	switch {
	case beginsWith(list, a.stems):
		return len(a.stems), byName
	case beginsWith(list, a.head):
		return len(a.head), byHead
	case len(a.head) == 1 && len(a.stems) > 1 && english.Kin[a.head[0]] != "" && english.Kin[list[0].Stem] == english.Kin[a.head[0]]:
		return 1, byHead
	}
	return 0, 0
}

func beginsWith(list []english.Word, stems []string) bool {
	if len(stems) == 0 || len(stems) > len(list) {
		return false
	}
	for i, s := range stems {
		if list[i].Stem != s {
			return false
		}
	}
	return true
}

// fillers may stand between a name and its value.
var fillers = english.SetOf(`id no nr num number code ref reference is was = equals named called with #`)

// valuesBehind reads what follows the word at i.
func (r *reading) valuesBehind(a argument, i int, why evidence) []candidate {
	g := r.goal
	at := g.Words[i].End
	explicit, labelled := false, true
	k := g.ChunkFrom(at)
	for skipped := 0; k < len(g.Values.Chunks) && skipped < 3; skipped++ {
		c := g.Values.Chunks[k]
		gap := g.Text[at:max(at, c.Start)]
		if strings.ContainsAny(gap, "!?;,)\n") || strings.Contains(gap, ". ") && skipped == 0 {
			return nil
		}
		explicit = explicit || strings.ContainsAny(gap, "=:") || c.Text == "="
		low := strings.ToLower(c.Text)
		if !fillers[low] {
			break
		}
		labelled = low != "with"
		at = c.End
		k++
	}
	if !labelled { // a customer with 42 orders
		return nil
	}
	plural := strings.HasSuffix(g.Words[i].Low, "s") && g.Words[i].Low != g.Words[i].Stem
	return r.listFrom(a, k, valueRules{why: why, explicit: explicit, plural: plural})
}

type valueRules struct {
	why              evidence
	explicit, plural bool
}

// listFrom reads the value in chunk k and, after a plural, those that "," and "and" add to it.
func (r *reading) listFrom(a argument, k int, rules valueRules) []candidate {
	var list []candidate
	chunks := r.goal.Values.Chunks
	for k < len(chunks) && len(list) < 8 {
		v, ok := r.valueAt(a, chunks[k], rules.explicit)
		if !ok {
			break
		}
		list = append(list, candidate{value: v, why: rules.why, at: chunks[k].Start})
		if k+1 >= len(chunks) || !rules.plural && strings.ToLower(chunks[k+1].Text) != "or" {
			break
		}
		comma := strings.Contains(r.goal.Text[chunks[k].End:chunks[k+1].Start], ",")
		k++
		if joining[strings.ToLower(chunks[k].Text)] {
			k++
		} else if !comma {
			break
		}
	}
	return list
}

var joining = english.SetOf(`and or &`)

// valueAt reads one chunk for an argument. A text without a digit is a value only where = or : or quotes say so.
func (r *reading) valueAt(a argument, c english.Span, explicit bool) (any, bool) {
	v := &r.goal.Values
	if a.need != needMoney && v.IsMoney(c.Start) {
		return nil, false
	}
	for _, q := range v.Quoted {
		if q.Start <= c.Start && c.Start < q.End {
			return a.convert(q.Text)
		}
	}
	isText := a.Type == "string" || a.Type == ""
	if isText && !explicit && !strings.ContainsFunc(c.Text, unicode.IsDigit) {
		return nil, false
	}
	return a.convert(c.Text)
}

// query composes search words: what the goal quotes, else what follows "about" or "for", else the clause's own words.
func (r *reading) query(a argument, clauses []int) []candidate {
	var list []candidate
	for _, q := range r.goal.Values.Quoted {
		list = append(list, candidate{value: q.Text, why: byForm, at: q.Start})
	}
	if len(list) > 0 {
		return list
	}
	own := a.tool.name
	var rest []string
	for i, w := range r.goal.Words {
		if clauses != nil && !slices.Contains(clauses, w.Clause) {
			continue
		}
		if introduces[w.Low] {
			text := r.goal.PhraseAfter(i)
			if w.Low != "for" {
				text, _, _ = strings.Cut(text, " for ")
			}
			if text = strings.TrimSuffix(text, " please"); text != "" {
				return []candidate{{value: text, why: onlyOne, at: -1}}
			}
		}
		if !w.Dull && !slices.ContainsFunc(own, func(o english.Token) bool { return o.Stem == w.Stem }) {
			rest = append(rest, r.goal.Text[w.Start:w.End])
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return []candidate{{value: strings.Join(rest[:min(len(rest), 12)], " "), why: onlyOne, at: -1}}
}

var introduces = english.SetOf(`about for on regarding concerning titled called`)

var (
	where = english.SetOf(`in at from to near of for`)
)

// properNames takes capitalised names: behind the argument's name or a title, or the only one that the goal holds.
func (r *reading) properNames(a argument) []candidate {
	before := english.Titles
	if a.named(placeish) {
		before = where
	}
	var list []candidate
	found := r.goal.Capitalised()
	for _, s := range found {
		previous := r.goal.WordBefore(s.Start)
		switch {
		case before[previous] || slices.Contains(a.head, english.Stem(previous)):
			list = append(list, candidate{value: s.Text, why: byCue, at: s.Start})
		case len(found) == 1:
			list = append(list, candidate{value: s.Text, why: onlyOne, at: s.Start})
		}
	}
	return list
}

// maxProse bounds a text that is composed for an argument, in bytes.
const maxProse = 400

var givingReasons = english.StemsOf(`reason justification purpose comment explanation`)

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
	for i := range g.Words {
		n, why := a.namedAt(g.Words[i:])
		if n > 0 && why == byName && strings.HasPrefix(strings.TrimLeft(g.Text[g.Words[i+n-1].End:], " "), ":") {
			add(g.PhraseAfterColon(i+n-1), byName)
		}
	}
	if a.named(givingReasons) {
		add(g.Reason(), byName)
	}
	for _, q := range g.Values.Quoted {
		if slices.Contains(clauses, g.ClauseAt(q.Start)) {
			add(q.Text, byForm)
		}
	}
	if more.asked {
		add(more.note, byForm)
	} else if !a.named(givingReasons) {
		add(g.Said(clauses), byForm)
	}
	add(ijson.Words(g.Text), onlyOne)
	return list[:min(len(list), 1)]
}
