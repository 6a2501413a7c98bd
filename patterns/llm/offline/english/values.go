package english

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Span is a value with its place in the goal.
type Span struct {
	Text       string // as an argument would hold it
	Start, End int    // bytes
}

// Money is an amount with its currency, an ISO 4217 code; "" where the goal names none.
type Money struct {
	Span
	Amount   float64
	Currency string
	Vague    bool // one end of a range, a bound, what a share is taken of: not itself an amount to be paid
}

// numeral is a number that is no part of a longer value.
type numeral struct {
	Span
	Value float64
	Unit  string // stem of the word that follows
	Vague bool   // as with money
}

// values are what a goal holds besides words.
type values struct {
	Quoted, Dates, Months, Times, Emails, Links []Span
	Chunks                                      []Span // all that stands between blanks, without punctuation
	Money                                       []Money
	Numbers                                     []numeral
	covered                                     []Span // values whose words are no words of the goal
}

func findValues(g *Goal) values {
	var v values
	v.Quoted = findQuoted(g.Text)
	v.Chunks = Chunks(g.Text)
	v.findWrittenDates(g.Words)
	for i, c := range v.Chunks {
		v.read(g.Text, i, c)
	}
	v.findNumbers(g.Words)
	v.markVague(g)
	for _, list := range []*[]Span{&v.Dates, &v.Months} {
		slices.SortStableFunc(*list, func(a, b Span) int { return a.Start - b.Start })
	}
	v.covered = slices.Concat(v.covered, v.Dates, v.Months, v.Emails, v.Links)
	return v
}

func (v *values) Covers(at int) bool   { return within(v.covered, at) }
func (v *values) inQuotes(at int) bool { return within(v.Quoted, at) }

func within(list []Span, at int) bool {
	return slices.ContainsFunc(list, func(s Span) bool { return s.Start <= at && at < s.End })
}

// findQuoted finds text between double quotes of any kind, and between single quotes that stand outside words.
func findQuoted(text string) []Span {
	closing := map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»', '\'': '\'', '‘': '’'}
	var found []Span
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end, isOpening := closing[r]
		if isOpening && !InWord(before) {
			if n := strings.IndexRune(text[i+size:], end); n > 0 {
				inner := text[i+size : i+size+n]
				found = append(found, Span{strings.TrimSpace(inner), i, i + size + n})
				i += size + n
				_, size = utf8.DecodeRuneInString(text[i:])
			}
		}
		before = r
		i += size
	}
	return slices.DeleteFunc(found, func(s Span) bool { return s.Text == "" })
}

const around = "\"'“”‘’«»<>()[]{}.,;:!?#"

// Chunks finds what stands between blanks, and what follows = or : within it.
func Chunks(text string) []Span {
	found := make([]Span, 0, len(text)/5+1) // more than most texts have
	add := func(start, end int) {
		piece := text[start:end]
		inner := strings.TrimLeft(piece, around)
		start += len(piece) - len(inner)
		inner = strings.TrimRight(inner, around)
		for _, possessive := range []string{"'s", "’s"} {
			inner = strings.TrimSuffix(inner, possessive)
		}
		if inner != "" {
			found = append(found, Span{inner, start, start + len(inner)})
		}
	}
	at := 0
	for piece := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		start := at + strings.Index(text[at:], piece)
		at = start + len(piece)
		if i := strings.LastIndexAny(piece, "="); i > 0 && i < len(piece)-1 && !strings.Contains(piece, "://") {
			add(start, start+i)
			start += i + 1
		}
		add(start, at)
	}
	return found
}

// read takes what one chunk is by its form alone.
func (v *values) read(text string, i int, c Span) {
	switch {
	case IsDate(c.Text):
		v.Dates = append(v.Dates, c)
	case IsMonth(c.Text):
		v.Months = append(v.Months, c)
	case isSlashMonth(c.Text):
		c.Text = c.Text[3:] + "-" + c.Text[:2]
		v.Months = append(v.Months, c)
	case IsClock(c.Text):
		v.Times = append(v.Times, c)
	case IsEmail(c.Text):
		v.Emails = append(v.Emails, c)
	case strings.HasPrefix(c.Text, "https://") || strings.HasPrefix(c.Text, "http://"):
		v.Links = append(v.Links, c)
	default:
		v.readMoney(text, i, c)
	}
}

func IsDate(text string) bool  { return len(text) == 10 && parses(time.DateOnly, text) }
func IsMonth(text string) bool { return len(text) == 7 && parses("2006-01", text) }

// isSlashMonth reports whether a text is a month and a year like 04/2026.
func isSlashMonth(text string) bool { return len(text) == 7 && parses("01/2006", text) }

func IsClock(text string) bool { return len(text) == 5 && parses("15:04", text) }

func parses(layout, text string) bool {
	_, err := time.Parse(layout, text)
	return err == nil
}

func IsEmail(text string) bool {
	name, host, ok := strings.Cut(text, "@")
	return ok && name != "" && strings.Contains(strings.Trim(host, "."), ".") && !strings.ContainsAny(host, "@/:")
}

// findNumbers takes the chunks that are numbers and nothing else, with the word that follows.
func (v *values) findNumbers(list []Word) {
	next := 0
	for _, c := range v.Chunks {
		text, isShare := strings.CutSuffix(c.Text, "%")
		value, ok := ParseNumber(text)
		if !ok {
			value, ok = spelled[strings.ToLower(text)]
		}
		if !ok || within(v.Dates, c.Start) || within(v.Months, c.Start) || v.IsMoney(c.Start) {
			continue
		}
		for next < len(list) && list[next].Start < c.End {
			next++
		}
		n := numeral{Span: c, Value: value}
		if isShare {
			n.Unit = percent
		} else if next < len(list) {
			n.Unit = list[next].Stem
		}
		v.Numbers = append(v.Numbers, n)
	}
}

var spelled = map[string]float64{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}
