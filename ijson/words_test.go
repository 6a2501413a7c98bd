package ijson_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"patterngate/ijson"
)

// What Python's str.isspace accepts.
const pythonSpace = "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"

func TestIsSpace(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := utf8.ValidRune(r) && strings.ContainsRune(pythonSpace, r)
		if got := ijson.IsSpace(r); got != want {
			t.Errorf("IsSpace(%U) = %v, want %v", r, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	tests := map[string]struct{ in, words, trimmed string }{
		"empty":             {"", "", ""},
		"blank":             {" \t\u00a0\x1f", "", ""},
		"one word":          {"word", "word", "word"},
		"in words":          {"two words", "two words", "two words"},
		"ends":              {" two words\n", "two words", "two words"},
		"two blanks":        {"two  words", "two words", "two  words"},
		"tab":               {"two\twords", "two words", "two\twords"},
		"separators":        {"\x1ca\x1db\x1ec\x1f", "a b c", "a\x1db\x1ec"},
		"wide blanks":       {"\u3000a\u2003b\u0085", "a b", "a\u2003b"},
		"no white space":    {"\u200ba\ufeff", "\u200ba\ufeff", "\u200ba\ufeff"},
		"not UTF-8 at all":  {" \xff  \x85 ", "\xff \x85", "\xff  \x85"},
		"letters, not only": {"é à", "é à", "é à"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ijson.Words(tt.in); got != tt.words {
				t.Errorf("Words(%q) = %q, want %q", tt.in, got, tt.words)
			}
			if got := ijson.Trim(tt.in); got != tt.trimmed {
				t.Errorf("Trim(%q) = %q, want %q", tt.in, got, tt.trimmed)
			}
			if got, want := ijson.Blank(tt.in), tt.words == ""; got != want {
				t.Errorf("Blank(%q) = %v, want %v", tt.in, got, want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		text string
		max  int
		want string
	}{
		{"abc", 3, "abc"}, {"abc", 4, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"abc", -1, ""}, {"", 0, ""}, {"", -1, ""},
		{"é", 1, ""}, {"é", 2, "é"}, {"aé", 2, "a"}, {"aéb", 3, "aé"},
		{"a😀", 4, "a"}, {"a😀", 3, "a"}, {"a😀", 2, "a"}, {"a😀b", 5, "a😀"}, {"😀", 3, ""},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"}, // nothing to split
	}
	for _, tt := range tests {
		if got := ijson.Cut(tt.text, tt.max); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.text, tt.max, got, tt.want)
		}
	}
}
