package ijson

import (
	"fmt"
	"unicode/utf8"
)

// MaxShownName is the longest name that [ShownName] returns, in bytes.
const MaxShownName = 64

// AppendVisible appends text to dst as [Visible] spells it and returns the longer slice.
func AppendVisible(dst []byte, text string) []byte {
	from := 0 // text[from:i] is appended unchanged
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if unseen(r) {
			dst = append(dst, text[from:i]...)
			dst = fmt.Appendf(dst, `\u%04x`, r)
			from = i + size
		} else if r == utf8.RuneError && size == 1 { // no UTF-8; some terminals take such a byte for a control of C1
			dst = utf8.AppendRune(append(dst, text[from:i]...), r)
			from = i + size
		}
		i += size
	}
	return append(dst, text[from:]...)
}

// Visible returns text with its control and bidi characters spelled as \uXXXX. Such a text cannot end a line, color a
// terminal or change the order in which it is read. A text that is JSON stays the same JSON. Bytes that are no UTF-8
// become U+FFFD.
func Visible(text string) string { return string(AppendVisible(nil, text)) }

// unseen reports whether a character acts instead of being shown: a control, a line or paragraph separator, or one of
// Unicode's Bidi_Control.
func unseen(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x61c, r == 0x200e, r == 0x200f, r == 0x2028, r == 0x2029:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// ShownName returns the name that a client or another server chose, as a sentence can contain it: spelled as [Visible]
// spells it and cut to [MaxShownName] bytes.
func ShownName(name string) string {
	shown := make([]byte, 0, MaxShownName)
	for _, r := range name {
		n := len(shown)
		if r < utf8.RuneSelf && !unseen(r) {
			shown = append(shown, byte(r))
		} else {
			shown = AppendVisible(shown, string(r))
		}
		if len(shown) > MaxShownName {
			return string(shown[:n])
		}
	}
	if string(shown) == name {
		return name
	}
	return string(shown)
}
