package llm

import (
	"slices"
	"strconv"
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
}

// numeral is a number that is no part of a longer value.
type numeral struct {
	span
	value float64
	unit  string // stem of the word that follows
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
		v.read(i, c)
	}
	v.findNumbers(g.words)
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
	var found []span
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
func (v *values) read(i int, c span) {
	switch {
	case isDate(c.text):
		v.dates = append(v.dates, c)
	case isMonth(c.text):
		v.months = append(v.months, c)
	case isClock(c.text):
		v.times = append(v.times, c)
	case isEmail(c.text):
		v.emails = append(v.emails, c)
	case strings.HasPrefix(c.text, "https://") || strings.HasPrefix(c.text, "http://"):
		v.links = append(v.links, c)
	default:
		v.readMoney(i, c)
	}
}

func isDate(text string) bool  { return len(text) == 10 && parses(time.DateOnly, text) }
func isMonth(text string) bool { return len(text) == 7 && parses("2006-01", text) }
func isClock(text string) bool { return len(text) == 5 && parses("15:04", text) }

func parses(layout, text string) bool {
	_, err := time.Parse(layout, text)
	return err == nil
}

func isEmail(text string) bool {
	name, host, ok := strings.Cut(text, "@")
	return ok && name != "" && strings.Contains(strings.Trim(host, "."), ".") && !strings.ContainsAny(host, "@/:")
}

var currencies = map[string]string{
	"usd": "USD", "dollar": "USD", "dollars": "USD", "$": "USD", "eur": "EUR", "euro": "EUR", "euros": "EUR", "€": "EUR",
	"gbp": "GBP", "pound": "GBP", "pounds": "GBP", "£": "GBP", "chf": "CHF", "jpy": "JPY", "yen": "JPY", "¥": "JPY",
	"cad": "CAD", "aud": "AUD", "inr": "INR", "cny": "CNY", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN",
}

// readMoney takes $2.50, 3000USD, 3,000 USD and USD 3000.
func (v *values) readMoney(i int, c span) {
	digits := strings.IndexFunc(c.text, unicode.IsDigit)
	if digits < 0 {
		return
	}
	end := digits + strings.LastIndexAny(c.text[digits:], "0123456789") + 1
	amount, ok := parseNumber(c.text[digits:end])
	if !ok {
		return
	}
	before, after := strings.ToLower(c.text[:digits]), strings.ToLower(c.text[end:])
	m := money{span: c, amount: amount}
	switch {
	case before == "" && after == "":
		v.moneyBeside(i, m)
		return
	case after == "":
		m.currency = currencies[before]
	case before == "":
		m.currency = currencies[after]
	}
	if m.currency != "" {
		v.money = append(v.money, m)
	}
}

func (v *values) moneyBeside(i int, m money) {
	if i+1 < len(v.chunks) {
		if code := currencies[strings.ToLower(v.chunks[i+1].text)]; code != "" {
			m.currency, m.end = code, v.chunks[i+1].end
		}
	}
	if i > 0 && m.currency == "" {
		if code := currencies[strings.ToLower(v.chunks[i-1].text)]; code != "" {
			m.currency, m.start = code, v.chunks[i-1].start
		}
	}
	if m.currency != "" {
		v.money = append(v.money, m)
	}
}

// parseNumber reads digits, with commas between thousands, and a decimal point.
func parseNumber(text string) (float64, bool) {
	whole, _, _ := strings.Cut(text, ".")
	for i, group := range strings.Split(whole, ",") {
		if !isDigits(strings.TrimPrefix(group, "-")) || i > 0 && len(group) != 3 || i == 0 && len(group) > 3 && strings.Contains(whole, ",") {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return f, err == nil
}

// findNumbers takes the chunks that are numbers and nothing else, with the word that follows.
func (v *values) findNumbers(list []goalWord) {
	next := 0
	for _, c := range v.chunks {
		text, percent := strings.CutSuffix(c.text, "%")
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
		if percent {
			n.unit = stem("percent")
		} else if next < len(list) {
			n.unit = list[next].stem
		}
		v.numbers = append(v.numbers, n)
	}
}

func (v *values) isMoney(at int) bool {
	return slices.ContainsFunc(v.money, func(m money) bool { return m.start <= at && at < m.end })
}

var spelled = map[string]float64{
	"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}

var monthNumbers = monthsByName()

func monthsByName() map[string]int {
	of := map[string]int{"sept": 9}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		of[name], of[name[:3]] = int(m), int(m)
	}
	return of
}

// findWrittenDates takes May 2027, 4 May 2027, 4th of May 2027 and May 4, 2027. A month without a year is none.
func (v *values) findWrittenDates(list []goalWord) {
	for i, w := range list {
		month, ok := monthNumbers[w.low]
		if !ok {
			continue
		}
		day, first := dayBefore(list, i)
		last := i
		if day == 0 && i+2 < len(list) {
			if d := dayNumber(list[i+1].low); d > 0 && isYear(list[i+2].low) {
				day, last = d, i+1
			}
		}
		if day == 0 {
			last = lastOfMonths(list, i)
		}
		if last+1 >= len(list) || !isYear(list[last+1].low) {
			continue
		}
		end := list[last+1]
		text := end.low + "-" + twoDigits(month)
		if day == 0 {
			v.months = append(v.months, span{text, w.start, w.end})
			v.covered = append(v.covered, span{start: end.start, end: end.end})
		} else if text += "-" + twoDigits(day); isDate(text) {
			v.dates = append(v.dates, span{text, list[first].start, end.end})
		}
	}
}

// lastOfMonths is the index of the last month of a list like "May and June", which begins at i.
func lastOfMonths(list []goalWord, i int) int {
	for i+1 < len(list) {
		next := i + 1
		if low := list[next].low; (low == "and" || low == "or" || low == "to") && next+1 < len(list) {
			next++
		}
		if monthNumbers[list[next].low] == 0 {
			break
		}
		i = next
	}
	return i
}

func dayBefore(list []goalWord, i int) (day, first int) {
	first = i - 1
	if first > 0 && list[first].low == "of" {
		first--
	}
	if first < 0 {
		return 0, i
	}
	if day = dayNumber(list[first].low); day == 0 {
		return 0, i
	}
	return day, first
}

func dayNumber(low string) int {
	for _, ending := range []string{"st", "nd", "rd", "th"} {
		low = strings.TrimSuffix(low, ending)
	}
	if n, err := strconv.Atoi(low); err == nil && n >= 1 && n <= 31 && len(low) <= 2 {
		return n
	}
	return 0
}

func isYear(low string) bool {
	return len(low) == 4 && isDigits(low) && (strings.HasPrefix(low, "19") || strings.HasPrefix(low, "20"))
}

func twoDigits(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
