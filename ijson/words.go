package ijson

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsSpace reports whether r is white space as defined by Python's str.isspace: [unicode.IsSpace] and U+001C to U+001F,
// 29 code points. U+200B and U+FEFF are not white space.
func IsSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}

// Trim returns s without the white space at both ends.
func Trim(s string) string { return strings.TrimFunc(s, IsSpace) }

// Blank reports whether s is empty or contains only white space.
func Blank(s string) bool { return Trim(s) == "" }

// Words returns the words of s, joined by one space. It returns s itself if s has this form.
func Words(s string) string {
	if inWords(s) {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, IsSpace), " ")
}

// inWords reports whether the only white space in s is single spaces between words.
func inWords(s string) bool {
	gap := true // before the first word
	for _, r := range s {
		if r == ' ' {
			if gap {
				return false
			}
			gap = true
			continue
		}
		if r < ' ' || r >= utf8.RuneSelf {
			if IsSpace(r) {
				return false
			}
		}
		gap = false
	}
	return !gap || s == ""
}

// Cut returns the longest beginning of text that has at most maxBytes bytes and splits no character. For a negative
// maxBytes it returns "".
func Cut(text string, maxBytes int) string {
	switch {
	case maxBytes <= 0:
		return ""
	case len(text) <= maxBytes:
		return text
	}
	for end := maxBytes; end >= 0 && end > maxBytes-utf8.UTFMax; end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:maxBytes] // these bytes are not UTF-8
}
