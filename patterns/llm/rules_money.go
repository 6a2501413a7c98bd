package llm

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var currencies = map[string]string{
	"usd": "USD", "dollar": "USD", "dollars": "USD", "$": "USD", "eur": "EUR", "euro": "EUR", "euros": "EUR", "€": "EUR",
	"gbp": "GBP", "pound": "GBP", "pounds": "GBP", "£": "GBP", "chf": "CHF", "jpy": "JPY", "yen": "JPY", "¥": "JPY",
	"cad": "CAD", "aud": "AUD", "inr": "INR", "cny": "CNY", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN",
}

// readMoney takes $2.50, 3000USD, 3,000 USD and USD 3000.
func (v *values) readMoney(text string, i int, c span) {
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
	_, decimals, _ := strings.Cut(c.text[digits:end], ".")
	m := money{span: c, amount: amount, vague: len(decimals) > 2} // 1.200 may be a thousand and more
	switch {
	case before == "" && after == "":
		v.moneyBeside(text, i, m)
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

// moneyBeside takes a number with the currency before or behind it. Punctuation between the two parts them: 42, USD.
func (v *values) moneyBeside(text string, i int, m money) {
	beside := func(a, b int) bool { return !strings.ContainsAny(text[v.chunks[a].end:v.chunks[b].start], ",;.!?") }
	if i+2 < len(v.chunks) && v.chunks[i+1].text == "US" && strings.HasPrefix(strings.ToLower(v.chunks[i+2].text), "dollar") {
		m.currency, m.end = "USD", v.chunks[i+2].end
	} else if i+1 < len(v.chunks) && beside(i, i+1) {
		if code := currencies[strings.ToLower(v.chunks[i+1].text)]; code != "" {
			m.currency, m.end = code, v.chunks[i+1].end
		}
	}
	if i > 0 && m.currency == "" && beside(i-1, i) {
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
	whole, rest, _ := strings.Cut(text, ".")
	for i, group := range strings.Split(whole, ",") {
		if !isDigits(strings.TrimPrefix(group, "-")) || i > 0 && len(group) != 3 || i == 0 && len(group) > 3 && strings.Contains(whole, ",") {
			return 0, false
		}
	}
	if strings.Contains(rest, ",") { // 1.200,50 is written for other readers
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return f, err == nil
}

func (v *values) isMoney(at int) bool {
	return slices.ContainsFunc(v.money, func(m money) bool { return m.start <= at && at < m.end })
}

var percent = stem("percent")

var (
	// sharing come before what a share is taken of: half of the 90 EUR; bounding right before a bound: up to 90 EUR.
	sharing  = setOf(`half third quarter part portion percent rest remainder most twice double some minus`)
	bounding = setOf(`than most least max maximum minimum over under above below between around about roughly approximately nearly almost`)
	// connecting may stand between such a word and the amount.
	connecting = setOf(`of the a an her his their its my your our this that original`)
	// multiplying behind an amount make it another one.
	multiplying = setOf(`hundred thousand million billion bn mn k grand percent cents`)
	// ranging stand between the ends of a range, or between two that might be meant.
	ranging = setOf(`or to and`)
)

// markVague marks amounts and numbers of which the goal does not say that they are the ones: 20 or 30 EUR, half of 90
// EUR, up to 90 EUR, 5 million EUR, 1 200 EUR.
func (v *values) markVague(g *goal) {
	for i := range v.money {
		m := &v.money[i]
		m.vague = m.vague || v.isShared(g, m.start) || v.isMultiplied(g, m.end)
		joined := v.numberBefore(g, m.start)
		if joined == nil {
			continue
		}
		word := g.wordBefore(m.start)
		if word == "or" || word == "to" || word == "and" && g.wordBefore(joined.start) == "between" {
			m.vague, joined.vague = true, true
		}
	}
	for i := range v.numbers {
		n := &v.numbers[i]
		n.vague = n.vague || n.unit == percent || v.isShared(g, n.start) || v.isMultiplied(g, n.end)
	}
}

// isShared reports whether the words before an amount make it a bound or what a share is taken of.
func (v *values) isShared(g *goal, at int) bool {
	i, gap := g.wordAt(at)-1, ""
	for ; i >= 0; i-- {
		if gap = g.text[g.words[i].end:at]; parts(gap) {
			return false
		}
		if low := g.words[i].low; bounding[low] && strings.TrimSpace(gap) == "" || low == "to" && i > 0 && g.words[i-1].low == "up" {
			return true
		}
		if !connecting[g.words[i].low] {
			break
		}
	}
	return i >= 0 && (sharing[g.words[i].low] || strings.Contains(gap, "%"))
}

func (v *values) isMultiplied(g *goal, end int) bool {
	i := g.wordAt(end)
	return i < len(g.words) && multiplying[g.words[i].low] && strings.TrimSpace(g.text[end:g.words[i].start]) == ""
}

// numberBefore is the number that one of the words of a range ties to an amount, or nil.
func (v *values) numberBefore(g *goal, at int) *numeral {
	i := g.wordAt(at) - 1
	if i < 1 || !ranging[g.words[i].low] {
		return nil
	}
	k := slices.IndexFunc(v.numbers, func(n numeral) bool { return n.start <= g.words[i-1].start && g.words[i-1].start < n.end })
	if k < 0 {
		return nil
	}
	return &v.numbers[k]
}
