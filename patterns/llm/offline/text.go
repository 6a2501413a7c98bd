package offline

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"patterngate/ijson"
	"patterngate/patterns/llm/offline/english"
)

// valued words one value by its name: money, rates, counts.
func valued(name string, v any) string {
	switch v := v.(type) {
	case float64:
		return figure(name, v)
	default:
		return worded(v)
	}
}

// worded words a value for people, on one line and bounded; "" for null and for what is no single value.
func worded(v any) string {
	switch v := v.(type) {
	case string:
		return line(v, maxText)
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return grouped(v, -1)
	}
	return ""
}

// figure words a number by its name: 12345 is "12,345 USD" for cost_usd, 0.125 is "12.5%" for failure_rate, and an id
// is not changed.
func figure(name string, v float64) string {
	words := english.NameWords(name)
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1].Low
	}
	switch {
	case currencyOf(name) != "":
		if v == math.Trunc(v) {
			return grouped(v, 0) + " " + currencyOf(name)
		}
		return grouped(v, 2) + " " + currencyOf(name)
	case (last == "rate" || last == "ratio" || last == "share") && v >= 0 && v <= 1:
		return strconv.FormatFloat(math.Round(v*1e6)/1e4, 'f', -1, 64) + "%"
	case last == "percent" || last == "pct":
		return grouped(v, -1) + "%"
	case labels[last] || last == "year":
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return grouped(v, -1)
}

// currencyOf is the code at the end of a name like cost_usd.
func currencyOf(name string) string {
	_, last, ok := cutLast(name, "_")
	if code := english.Currencies[last]; ok && strings.EqualFold(code, last) {
		return code
	}
	return ""
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], strings.ToLower(s[i+len(sep):]), true
	}
	return s, "", false
}

// grouped writes a number with commas between thousands; decimals -1 means as many as it has.
func grouped(v float64, decimals int) string {
	if math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	digits := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, rest, _ := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	if v < 0 {
		whole = "-" + whole
	}
	return whole
}

// listed words a list: its texts and numbers, or how many objects it has.
func listed(list []any) string {
	var parts []string
	for _, v := range list {
		if s := worded(v); s != "" {
			parts = append(parts, s)
		}
	}
	switch {
	case len(list) == 0:
		return ""
	case len(parts) < len(list):
		return fmt.Sprintf("%d entries", len(list))
	}
	return joinedBy(parts, "; ", 2*maxText)
}

func listOf(list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = worded(v)
	}
	return joinedBy(parts, ", ", 2*maxText)
}

// joined joins sentences as far as they fit.
func joined(parts []string, limit int) string {
	return joinedBy(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ", limit)
}

func joinedBy(parts []string, separator string, limit int) string {
	var b strings.Builder
	for i, p := range parts {
		if b.Len()+len(separator)+len(p) > limit-4 && i > 0 {
			b.WriteString(separator + "...")
			break
		}
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(ijson.Cut(p, limit))
	}
	return b.String()
}

// line makes a text from outside fit for an answer: one line, no control characters, bounded.
func line(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, ijson.Cut(s, 8*limit))
	return strings.TrimSuffix(clip(s, limit), ".")
}

// clip is a text on one line, cut where it is longer than limit bytes.
func clip(s string, limit int) string {
	s = ijson.Words(s)
	if len(s) <= limit {
		return s
	}
	s = ijson.Cut(s, limit-3)
	if i := strings.LastIndexByte(s, ' '); i > limit/2 {
		s = s[:i]
	}
	return s + "..."
}

func capitalised(s string) string {
	for i, r := range s {
		return string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// textsOf are the texts of a decoded list.
func textsOf(v any) []string {
	list, _ := v.([]any)
	var texts []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}
