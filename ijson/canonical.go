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

// Append appends the canonical form of a decoded value (RFC 8785) to dst.
//
//   - Members are sorted by the UTF-16 units of their names.
//   - There is no white space.
//   - Numbers are written as in ECMAScript.
//   - Only `"`, `\` and control characters are escaped.
//
// Invalid UTF-8 in a string becomes U+FFFD; decoded values contain none.
//
// Append panics on NaN, infinities and Go types that are not decoded values. All of these are errors of the program:
// see [Of].
func Append(dst []byte, v any) []byte { return encoder{}.append(dst, v) }

// Canonical returns the canonical form of a decoded value. It writes the same bytes as [Append].
func Canonical(v any) []byte { return Append(nil, v) }

// Hash returns the SHA-256 of a text as Patterngate writes it: "sha256:" and 64 hexadecimal digits. For the hash of a value, hash its
// [Canonical] form.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ArgsHash returns the first 12 hexadecimal digits of the SHA-256 of the canonical form of args. Before hashing, each
// string value, also a nested one, is reduced to its [Words]; member names are not. So calls whose arguments differ
// only in white space have the same hash. A nil map is {}. ArgsHash panics on the values on which [Append] panics.
func ArgsHash(args map[string]any) string {
	const digits, usual = 12, 256 // usual: size in bytes of most arguments
	sum := sha256.Sum256(encoder{words: true}.object(make([]byte, 0, usual), args))
	var text [digits]byte
	hex.Encode(text[:], sum[:digits/2])
	return string(text[:])
}

// encoder writes canonical text, or one of two variants of it.
type encoder struct {
	words   bool // string values are reduced to their words
	inexact bool // whole numbers beyond MaxInteger get an exponent, so that they cannot be read as integers
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

// number writes n as ECMAScript's Number::toString does: with the shortest digits that mean n. Numbers below 1e-6 and
// from 1e21 on get an exponent.
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

// appendExponent writes n with an exponent without a leading zero: 1e-7, not 1e-07.
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
	from := 0 // s[from:i] is copied unchanged
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

// appendEscape writes a quote, a backslash or a control character as an escape. Invalid UTF-8 becomes U+FFFD.
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

// compareUTF16 compares two UTF-8 strings by their UTF-16 units. The result is that of a comparison of bytes, with one
// exception: characters beyond U+FFFF (surrogates, D800 to DFFF) come before U+E000 to U+FFFF.
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

// Canonicalize returns the canonical form of a text that is one JSON document. It writes the same form as [Canonical],
// but does not build the value. Repeated names and text that is not JSON are errors.
func Canonicalize(text []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(text))
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("ijson: %w", err)
	}
	return v, nil
}
