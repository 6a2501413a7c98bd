package ijson

import (
	"fmt"
	"unicode/utf8"
)

// Brief returns text, cut to about most bytes. A longer text keeps its beginning and its end, where an error says what
// happened and why. Between them Brief writes how many bytes are left out.
func Brief(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := Cut(text, most*2/3)
	tail := text[len(text)-most/3:]
	for tail != "" && !utf8.RuneStart(tail[0]) { // the rest of a character that was split
		tail = tail[1:]
	}
	return fmt.Sprintf("%s... (%d bytes left out) ...%s", head, len(text)-len(head)-len(tail), tail)
}
