package console

import "testing"

// What a shell is given it takes as one word each.
func TestShellWord(t *testing.T) {
	for word, want := range map[string][2]string{ // POSIX, Windows
		"/usr/bin/p":      {"/usr/bin/p", "/usr/bin/p"},
		`C:\p.exe`:        {`'C:\p.exe'`, `C:\p.exe`},
		"/a b":            {"'/a b'", "'/a b'"},
		"it's":            {`'it'\''s'`, "'it''s'"},
		"$(rm -rf ~)`x`;": {"'$(rm -rf ~)`x`;'", "'$(rm -rf ~)`x`;'"},
		"":                {"''", "''"},
		"~/x":             {"'~/x'", "'~/x'"},
	} {
		if got := [2]string{ShellWord("linux", word), ShellWord("windows", word)}; got != want {
			t.Errorf("shellWord(%q) = %q, want %q", word, got, want)
		}
	}
}
