package redaction

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// documents returns the JSON objects and arrays in a text. Then broken reports that the text may hold more values: one beginning was no
// valid document, a document has a member twice, or there are too many.
func documents(text string) (values []any, broken bool) {
	for failed := 0; failed < maxBroken && len(values) < maxDocuments; {
		at := strings.IndexAny(text, "{[")
		if at < 0 {
			return values, broken
		}
		text = text[at:]
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		if err := d.Decode(&v); err != nil {
			broken, failed, text = true, failed+1, text[1:]
			continue
		}
		end := d.InputOffset()
		broken = broken || repeats(text[:end], v)
		values, text = append(values, v), text[end:]
	}
	return values, true
}

// repeats reports whether a document has a member twice. Decoding keeps only the last one.
func repeats(text string, v any) bool {
	d := json.NewDecoder(strings.NewReader(text))
	tokens := 0
	for {
		if _, err := d.Token(); err != nil {
			return tokens != weigh(v)
		}
		tokens++
	}
}

// weigh returns how many tokens a value has: names, scalars and brackets.
func weigh(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		n = 2 + len(v)
		for _, m := range v {
			n += weigh(m)
		}
	case []any:
		n = 2
		for _, m := range v {
			n += weigh(m)
		}
	}
	return n
}

// containsNumber reports whether a text contains a number that is not part of a longer one.
func containsNumber(text, number string) bool {
	digit := func(i int) bool { return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9' }
	for from := 0; ; {
		at := strings.Index(text[from:], number)
		if at < 0 {
			return false
		}
		at += from
		if !digit(at-1) && !digit(at+len(number)) {
			return true
		}
		from = at + 1
	}
}

// forms returns a text, and the text with JSON escapes undone once, twice and so on, at most maxNested times. That finds values in
// texts within texts.
func forms(text string) []string {
	list := []string{text}
	for range maxNested {
		last := list[len(list)-1]
		if !strings.Contains(last, `\`) {
			break
		}
		list = append(list, unescaped(last))
	}
	return list
}

// unescaped undoes JSON escapes in a text that need not be JSON. Other backslashes stay.
func unescaped(text string) string {
	var b bytes.Buffer
	for len(text) > 0 {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			break
		}
		b.WriteString(text[:at])
		escape := text[at+1]
		text = text[at+2:]
		if i := strings.IndexByte(`"\/bfnrt`, escape); i >= 0 {
			b.WriteByte("\"\\/\b\f\n\r\t"[i])
			continue
		}
		unit, ok := hexUnit(escape, text)
		if !ok {
			b.WriteByte('\\')
			b.WriteByte(escape)
			continue
		}
		r := rune(unit)
		text = text[4:]
		if utf16.IsSurrogate(r) && len(text) > 1 && text[0] == '\\' {
			if low, ok := hexUnit(text[1], text[2:]); ok {
				if pair := utf16.DecodeRune(r, rune(low)); pair != utf8.RuneError {
					r, text = pair, text[6:]
				}
			}
		}
		b.WriteRune(r)
	}
	return b.String() + text
}

// hexUnit returns the code unit of an escape \uXXXX.
func hexUnit(escape byte, rest string) (uint16, bool) {
	if escape != 'u' || len(rest) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(rest[:4], 16, 16)
	return uint16(n), err == nil
}

// figures returns the numbers in a text, each also negated. It leaves out digits that are part of a name or of a hash.
func figures(text string) (list []float64) {
	word := func(r rune) bool {
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == ','
	}
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !word(r) }) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsDigit(r) }) // 800USD, USD800.
		if strings.ContainsFunc(w, func(r rune) bool { return r == '_' || unicode.IsLetter(r) }) {
			continue
		}
		if f, err := strconv.ParseFloat(strings.ReplaceAll(w, ",", ""), 64); err == nil {
			list = append(list, f, -f)
		}
	}
	return list
}
