package printable

import "strings"

// ShellWord quotes a word that a shell would not read as one word: for a POSIX shell, or for PowerShell on Windows.
func ShellWord(goos, word string) string {
	plain, quote := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:=+", `'\''`
	if goos == "windows" {
		plain, quote = plain+`\`, `''`
	} else {
		plain += "@,"
	}
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", quote) + "'"
}
