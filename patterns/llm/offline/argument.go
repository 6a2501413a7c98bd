package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"patterngate/catalog"
	"patterngate/patterns/llm/offline/english"
)

// need is what kind of value an argument takes.
type need int

const (
	needOther  need = iota // only a value that the goal names for it
	needDate               // 2027-05-17
	needMonth              // 2027-05
	needYear               // 2027
	needClock              // 14:30
	needEmail              //
	needLink               // a URL
	needMember             // one of an enumeration
	needShaped             // a text of a telling pattern, or formed like its example
	needMoney              // an amount
	needCode               // a currency
	needNumber             // a number with its unit
	needFlag               // true or false
	needProse              // words for people, which may be composed
	needQuery              // words to search for
	needName               // a proper name
	needPath               // a file or directory
)

// argument is one argument of a tool, read for what could fill it.
type argument struct {
	catalog.Property
	tool    toolWords
	need    need
	stems   []string // of its name
	head    []string // the same without id, number and the like: what the number belongs to
	shape   *regexp.Regexp
	members []member // of an enumeration of texts
	samples []string // codes that the schema gives as examples: US
}

// toolWords is what an argument knows of its tool.
type toolWords struct {
	name   []english.Token
	writes bool
}

// member is one of the texts that an argument may be.
type member struct {
	text  string
	words []english.Token
}

var (
	labels    = english.SetOf(`id ids no nr num number code ref reference key uid uuid identifier usd eur gbp chf name`)
	moneyish  = english.StemsOf(`amount price cost sum total fee fare budget limit payment charge salary deposit balance refund usd eur gbp chf cents`)
	proseish  = english.StemsOf(`message text body content note notes comment comments reason description details remark remarks instructions explanation justification feedback complaint purpose memo caption summary`)
	headings  = english.StemsOf(`title subject headline`) // of what is written; of what is read they are facts
	queryish  = english.StemsOf(`query q question search keyword keywords term terms topic phrase prompt`)
	placeish  = english.StemsOf(`city country town location place`)
	clockish  = english.StemsOf(`time hour clock`)
	pathish   = english.StemsOf(`path file filename filepath directory folder dir`)
	flagWords = map[string]bool{"true": true, "yes": true, "on": true, "false": false, "no": false, "off": false}
)

func newArgument(t catalog.Tool, p catalog.Property) argument {
	a := argument{Property: p, tool: toolWords{english.NameWords(t.Name), t.Effect != catalog.Read}}
	for _, m := range p.Enum {
		if text, ok := m.(string); ok {
			a.members = append(a.members, member{text, english.NameWords(text)})
		}
	}
	for _, w := range english.NameWords(p.Name) {
		a.stems = append(a.stems, w.Stem)
		if !labels[w.Low] {
			a.head = append(a.head, w.Stem)
		}
	}
	a.shape = shape(p)
	a.need = a.kind()
	if a.need == needOther {
		a.samples = samplesOf(p)
	}
	return a
}

// samplesOf are the codes, words of two to four capital letters, that are a property's example, or that its description
// has behind "such as" or the like, up to the sentence's end.
func samplesOf(p catalog.Property) []string {
	var found []string
	if isCode(p.Example) {
		found = append(found, p.Example)
	}
	_, rest, _ := strings.Cut(p.Description, "such as ")
	rest, _, _ = strings.Cut(rest, ".")
	for _, w := range english.WordsOf(rest) {
		if code := rest[w.Start:w.End]; isCode(code) && !slices.Contains(found, code) {
			found = append(found, code)
		}
	}
	return found
}

func isCode(text string) bool {
	return len(text) >= 2 && len(text) <= 4 && !strings.ContainsFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' })
}

// named reports whether a word of the argument's name is one of the stems.
func (a argument) named(stems map[string]bool) bool {
	return slices.ContainsFunc(a.stems, func(s string) bool { return stems[s] })
}

func (a argument) last() string {
	if len(a.stems) == 0 {
		return ""
	}
	return a.stems[len(a.stems)-1]
}

func (a argument) kind() need {
	switch a.Type {
	case "boolean":
		return needFlag
	case "integer", "number":
		return a.numberKind()
	case "string", "":
		return a.textKind()
	}
	return needOther // lists and objects
}

func (a argument) numberKind() need {
	switch {
	case len(a.Enum) > 0:
		return needMember
	case a.last() == "year":
		return needYear
	case a.last() == "id" || a.last() == "no":
		return needOther
	case a.named(moneyish):
		return needMoney
	}
	return needNumber
}

func (a argument) textKind() need {
	switch {
	case len(a.Enum) > 0:
		return needMember
	case a.Format == "email" || a.last() == english.Stem("email") && a.shape == nil:
		return needEmail
	case a.Format == "uri" || a.Format == "url" || a.last() == "url" || a.last() == "link":
		return needLink
	case a.Format != "" && a.Format != "date":
		return needOther
	}
	if n := a.spelledKind(); n != needOther {
		return n
	}
	switch {
	case a.shape != nil:
		return needShaped
	case a.Pattern == "" && a.named(queryish):
		return needQuery
	case a.Pattern == "" && (a.named(proseish) || a.named(headings) && a.tool.writes):
		return needProse
	case a.Pattern == "" && pathish[a.last()]:
		return needPath
	case a.last() == english.Stem("currency"):
		return needCode
	case a.last() == english.Stem("name") || a.named(placeish):
		return needName
	}
	return needOther
}

// spelledKind tells dates, months and times by format, spelling, description, example, pattern, at last by name.
func (a argument) spelledKind() need {
	hint := strings.ToUpper(a.Spelling + " " + a.Description)
	fits := func(text string) bool { return a.shape == nil || a.shape.MatchString(text) }
	day, month := fits("2027-05-17"), fits("2027-05")
	switch {
	case a.Format == "date" || strings.Contains(hint, "YYYY-MM-DD") || english.IsDate(a.Example):
		return needDate
	case strings.Contains(hint, "YYYY-MM") || english.IsMonth(a.Example):
		return needMonth
	case strings.Contains(hint, "HH:MM") || english.IsClock(a.Example):
		return needClock
	case a.shape != nil && day && !month:
		return needDate
	case a.shape != nil && month && !day:
		return needMonth
	case a.shape != nil:
		return needOther
	case a.last() == "dat" || a.last() == "day":
		return needDate
	case a.last() == "month":
		return needMonth
	case a.named(clockish):
		return needClock
	}
	return needOther
}

// shape is the pattern by which a value of the property is known at sight: its own where it refuses plain words, else the
// form of the example in the schema or of one in the description.
func shape(p catalog.Property) *regexp.Regexp {
	if p.Type != "string" && p.Type != "" || len(p.Enum) > 0 {
		return nil
	}
	if p.Pattern != "" {
		return knowable(p.Pattern)
	}
	if looksLikeID(p.Example) {
		return knowable(formOf(p.Example))
	}
	for _, c := range english.Chunks(p.Description) {
		if looksLikeID(c.Text) {
			return knowable(formOf(c.Text))
		}
	}
	return nil
}

// knowable compiles a pattern; nil for one that does not compile or takes any word.
func knowable(pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil || slices.ContainsFunc([]string{"please", "Report", "the"}, re.MatchString) {
		return nil
	}
	return re
}

// looksLikeID reports whether a text is one word of capitals or small letters and digits, such as INV-2031.
func looksLikeID(text string) bool {
	return len(text) >= 3 && len(text) <= 40 && strings.ContainsFunc(text, unicode.IsDigit) && unicode.IsLetter(rune(text[0])) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !english.InWord(r) && r != '-' && r != '_' })
}

// formOf is the pattern of texts with the same letters and separators and any digits: INV-2031 is ^INV-[0-9]+$. Letters
// after the first digit may be others.
func formOf(example string) string {
	var form strings.Builder
	form.WriteString("^")
	digits := false
	for i, r := range example {
		switch {
		case !unicode.IsDigit(r) && digits && unicode.IsLetter(r):
			form.WriteString("[A-Za-z]")
		case !unicode.IsDigit(r):
			form.WriteString(regexp.QuoteMeta(string(r)))
		case i == 0 || !unicode.IsDigit(rune(example[i-1])):
			form.WriteString("[0-9]+")
			digits = true
		}
	}
	return form.String() + "$"
}

// hint says to a person what is wanted for the argument.
func (a argument) hint() string {
	switch {
	case a.Spelling != "":
		return a.Spelling
	case len(a.Enum) > 0:
		return "one of " + listOf(a.Enum)
	case a.Description != "":
		return clip(a.Description, 120)
	case a.Example != "":
		return "such as " + clip(a.Example, 60)
	case a.need == needDate:
		return "YYYY-MM-DD"
	case a.need == needMonth:
		return "YYYY-MM"
	case a.Pattern != "":
		return "spelled " + clip(a.Pattern, 60)
	}
	return a.Type
}
