package ijson

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Append appends the canonical form of a decoded value (RFC 8785) to dst: members sorted by the UTF-16 units of their
// names, no blanks, numbers as ECMAScript spells them, only `"`, `\` and control characters escaped. Bytes in a string that are
// no UTF-8, which a decoded value never has, become U+FFFD.
//
// It panics on a Go type that is no decoded value, and on NaN and infinities: both are faults of the program, see [Of].
func Append(dst []byte, v any) []byte { return encoder{}.append(dst, v) }

// Canonical returns the canonical form of a decoded value, as [Append] writes it.
func Canonical(v any) []byte { return Append(nil, v) }

// ArgsHash returns the first 12 hexadecimal digits of the SHA-256 of the canonical form of args, in which each string value
// (nested ones too, never a member name) is reduced to its [Words]. Calls whose arguments differ only in white space
// have one hash. A nil map is {}. It panics where [Append] does.
func ArgsHash(args map[string]any) string {
	const digits, usual = 12, 256 // usual: bytes of most arguments
	sum := sha256.Sum256(encoder{words: true}.object(make([]byte, 0, usual), args))
	var text [digits]byte
	hex.Encode(text[:], sum[:digits/2])
	return string(text[:])
}

// encoder writes canonical text, or one of two variants of it.
type encoder struct {
	words   bool // string values are reduced to their words
	inexact bool // whole numbers beyond MaxInteger are written with an exponent, so that no integer can be read from them
}

func (e encoder) append(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case float64:
		return e.number(dst, v)
	case string:
		if e.words {
			v = Words(v)
		}
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst, element)
		}
		return append(dst, ']')
	case map[string]any:
		return e.object(dst, v)
	}
	panic(fmt.Sprintf("ijson: %T is no decoded value", v))
}

func (e encoder) object(dst []byte, members map[string]any) []byte {
	var space [16]string
	names := space[:0]
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, compareUTF16)
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, name), ':')
		dst = e.append(dst, members[name])
	}
	return append(dst, '}')
}

// number writes n as ECMAScript's Number::toString does: the shortest digits that mean n, an exponent below 1e-6 and from
// 1e21 on.
func (e encoder) number(dst []byte, n float64) []byte {
	size := math.Abs(n)
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		panic(fmt.Sprintf("ijson: %v is no JSON number", n))
	case size <= MaxInteger && n == math.Trunc(n):
		return strconv.AppendInt(dst, int64(n), 10)
	case size >= 1e21, size < 1e-6, e.inexact && size > MaxInteger:
		return appendExponent(dst, n)
	}
	return strconv.AppendFloat(dst, n, 'f', -1, 64)
}

// appendExponent writes 1e-07 as 1e-7.
func appendExponent(dst []byte, n float64) []byte {
	dst = strconv.AppendFloat(dst, n, 'e', -1, 64)
	if end := len(dst); dst[end-2] == '0' && (dst[end-3] == '-' || dst[end-3] == '+') {
		dst[end-2] = dst[end-1]
		dst = dst[:end-1]
	}
	return dst
}

// appendString writes s in quotes, with the escapes of RFC 8785, section 3.2.2.2.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0 // s[from:i] goes as it is
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r >= utf8.RuneSelf && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		dst = appendEscape(append(dst, s[from:i]...), r)
		i += size
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// appendEscape writes a character that cannot stand for itself: a quote, a backslash, a control character, or
// U+FFFD for what is no character.
func appendEscape(dst []byte, r rune) []byte {
	const hexDigits = "0123456789abcdef"
	switch r {
	case utf8.RuneError:
		return utf8.AppendRune(dst, r)
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
}

// compareUTF16 orders two UTF-8 strings by their UTF-16 units. That is the order of their bytes, except that characters
// beyond U+FFFF (surrogates, D800 to DFFF) come before U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		const private, astral = 0xee, 0xf0 // the first bytes of U+E000 and U+10000
		if x >= private && y >= private && (x >= astral) != (y >= astral) {
			x, y = y, x
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

// Canonicalize is the canonical form of a text that is one JSON document: as [Canonical] of its value, without making
// the value. Repeated names are an error, as what is no JSON is.
func Canonicalize(text []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(text))
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("ijson: %w", err)
	}
	return v, nil
}
