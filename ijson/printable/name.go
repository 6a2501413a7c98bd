package printable

import "unicode/utf8"

// MaxName is the longest name that [Name] returns, in bytes.
const MaxName = 64

// Name returns the name that a client or another server chose, as a sentence can contain it: spelled as [Text]
// spells it and cut to [MaxName] bytes.
func Name(name string) string {
	shown := make([]byte, 0, MaxName)
	for _, r := range name {
		n := len(shown)
		if r < utf8.RuneSelf && !IsControl(r) {
			shown = append(shown, byte(r))
		} else {
			shown = Append(shown, string(r))
		}
		if len(shown) > MaxName {
			return string(shown[:n])
		}
	}
	if string(shown) == name {
		return name
	}
	return string(shown)
}
