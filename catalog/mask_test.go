package catalog_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/catalog"
	"patterngate/ijson"
)

func masking(secrets ...string) *catalog.Mask {
	var m catalog.Mask
	for _, s := range secrets {
		m.Add(s)
	}
	return &m
}

func TestMaskText(t *testing.T) {
	const key = `sk/a+b "c"=1`
	std, web := base64.StdEncoding, base64.URLEncoding
	tests := map[string]struct {
		secrets    []string
		text, want string
	}{
		"nothing to mask":         {nil, "hello world", "hello world"},
		"too short":               {[]string{"12345", "äöüß5"}, "12345 äöüß5", "12345 äöüß5"},
		"six characters":          {[]string{"äöüß56"}, "a äöüß56 b", "a *** b"},
		"twice":                   {[]string{"secret"}, "secret, secretsecret.", "***, ***."},
		"one in another":          {[]string{"secret", "my secret word"}, "my secret word; secret", "***; ***"},
		"overlapping":             {[]string{"abcdef", "defghi"}, "<abcdefghi>", "<***>"},
		"itself again":            {[]string{"aaaaaaa"}, "<aaaaaaaaaa>", "<***>"},
		"in base64":               {[]string{key}, "x " + std.EncodeToString([]byte(key)) + " y", "x *** y"},
		"in base64 for addresses": {[]string{"\xff\xfe?>>>>?"[2:]}, "x " + web.EncodeToString([]byte("?>>>>?")) + " y", "x *** y"},
		"in a query":              {[]string{key}, "?q=" + url.QueryEscape(key), "?q=***"},
		"in a path":               {[]string{key}, "/" + url.PathEscape(key) + "/", "/***/"},
		"in a path, small digits": {[]string{key}, "/" + strings.ReplaceAll(url.PathEscape(key), "%2F", "%2f") + "/", "/***/"},
		"in JSON":                 {[]string{key}, `{"k":` + string(ijson.Canonical(key)) + `}`, `{"k":"***"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := masking(tt.secrets...).Text(tt.text); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// A password in the header of basic authentication is found wherever it stands in its group of three bytes.
func TestMaskWithinBase64(t *testing.T) {
	const secret = "correct horse"
	m := masking(secret)
	for _, user := range []string{"a", "ab", "abc", "abcd"} {
		text := base64.StdEncoding.EncodeToString([]byte(user + ":" + secret + ":more"))
		got := m.Text(text)
		if !strings.Contains(got, "***") || len(got) > len(text)-len(secret)*4/3+8 {
			t.Errorf("Text(%s) = %s", text, got)
		}
	}
}

func TestMaskValue(t *testing.T) {
	m := masking("secret")
	plain := map[string]any{"a": []any{"x", 1.0, nil}, "b": map[string]any{}}
	if got := m.Value(plain); cmp.Diff(any(plain), got) != "" {
		t.Errorf("Value = %v", got)
	}
	got := m.Value(plain).(map[string]any)
	got["own"] = true
	if plain["own"] == nil {
		t.Error("a value without secrets was copied")
	}
	delete(plain, "own")
	with := map[string]any{"a": []any{"x", "my secret"}, "secret": "secret", "plain": plain, "b secret": map[string]any{"c": "no"}}
	want := map[string]any{"a": []any{"x", "my ***"}, "***": "***", "plain": plain, "b ***": map[string]any{"c": "no"}}
	if diff := cmp.Diff(any(want), m.Value(with)); diff != "" {
		t.Errorf("Value (-want +got):\n%s", diff)
	}
	if with["secret"] != "secret" || with["a"].([]any)[1] != "my secret" {
		t.Errorf("Value changed what it was given: %v", with)
	}
	var none catalog.Mask
	if none.Text("secret") != "secret" || none.Value("secret") != "secret" {
		t.Error("the zero Mask masks")
	}
}

// Encoders of others escape more than must be, and a secret of digits may come back as a number.
func TestMaskKnowsOtherForms(t *testing.T) {
	m := masking("a<b>&c/d\"e", "90817263")
	for _, text := range []string{`{"t":"a\u003cb\u003e\u0026c/d\"e"}`, `{"t":"a<b>&c\/d\"e"}`} {
		if got := m.Text(text); got != `{"t":"***"}` {
			t.Errorf("Text(%s) = %s", text, got)
		}
	}
	got := m.Value(map[string]any{"pin": 90817263.0, "minus": []any{-90817263.0}, "n": 190817263.0, "f": 0.5})
	want := map[string]any{"pin": "***", "minus": []any{"***"}, "n": 190817263.0, "f": 0.5}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("Value (-want +got):\n%s", diff)
	}
}

func TestMaskIsForManyAtOnce(t *testing.T) {
	var m catalog.Mask
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			secret := strings.Repeat(string(rune('a'+i)), 8)
			m.Add(secret)
			if got := m.Text(secret); got != "***" {
				t.Errorf("Text(%s) = %s after Add", secret, got)
			}
		})
	}
	all.Wait()
}

// A secret that is read again all the time does not remove the text of another secret, or its own latest texts.
func TestMaskKeepsEachSecret(t *testing.T) {
	var m catalog.Mask
	fixed, renewed, other := m.Secret(), m.Secret(), m.Secret()
	fixed("the fixed one")
	other("shared text")
	renewed("shared text")
	m.Add("one without a name")
	for i := range 70 {
		renewed(fmt.Sprintf("token number %d.", i))
		renewed("used again and again")
	}
	for _, text := range []string{"the fixed one", "shared text", "one without a name", "token number 69.", "token number 39.", "used again and again"} {
		if got := m.Text(text); got != catalog.Masked {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
	if got := m.Text("token number 1."); got != "token number 1." {
		t.Errorf("a text of long ago is kept without end: %q", got)
	}
	m.Add("short")
	if got := m.Text("short"); got != "short" {
		t.Errorf("Text(short) = %q", got)
	}
}

// Nothing of a secret is left, and texts without one stay.
func FuzzMask(f *testing.F) {
	f.Add("abcdef", "fedcba", "xx abcdefedcba yy")
	f.Add("ssssss", "ssssssss", "sssssssssssssssssssss")
	f.Add(`a"b\c/`, "ä€𝄞ä€𝄞", `{"a\"b\\c/":1}`)
	f.Fuzz(func(t *testing.T, one, two, text string) {
		m := masking(one, two)
		got := m.Text(text)
		for _, secret := range []string{one, two} {
			long := len([]rune(secret)) >= 6
			if long && strings.Contains(text, secret) && got == text {
				t.Fatalf("Text(%q) left %q", text, secret)
			}
			if long && !strings.Contains(secret, "*") && strings.Contains(got, secret) {
				t.Fatalf("Text(%q) = %q, which holds %q", text, got, secret)
			}
		}
		if got != text && !strings.Contains(got, "***") {
			t.Fatalf("Text(%q) = %q", text, got)
		}
	})
}

func BenchmarkMask(b *testing.B) {
	value := any(map[string]any{"text": strings.Repeat("what is in a text of five kilobytes ", 140)})
	for name, m := range map[string]*catalog.Mask{"none": masking(), "two": masking("the first secret", "the second secret")} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m.Value(value)
			}
		})
	}
}
