package ijson

import (
	"math"
	"strconv"
)

// Rounded returns JSON text in which each whole number beyond +-[MaxInteger] has an exponent. It writes the double that
// RFC 8785 makes of the number: 9223372036854775807 becomes 9.223372036854776e+18. If there is no such number, Rounded
// returns text itself.
//
// Schemas of other servers contain such 64-bit bounds. Numbers beyond MaxInteger do not fit as integers anyway. Text
// that is not JSON and numbers beyond the doubles stay unchanged.
func Rounded(text []byte) []byte {
	var out []byte
	done := 0
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case c == '"':
			at = AfterString(text, at)
		case c == '-' || '0' <= c && c <= '9':
			end := afterNumber(text, at)
			if f, beyond := beyondIntegers(text[at:end]); beyond {
				out = append(out, text[done:at]...)
				out = strconv.AppendFloat(out, f, 'e', -1, 64)
				done = end
			}
			at = end
		default:
			at++
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

// AfterString returns the index after the closing quote of a string in a JSON text; at is the index of its opening
// quote. If there is no closing quote, AfterString returns the length of the text.
func AfterString(text []byte, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

func afterNumber(text []byte, at int) int {
	for at < len(text) {
		switch c := text[at]; {
		case '0' <= c && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			at++
		default:
			return at
		}
	}
	return at
}

// beyondIntegers reads a whole number, written in digits, that is beyond +-MaxInteger but within the finite doubles.
func beyondIntegers(number []byte) (f float64, beyond bool) {
	const exact = 15 // digits that are always exact
	if len(number) <= exact {
		return 0, false
	}
	for i, c := range number {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(string(number), 64)
	return f, err == nil && math.Abs(f) > MaxInteger
}
