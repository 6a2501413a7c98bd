package llm

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// span is a value with its place in the goal.
type span struct {
	text       string // as an argument would hold it
	start, end int    // bytes
}

// money is an amount with its currency, an ISO 4217 code; "" where the goal names none.
type money struct {
	span
	amount   float64
	currency string
	vague    bool // one end of a range, a bound, what a share is taken of: not itself an amount to be paid
}

// numeral is a number that is no part of a longer value.
type numeral struct {
	span
	value float64
	unit  string // stem of the word that follows
	vague bool   // as with money
}

// values are what a goal holds besides words.
type values struct {
	quoted, dates, months, times, emails, links []span
	chunks                                      []span // all that stands between blanks, without punctuation
	money                                       []money
	numbers                                     []numeral
	covered                                     []span // values whose words are no words of the goal
}

func findValues(g *goal) values {
	var v values
	v.quoted = findQuoted(g.text)
	v.chunks = findChunks(g.text)
	v.findWrittenDates(g.words)
	for i, c := range v.chunks {
		v.read(g.text, i, c)
	}
	v.findNumbers(g.words)
	v.markVague(g)
	for _, list := range []*[]span{&v.dates, &v.months} {
		slices.SortStableFunc(*list, func(a, b span) int { return a.start - b.start })
	}
	v.covered = slices.Concat(v.covered, v.dates, v.months, v.emails, v.links)
	return v
}

func (v *values) covers(at int) bool   { return within(v.covered, at) }
func (v *values) inQuotes(at int) bool { return within(v.quoted, at) }

func within(list []span, at int) bool {
	return slices.ContainsFunc(list, func(s span) bool { return s.start <= at && at < s.end })
}

// findQuoted finds text between double quotes of any kind, and between single quotes that stand outside words.
func findQuoted(text string) []span {
	closing := map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»', '\'': '\'', '‘': '’'}
	var found []span
	before := ' '
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end, isOpening := closing[r]
		if isOpening && !inWord(before) {
			if n := strings.IndexRune(text[i+size:], end); n > 0 {
				inner := text[i+size : i+size+n]
				found = append(found, span{strings.TrimSpace(inner), i, i + size + n})
				i += size + n
				_, size = utf8.DecodeRuneInString(text[i:])
			}
		}
		before = r
		i += size
	}
	return slices.DeleteFunc(found, func(s span) bool { return s.text == "" })
}

const around = "\"'“”‘’«»<>()[]{}.,;:!?#"

// findChunks finds what stands between blanks, and what follows = or : within it.
func findChunks(text string) []span {
	found := make([]span, 0, len(text)/5+1) // more than most texts have
	add := func(start, end int) {
		piece := text[start:end]
		inner := strings.TrimLeft(piece, around)
		start += len(piece) - len(inner)
		inner = strings.TrimRight(inner, around)
		for _, possessive := range []string{"'s", "’s"} {
			inner = strings.TrimSuffix(inner, possessive)
		}
		if inner != "" {
			found = append(found, span{inner, start, start + len(inner)})
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
func (v *values) read(text string, i int, c span) {
	switch {
	case isDate(c.text):
		v.dates = append(v.dates, c)
	case isMonth(c.text):
		v.months = append(v.months, c)
	case isSlashMonth(c.text):
		c.text = c.text[3:] + "-" + c.text[:2]
		v.months = append(v.months, c)
	case isClock(c.text):
		v.times = append(v.times, c)
	case isEmail(c.text):
		v.emails = append(v.emails, c)
	case strings.HasPrefix(c.text, "https://") || strings.HasPrefix(c.text, "http://"):
		v.links = append(v.links, c)
	default:
		v.readMoney(text, i, c)
	}
}

func isDate(text string) bool  { return len(text) == 10 && parses(time.DateOnly, text) }
func isMonth(text string) bool { return len(text) == 7 && parses("2006-01", text) }

// isSlashMonth reports whether a text is a month and a year like 04/2026.
func isSlashMonth(text string) bool { return len(text) == 7 && parses("01/2006", text) }

func isClock(text string) bool { return len(text) == 5 && parses("15:04", text) }

func parses(layout, text string) bool {
	_, err := time.Parse(layout, text)
	return err == nil
}

func isEmail(text string) bool {
	name, host, ok := strings.Cut(text, "@")
	return ok && name != "" && strings.Contains(strings.Trim(host, "."), ".") && !strings.ContainsAny(host, "@/:")
}

// findNumbers takes the chunks that are numbers and nothing else, with the word that follows.
func (v *values) findNumbers(list []goalWord) {
	next := 0
	for _, c := range v.chunks {
		text, isShare := strings.CutSuffix(c.text, "%")
		value, ok := parseNumber(text)
		if !ok {
			value, ok = spelled[strings.ToLower(text)]
		}
		if !ok || within(v.dates, c.start) || within(v.months, c.start) || v.isMoney(c.start) {
			continue
		}
		for next < len(list) && list[next].start < c.end {
			next++
		}
		n := numeral{span: c, value: value}
		if isShare {
			n.unit = percent
		} else if next < len(list) {
			n.unit = list[next].stem
		}
		v.numbers = append(v.numbers, n)
	}
}

var spelled = map[string]float64{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}
