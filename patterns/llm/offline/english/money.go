package english

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var Currencies = map[string]string{
	"usd": "USD", "dollar": "USD", "dollars": "USD", "$": "USD", "eur": "EUR", "euro": "EUR", "euros": "EUR", "€": "EUR",
	"gbp": "GBP", "pound": "GBP", "pounds": "GBP", "£": "GBP", "chf": "CHF", "jpy": "JPY", "yen": "JPY", "¥": "JPY",
	"cad": "CAD", "aud": "AUD", "inr": "INR", "cny": "CNY", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN",
}

// readMoney takes $2.50, 3000USD, 3,000 USD and USD 3000.
func (v *values) readMoney(text string, i int, c Span) {
	digits := strings.IndexFunc(c.Text, unicode.IsDigit)
	if digits < 0 {
		return
	}
	end := digits + strings.LastIndexAny(c.Text[digits:], "0123456789") + 1
	amount, ok := ParseNumber(c.Text[digits:end])
	if !ok {
		return
	}
	before, after := strings.ToLower(c.Text[:digits]), strings.ToLower(c.Text[end:])
	_, decimals, _ := strings.Cut(c.Text[digits:end], ".")
	m := Money{Span: c, Amount: amount, Vague: len(decimals) > 2} // 1.200 may be a thousand and more
	switch {
	case before == "" && after == "":
		v.moneyBeside(text, i, m)
		return
	case after == "":
		m.Currency = Currencies[before]
	case before == "":
		m.Currency = Currencies[after]
	}
	if m.Currency != "" {
		v.Money = append(v.Money, m)
	}
}

// moneyBeside takes a number with the currency before or behind it. Punctuation between the two parts them: 42, USD.
func (v *values) moneyBeside(text string, i int, m Money) {
	beside := func(a, b int) bool { return !strings.ContainsAny(text[v.Chunks[a].End:v.Chunks[b].Start], ",;.!?") }
	if i+2 < len(v.Chunks) && v.Chunks[i+1].Text == "US" && strings.HasPrefix(strings.ToLower(v.Chunks[i+2].Text), "dollar") {
		m.Currency, m.End = "USD", v.Chunks[i+2].End
	} else if i+1 < len(v.Chunks) && beside(i, i+1) {
		if code := Currencies[strings.ToLower(v.Chunks[i+1].Text)]; code != "" {
			m.Currency, m.End = code, v.Chunks[i+1].End
		}
	}
	if i > 0 && m.Currency == "" && beside(i-1, i) {
		if code := Currencies[strings.ToLower(v.Chunks[i-1].Text)]; code != "" {
			m.Currency, m.Start = code, v.Chunks[i-1].Start
		}
	}
	if m.Currency != "" {
		v.Money = append(v.Money, m)
	}
}

// ParseNumber reads digits, with commas between thousands, and a decimal point.
func ParseNumber(text string) (float64, bool) {
	whole, rest, _ := strings.Cut(text, ".")
	for i, group := range strings.Split(whole, ",") {
		if !IsDigits(strings.TrimPrefix(group, "-")) || i > 0 && len(group) != 3 || i == 0 && len(group) > 3 && strings.Contains(whole, ",") {
			return 0, false
		}
	}
	if strings.Contains(rest, ",") { // 1.200,50 is written for other readers
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return f, err == nil
}

func (v *values) IsMoney(at int) bool {
	return slices.ContainsFunc(v.Money, func(m Money) bool { return m.Start <= at && at < m.End })
}

var percent = Stem("percent")

var (
	// sharing come before what a share is taken of: half of the 90 EUR; bounding right before a bound: up to 90 EUR.
	sharing  = SetOf(`half third quarter part portion percent rest remainder most twice double some minus`)
	bounding = SetOf(`than most least max maximum minimum over under above below between around about roughly approximately nearly almost`)
	// connecting may stand between such a word and the amount.
	connecting = SetOf(`of the a an her his their its my your our this that original`)
	// multiplying behind an amount make it another one.
	multiplying = SetOf(`hundred thousand million billion bn mn k grand percent cents`)
	// ranging stand between the ends of a range, or between two that might be meant.
	ranging = SetOf(`or to and`)
)

// markVague marks amounts and numbers of which the goal does not say that they are the ones: 20 or 30 EUR, half of 90
// EUR, up to 90 EUR, 5 million EUR, 1 200 EUR.
func (v *values) markVague(g *Goal) {
	for i := range v.Money {
		m := &v.Money[i]
		m.Vague = m.Vague || v.isShared(g, m.Start) || v.isMultiplied(g, m.End)
		joined := v.numberBefore(g, m.Start)
		if joined == nil {
			continue
		}
		word := g.WordBefore(m.Start)
		if word == "or" || word == "to" || word == "and" && g.WordBefore(joined.Start) == "between" {
			m.Vague, joined.Vague = true, true
		}
	}
	for i := range v.Numbers {
		n := &v.Numbers[i]
		n.Vague = n.Vague || n.Unit == percent || v.isShared(g, n.Start) || v.isMultiplied(g, n.End)
	}
}

// isShared reports whether the words before an amount make it a bound or what a share is taken of.
func (v *values) isShared(g *Goal, at int) bool {
	i, gap := g.WordAt(at)-1, ""
	for ; i >= 0; i-- {
		if gap = g.Text[g.Words[i].End:at]; parts(gap) {
			return false
		}
		if low := g.Words[i].Low; bounding[low] && strings.TrimSpace(gap) == "" || low == "to" && i > 0 && g.Words[i-1].Low == "up" {
			return true
		}
		if !connecting[g.Words[i].Low] {
			break
		}
	}
	return i >= 0 && (sharing[g.Words[i].Low] || strings.Contains(gap, "%"))
}

func (v *values) isMultiplied(g *Goal, end int) bool {
	i := g.WordAt(end)
	return i < len(g.Words) && multiplying[g.Words[i].Low] && strings.TrimSpace(g.Text[end:g.Words[i].Start]) == ""
}

// numberBefore is the number that one of the words of a range ties to an amount, or nil.
func (v *values) numberBefore(g *Goal, at int) *numeral {
	i := g.WordAt(at) - 1
	if i < 1 || !ranging[g.Words[i].Low] {
		return nil
	}
	k := slices.IndexFunc(v.Numbers, func(n numeral) bool { return n.Start <= g.Words[i-1].Start && g.Words[i-1].Start < n.End })
	if k < 0 {
		return nil
	}
	return &v.Numbers[k]
}
