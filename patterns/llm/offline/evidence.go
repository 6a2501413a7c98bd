package offline

import (
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"patterngate/ijson"
	"patterngate/patterns/llm/offline/english"
)

// inGoal finds the values that the goal holds for an argument.
func (r *reading) inGoal(a argument, clauses []int) []candidate {
	list := r.byNames(a)
	add := func(v any, why evidence, at int) { list = append(list, candidate{value: v, why: why, at: at}) }
	v := &r.goal.Values
	switch a.need {
	case needDate:
		r.addSpans(&list, a, v.Dates)
	case needMonth:
		r.addSpans(&list, a, v.Months)
		for _, d := range v.Dates {
			add(d.Text[:len("2006-01")], derived, d.Start)
		}
	case needYear:
		for _, s := range slices.Concat(v.Months, v.Dates) {
			year, _ := strconv.Atoi(s.Text[:4]) // a date's year is digits
			add(float64(year), derived, s.Start)
		}
	case needClock:
		r.addSpans(&list, a, v.Times)
	case needEmail:
		r.addSpans(&list, a, v.Emails)
	case needLink:
		r.addSpans(&list, a, v.Links)
	case needMember:
		r.addMembers(&list, a)
	case needShaped:
		r.addShaped(&list, a)
	case needMoney:
		r.addMoney(&list, a)
	case needCode:
		for _, m := range v.Money {
			add(m.Currency, byForm, m.Start)
		}
	case needNumber:
		r.addCounted(&list, a)
	case needFlag:
		r.addFlag(&list, a)
	case needQuery:
		list = append(list, r.query(a, clauses)...)
	case needPath:
		r.addPaths(&list)
	case needName:
		list = append(list, r.properNames(a)...)
	case needOther:
		r.addLoneID(&list, a)
		r.addSamples(&list, a)
	}
	return list
}

// cues are the words before a value that tell which of two like arguments it is.
var cues = map[string]map[string]bool{
	"from": english.SetOf(`from`), "sourc": english.SetOf(`from`), "origin": english.SetOf(`from`), "start": english.SetOf(`from between since starting`),
	"begin": english.SetOf(`from between since starting`), "sinc": english.SetOf(`since from`), "to": english.SetOf(`to into onto`),
	"target": english.SetOf(`to into onto`), "destin": english.SetOf(`to into onto`), "end": english.SetOf(`to until till through and by`),
	"until": english.SetOf(`to until till through and by`),
}

// addSpans adds values known by their form; where the argument's name calls for a word before it, that word decides.
func (r *reading) addSpans(list *[]candidate, a argument, spans []english.Span) {
	var wanted map[string]bool
	for _, s := range a.stems {
		if c := cues[s]; c != nil {
			wanted = c
			break
		}
	}
	for _, s := range spans {
		before := r.goal.WordBefore(s.Start)
		switch {
		case wanted[before]:
			*list = append(*list, candidate{value: s.Text, why: byCue, at: s.Start})
		case wanted == nil || !directions[before]:
			*list = append(*list, candidate{value: s.Text, why: byForm, at: s.Start})
		}
	}
}

// directions are the cues that speak against an argument with other cues.
var directions = english.SetOf(`from between since starting to into onto until till through`)

func (r *reading) addShaped(list *[]candidate, a argument) {
	found := r.shaped(a)
	r.addSpans(list, a, found)
	before, after := fixedEnds(a.shape)
	if len(found) > 0 || before+after == "" {
		return
	}
	for _, c := range r.goal.Values.Chunks {
		if whole := before + c.Text + after; a.shape.MatchString(whole) {
			*list = append(*list, candidate{value: whole, why: derived, at: c.Start})
		}
	}
}

// fixedEnds are the texts with which every value of an anchored pattern begins and ends: /srv/orders/ and .json for
// ^/srv/orders/A-[0-9]{4}\.json$, so that A-1001 is enough.
func fixedEnds(shape *regexp.Regexp) (before, after string) {
	parsed, err := syntax.Parse(shape.String(), syntax.Perl)
	if err != nil || parsed.Op != syntax.OpConcat {
		return "", ""
	}
	parts := parsed.Sub
	n := len(parts)
	if n < 3 || parts[0].Op != syntax.OpBeginText || parts[n-1].Op != syntax.OpEndText {
		return "", ""
	}
	if parts[1].Op == syntax.OpLiteral {
		before = string(parts[1].Rune)
		before = before[:strings.LastIndexByte(before, '/')+1] // what follows belongs to the name
	}
	if parts[n-2].Op == syntax.OpLiteral {
		after = string(parts[n-2].Rune)
	}
	return before, after
}

// addPaths takes what is written like a path or a file name.
func (r *reading) addPaths(list *[]candidate) {
	for _, c := range r.goal.Values.Chunks {
		dot := strings.LastIndexByte(c.Text, '.')
		isFile := dot > 0 && len(c.Text)-dot <= 6 && english.StartsWithLetter(c.Text[dot+1:]) && !english.IsEmail(c.Text)
		if isFile || strings.Contains(c.Text, "/") && !strings.Contains(c.Text, "://") && strings.ContainsFunc(c.Text, unicode.IsLetter) {
			*list = append(*list, candidate{value: c.Text, why: byForm, at: c.Start})
		}
	}
}

// shaped are the goal's values of an argument's pattern, also in capitals.
func (r *reading) shaped(a argument) []english.Span {
	key := a.shape.String()
	if known, ok := r.byShape[key]; ok {
		return known
	}
	var found []english.Span
	for _, c := range r.goal.Values.Chunks {
		if a.shape.MatchString(c.Text) {
			found = append(found, c)
		} else if upper := strings.ToUpper(c.Text); a.shape.MatchString(upper) {
			found = append(found, english.Span{Text: upper, Start: c.Start, End: c.End})
		}
	}
	r.byShape[key] = found
	return found
}

// addMembers finds members of an enumeration: all their words in a row, or a word that only one member has.
func (r *reading) addMembers(list *[]candidate, a argument) {
	if len(a.Enum) == 1 && a.Required {
		*list = append(*list, candidate{value: a.Enum[0], why: fromInput, at: -1})
		return
	}
	for _, m := range a.members { // numbers are found by the argument's name
		for i, w := range r.goal.Words {
			if w.Barred {
				continue
			}
			if spells(r.goal, i, m) {
				*list = append(*list, candidate{value: m.text, why: byForm, at: w.Start})
			} else if len(w.Low) >= 3 && !w.Dull && len(m.words) > 1 && a.ownWord(m, w.Stem) {
				*list = append(*list, candidate{value: m.text, why: onlyOne, at: w.Start})
			}
		}
	}
}

// spells reports whether the member's words stand at i. Members of one or two letters must be spelled exactly: us is no US.
func spells(g *english.Goal, i int, m member) bool {
	if len(m.words) == 0 || i+len(m.words) > len(g.Words) {
		return false
	}
	for j, w := range m.words {
		if g.Words[i+j].Stem != w.Stem {
			return false
		}
	}
	return len(m.text) > 2 || g.Text[g.Words[i].Start:g.Words[i].End] == m.text
}

// ownWord reports whether a stem is a word of this member and of no other.
func (a argument) ownWord(m member, stem string) bool {
	has := func(m member) bool {
		return slices.ContainsFunc(m.words, func(w english.Token) bool { return w.Stem == stem })
	}
	return has(m) && !slices.ContainsFunc(a.members, func(o member) bool { return o.text != m.text && has(o) })
}

// addMoney takes amounts in the argument's currency; a bare number only right after the thing to pay for.
func (r *reading) addMoney(list *[]candidate, a argument) {
	currency, cents := "", false
	for _, s := range a.stems {
		if code := english.Currencies[s]; code != "" {
			currency = code
		}
		cents = cents || s == english.Stem("cents")
	}
	add := func(amount float64, why evidence, at int) {
		if cents {
			amount = math.Round(amount * 100)
		}
		if a.Type == "integer" && amount != math.Trunc(amount) {
			return
		}
		*list = append(*list, candidate{value: amount, why: why, at: at})
	}
	for _, m := range r.goal.Values.Money {
		if currency != "" && m.Currency != currency || a.tool.writes && (m.Vague || r.isSplit(a, m)) {
			continue
		}
		why := byForm
		if r.paysFor(a, m.Start) {
			why = byCue
		}
		add(m.Amount, why, m.Start)
	}
	for _, n := range r.goal.Values.Numbers {
		if r.paysFor(a, n.Start) && r.goal.EndsAt(n.End) && !(n.Vague && a.tool.writes) {
			add(n.Value, onlyOne, n.Start)
		}
	}
}

// isSplit reports whether an amount is only the end of one: pay 1 200 EUR.
func (r *reading) isSplit(a argument, m english.Money) bool {
	i := r.goal.WordAt(m.Start) - 1
	return i >= 0 && english.IsDigits(r.goal.Words[i].Low) && strings.TrimSpace(r.goal.Text[r.goal.Words[i].End:m.Start]) == "" &&
		r.paysFor(a, r.goal.Words[i].Start)
}

var linking = english.SetOf(`of for is was a an the him her them back exactly about only`)

// paysFor reports whether the word before an amount, linking words aside, is one of the tool's name: fine of 30.
func (r *reading) paysFor(a argument, at int) bool {
	i := r.goal.WordAt(at) - 1
	for steps := 0; i >= 0 && linking[r.goal.Words[i].Low] && steps < 3; steps++ {
		i--
	}
	if i < 0 {
		return false
	}
	s := r.goal.Words[i].Stem
	return slices.ContainsFunc(a.tool.name, func(w english.Token) bool { return w.Stem == s && !english.Dull[w.Low] })
}

// addCounted takes a number whose unit is a word of the argument: 3 hours for duration_hours, 5 boxes for quantity when
// the description speaks of boxes.
func (r *reading) addCounted(list *[]candidate, a argument) {
	described := english.WordsOf(a.Description)
	for _, n := range r.goal.Values.Numbers {
		if n.Unit == "" || a.Type == "integer" && n.Value != math.Trunc(n.Value) {
			continue
		}
		fits := slices.Contains(a.stems, n.Unit) ||
			slices.ContainsFunc(described, func(w english.Token) bool { return w.Stem == n.Unit && !english.Dull[w.Low] })
		if fits {
			*list = append(*list, candidate{value: n.Value, why: byForm, at: n.Start})
		}
	}
}

// addFlag takes a flag that the goal names; saying nothing is not saying no.
func (r *reading) addFlag(list *[]candidate, a argument) {
	for i, w := range r.goal.Words {
		if len(a.stems) == 0 || i+len(a.stems) > len(r.goal.Words) || w.Stem != a.stems[0] {
			continue
		}
		same := true
		for j, s := range a.stems {
			same = same && r.goal.Words[i+j].Stem == s
		}
		if same {
			*list = append(*list, candidate{value: !w.Denied, why: byHead, at: w.Start})
		}
	}
}

// addSamples takes a value that the argument's own example or description gives as one, if the goal has it letter by letter:
// US where the description says "such as US or EU".
func (r *reading) addSamples(list *[]candidate, a argument) {
	if a.Type != "string" {
		return
	}
	for _, sample := range a.samples {
		for _, w := range r.goal.Words {
			if r.goal.Text[w.Start:w.End] == sample && !w.Cited && !w.Barred {
				*list = append(*list, candidate{value: sample, why: onlyOne, at: w.Start})
			}
		}
	}
}

// addLoneID takes the one thing in the goal that looks like an id, for the one argument of all tools that wants an id.
func (r *reading) addLoneID(list *[]candidate, a argument) {
	if a.Type == "integer" || !a.isID() || r.idArguments() != 1 {
		return
	}
	var found []english.Span
	for _, c := range r.goal.Values.Chunks {
		if looksLikeID(c.Text) && !r.goal.Values.Covers(c.Start) && !r.hasForm(c.Text) && !slices.ContainsFunc(found, func(s english.Span) bool { return s.Text == c.Text }) {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		*list = append(*list, candidate{value: found[0].Text, why: onlyOne, at: found[0].Start})
	}
}

// hasForm reports whether a text has the form that an argument of some tool wants: then it is that, and not just any id.
func (r *reading) hasForm(text string) bool {
	return slices.ContainsFunc(r.tools, func(t *studied) bool {
		return slices.ContainsFunc(t.arguments, func(a argument) bool {
			return a.need == needShaped && (a.shape.MatchString(text) || a.shape.MatchString(strings.ToUpper(text)))
		})
	})
}

func (a argument) isID() bool {
	last := a.last()
	return a.Type == "string" && a.need == needOther && (last == "id" || last == "number" || last == "numb" || last == "no" || last == "code" || last == "ref")
}

// idArguments counts the different id arguments of all tools.
func (r *reading) idArguments() int {
	names := map[string]bool{}
	for _, t := range r.tools {
		for _, a := range t.arguments {
			if a.isID() {
				names[a.Name] = true
			}
		}
	}
	return len(names)
}

// convert reads a text as a value of the argument's type.
func (a argument) convert(text string) (any, bool) {
	switch a.Type {
	case "integer", "number":
		f, ok := english.ParseNumber(text)
		if !ok || a.Type == "integer" && (f != math.Trunc(f) || math.Abs(f) > ijson.MaxInteger) {
			return nil, false
		}
		return f, len(a.Enum) == 0 || slices.Contains(a.Enum, any(f))
	case "boolean":
		flag, ok := flagWords[strings.ToLower(text)]
		return flag, ok
	case "string", "":
		return a.convertText(text)
	}
	return nil, false
}

func (a argument) convertText(text string) (any, bool) {
	if len(a.Enum) > 0 {
		i := slices.IndexFunc(a.Enum, func(m any) bool { s, ok := m.(string); return ok && strings.EqualFold(s, text) })
		if i < 0 {
			return nil, false
		}
		return a.Enum[i], true
	}
	switch a.need {
	case needDate:
		return text, english.IsDate(text)
	case needMonth:
		return text, english.IsMonth(text)
	case needClock:
		return text, english.IsClock(text)
	case needEmail:
		return text, english.IsEmail(text)
	}
	if a.shape != nil && !a.shape.MatchString(text) {
		text = strings.ToUpper(text)
		return text, a.shape.MatchString(text)
	}
	return text, !ijson.Blank(text)
}
