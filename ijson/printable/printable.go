package printable

import (
	"fmt"
	"unicode/utf8"

	"patterngate/ijson"
)

// Append appends text to dst and writes its control and bidi characters as \uXXXX. So nothing in the text can end a line, colour a
// terminal or reverse the order of reading. A JSON text keeps its value.
func Append(dst []byte, text string) []byte {
	from := 0 // text[from:i] is copied unchanged
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if IsControl(r) {
			dst = append(dst, text[from:i]...)
			dst = fmt.Appendf(dst, `\u%04x`, r)
			from = i + size
		} else if r == utf8.RuneError && size == 1 { // a stray byte; some terminals obey those of C1
			dst = utf8.AppendRune(append(dst, text[from:i]...), r)
			from = i + size
		}
		i += size
	}
	return append(dst, text[from:]...)
}

// Text returns text with its control and bidi characters written as \uXXXX.
func Text(text string) string { return string(Append(nil, text)) }

// IsControl reports whether a character acts instead of showing. These are controls, line and paragraph separators, and the
// characters of Unicode's Bidi_Control.
func IsControl(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x61c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Brief returns text, cut to about the given number of bytes. A longer text keeps its beginning and its end, where an error says what
// happened and why. Between them Brief writes how many bytes are left out.
func Brief(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := ijson.Cut(text, most*2/3)
	tail := text[len(text)-most/3:]
	for tail != "" && !utf8.RuneStart(tail[0]) { // the rest of a character that was split
		tail = tail[1:]
	}
	return fmt.Sprintf("%s... (%d bytes left out) ...%s", head, len(text)-len(head)-len(tail), tail)
}
