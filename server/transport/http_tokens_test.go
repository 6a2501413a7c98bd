package transport

import (
	"fmt"
	"strings"
	"testing"
)

const (
	tokenA = "0123456789abcdef0123456789abcdef"
	tokenB = "Zm9vYmFyYmF6cXV4.Zm9v-_~+/=="
)

func TestParseTokens(t *testing.T) {
	file := "# who may ask\n\n  ci: " + tokenA + "\r\nlaptop_2 :x\n"
	if _, err := ParseTokens([]byte(file)); err == nil || err.Error() != "line 4: a name is 1 to 64 letters, digits, _ and -" {
		t.Errorf("ParseTokens(%q): %v", file, err)
	}
	tokens, err := ParseTokens([]byte("ci: " + tokenA + "\nlaptop:" + tokenB + "\n#old: " + tokenA))
	if err != nil || tokens.Len() != 2 {
		t.Fatalf("ParseTokens: %v, %v", tokens, err)
	}
	for token, want := range map[string]string{
		tokenA: "ci", tokenB: "laptop", "": "", tokenA[1:]: "", tokenA + "0": "", strings.ToUpper(tokenA): "",
	} {
		if name, ok := tokens.holder(token); name != want || ok != (want != "") {
			t.Errorf("the holder of %q is %q, %v; want %q", token, name, ok, want)
		}
	}
	if _, ok := (Tokens{}).holder(""); ok {
		t.Error("without tokens somebody is let in")
	}
	if text := fmt.Sprintf("%v %+v %s", tokens, tokens, tokens); strings.Contains(text, tokenA) {
		t.Errorf("tokens are printed: %s", text)
	}
}

func TestParseTokensRefuses(t *testing.T) {
	many := ""
	for i := range maxTokens + 1 {
		many += fmt.Sprintf("n%d: %032d\n", i, i)
	}
	for name, tt := range map[string]struct{ file, want string }{
		"nothing":        {"", "no token; write a line name: token"},
		"comments only":  {"# a\n\n", "no token; write a line name: token"},
		"no colon":       {tokenA, "line 1: no colon; write name: token"},
		"no name":        {": " + tokenA, "line 1: a name is 1 to 64 letters, digits, _ and -"},
		"long name":      {strings.Repeat("n", 65) + ": " + tokenA, "line 1: a name is 1 to 64 letters, digits, _ and -"},
		"odd name":       {"a b: " + tokenA, "line 1: a name is 1 to 64 letters, digits, _ and -"},
		"byte order":     {"\ufeffci: " + tokenA, "line 1: a name is 1 to 64 letters, digits, _ and -"},
		"no token":       {"ci:", "line 1: ci: a token has 20 to 512 characters; make one with openssl rand -hex 32"},
		"short token":    {"ci: secret", "line 1: ci: a token has 20 to 512 characters; make one with openssl rand -hex 32"},
		"long token":     {"ci: " + strings.Repeat("x", 513), "line 1: ci: a token has 20 to 512 characters; make one with openssl rand -hex 32"},
		"comment behind": {"ci: " + tokenA + " # mine", "line 1: ci: a token is letters, digits and -._~+/, then = as padding"},
		"other letters":  {"ci: " + tokenA + "é", "line 1: ci: a token is letters, digits and -._~+/, then = as padding"},
		"the name again": {"ci: " + tokenA + "\nci: " + tokenB, "line 2: ci: given twice, first at line 1"},
		"a token again":  {"\nci: " + tokenA + "\nme: " + tokenA, "line 3: me: the same token as ci at line 2"},
		"several faults": {"x\nci: " + tokenA + "\ny", "line 1: no colon; write name: token\nline 3: no colon; write name: token"},
		"too many":       {many, "line 1001: more than 1000 tokens"},
		"too long":       {strings.Repeat("#", MaxTokenFile+1), "more than 262144 bytes"},
	} {
		tokens, err := ParseTokens([]byte(tt.file))
		if err == nil || err.Error() != tt.want || tokens.Len() != 0 {
			t.Errorf("%s: %v\nwant %s", name, err, tt.want)
		}
	}
}

// No text is read as tokens and letters of its own; what is read lets its holders in, and nobody else.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"ci: " + tokenA, "# x\n\nci: " + tokenA + "\r\nme:" + tokenB, "ci: x", ":", "\xff: " + tokenA} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tokens, err := ParseTokens(text)
		if (err == nil) != (tokens.Len() > 0) {
			t.Fatalf("ParseTokens(%q) = %v, %v", text, tokens, err)
		}
		if err != nil {
			return
		}
		let := 0
		for line := range strings.Lines(string(text)) {
			name, token, _ := strings.Cut(strings.TrimSpace(line), ":")
			if holder, ok := tokens.holder(strings.TrimSpace(token)); ok && !strings.HasPrefix(name, "#") {
				if let++; holder != name {
					t.Errorf("%q: the holder of %s's token is %s", text, name, holder)
				}
			}
		}
		if let != tokens.Len() {
			t.Errorf("%q: %d of %v let somebody in", text, let, tokens)
		}
	})
}
