package yamldoc

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var plainYAML = regexp.MustCompile(`^(?:[A-Za-z_/]|--?[A-Za-z])[A-Za-z0-9_./+-]*$`)

var wordOfYAML = regexp.MustCompile(`(?i)^(?:y|n|yes|no|on|off|true|false|null)$`)

// Written is a text as YAML has it in any place, quoted where it must be.
func Written(text string) string {
	if plainYAML.MatchString(text) && !wordOfYAML.MatchString(text) && IsPlainText(text) {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || r < 0x10000 && unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String() + `"`
}
