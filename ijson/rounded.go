package ijson

import (
	"math"
	"strconv"
)

// Rounded returns JSON in which each whole number beyond +-[MaxInteger] is written with an exponent, as the double that it is
// to RFC 8785: 9223372036854775807 becomes 9.223372036854776e+18. It is text itself where there is none. Others' schemas hold
// such bounds, of 64 bits, and no number beyond these fits as an integer anyway. What is no JSON, or beyond the doubles, stays
// as it is.
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

// AfterString is where the string ends that begins at a place of a JSON text: the index after its closing quote, or the text's
// end where there is none.
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

// beyondIntegers reads a whole number in digits that is beyond the exact ones, and a double all the same.
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
