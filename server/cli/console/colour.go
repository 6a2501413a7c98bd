package console

// Codes for [Paint] (ECMA-48, SGR).
const (
	Bold  = "1"
	Dim   = "2"
	Red   = "31"
	Green = "32"
)

// Paint returns the text with the escape sequences of a code around it, or the text alone if no colour is wanted.
func Paint(wanted bool, code, text string) string {
	if !wanted {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
