package printable

import "testing"

// A word of a printed command is one word for the shell, whatever it contains.
func TestShellWord(t *testing.T) {
	for _, tt := range []struct{ goos, word, want string }{
		{"linux", "shop/read-file_1", "shop/read-file_1"},
		{"linux", "x;touch${IFS}/tmp/owned;", "'x;touch${IFS}/tmp/owned;'"},
		{"linux", "it's", `'it'\''s'`},
		{"linux", "", "''"},
		{"linux", `a\b`, `'a\b'`},
		{"windows", `C:\a`, `C:\a`},
		{"windows", "it's", "'it''s'"},
		{"windows", "a,b", "'a,b'"},
	} {
		if got := ShellWord(tt.goos, tt.word); got != tt.want {
			t.Errorf("ShellWord(%q, %q) = %s, want %s", tt.goos, tt.word, got, tt.want)
		}
	}
}
