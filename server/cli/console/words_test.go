package console

import (
	"testing"
	"time"
)

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

// An age is a number of days or weeks, or a duration. It is at most a hundred years.
func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90d": 90 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "36h": 36 * time.Hour, "0d": 0, "1h30m": 90 * time.Minute,
		"d": -1, "": -1, "-5d": -1, "-5h": -1, "1.5d": -1, "99999999999999999999d": -1, "36600d": 36600 * 24 * time.Hour, "36601d": -1, "36600w": -1, "5228w": 5228 * 7 * 24 * time.Hour, "5": -1, "5x": -1,
	} {
		got, err := Age(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("Age(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}
