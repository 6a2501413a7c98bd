package httptool

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A template that parses keeps its text: written again from its parts it parses to the same. Without braces it is itself.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"", "a", "{a}", "{{a}}", "{{{a}}}", "x{a}y{b}", "{", "}", "{}", "{a{b}}", "}}{{", "{a}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := parseTemplate(text)
		if err != nil {
			if !strings.ContainsAny(text, "{}") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		var b strings.Builder
		for _, p := range parsed {
			if p.argument != "" {
				b.WriteString("{" + p.argument + "}")
			} else {
				b.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(p.literal))
			}
			if (p.argument == "") == (p.literal == "") || strings.ContainsAny(p.argument, "{}") {
				t.Errorf("%q has the part %+v", text, p)
			}
		}
		if b.String() != text {
			t.Errorf("%q is written again as %q", text, b.String())
		}
		filledIn, got, _ := parsed.fill(nil, plain)
		if len(parsed.arguments()) == 0 && (got != filled || !strings.ContainsAny(text, "{}") && filledIn != text) {
			t.Errorf("%q fills to %q, %d", text, filledIn, got)
		}
	})
}

// Whatever arguments hold, the host, the number of path segments and the query names stay, no segment is empty or dots,
// and who decodes the URL reads the arguments.
func FuzzURL(f *testing.F) {
	for _, seed := range [][2]string{{"a", "b"}, {"..", "."}, {"", ""}, {"a/../b", "x&y=z"}, {"\\", "#?"}, {"%2e%2e", "%00\r\n"}, {"é@h:1", "+ "}, {"\xff", "\xfe"}} {
		f.Add(seed[0], seed[1])
	}
	r := &reading{used: map[string]bool{}, config: Config{Arguments: func(string) (string, bool) { return "", true }, Query: []Template{{Name: "z", Text: "{b}"}, {Name: "z", Text: "<{a}>"}}}}
	a := r.parseURL("https://host.example:8443/fixed/{a}/x{b}/end?q={a}&k=1")
	a.query = append(a.query, r.query()...)
	if len(r.faults) > 0 {
		f.Fatal(r.faults)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		if !utf8.ValidString(first) || !utf8.ValidString(second) {
			return // no decoded value
		}
		u, bad := a.build(map[string]any{"a": first, "b": second})
		if dots := slices.Contains([]string{"", ".", ".."}, first); dots != (bad != nil) && len(first)+len(second) < maxURL/12 {
			t.Errorf("%q, %q: %v", first, second, bad)
		}
		if bad != nil {
			return
		}
		sent, err := url.Parse("https://" + u.Host + u.RequestURI())
		if err != nil {
			t.Fatalf("%q, %q: %v", first, second, err)
		}
		if sent.Scheme != "https" || sent.Host != "host.example:8443" || sent.User != nil || sent.Fragment != "" || u.Host != sent.Host {
			t.Errorf("%q, %q go to %s", first, second, sent)
		}
		segments := strings.Split(sent.EscapedPath(), "/")
		if len(segments) != 5 || segments[1] != "fixed" || segments[4] != "end" || unescaped(t, segments[2]) != first || unescaped(t, segments[3]) != "x"+second {
			t.Errorf("%q, %q make the path %s", first, second, sent.EscapedPath())
		}
		query, err := url.ParseQuery(sent.RawQuery)
		if err != nil || len(query) != 3 || query.Get("q") != first || query.Get("k") != "1" || !slices.Equal(query["z"], []string{second, "<" + first + ">"}) {
			t.Errorf("%q, %q make the query %s: %v, %v", first, second, sent.RawQuery, query, err)
		}
	})
}

// A URL that is accepted has the host that net/url reads in it, and what is built of it is sent to just that one.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{
		"https://a.example/x/{a}?q={a}", "http://[::1]:80/", "HTTP://A.example", "https://a.example\\@b.example/", "https://a@b/", "https://a.example:80:80/",
		"https://a.example?x#y", "https://{a}/", "//a.example/", "https://a.example/%2e%2e/", "https://a%2eexample/", "https://a.example/{{a}}", "https://a.example//b//?&&a=&b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &reading{used: map[string]bool{}, config: Config{Arguments: func(string) (string, bool) { return "", true }}}
		a := r.parseURL(text)
		if (a == nil) != (len(r.faults) > 0) {
			t.Fatalf("%q: %+v, %+v", text, a, r.faults)
		}
		if a == nil {
			return
		}
		args := map[string]any{}
		for name := range r.used {
			args[name] = "https://evil.example/../\\@evil.example?#"
		}
		u, bad := a.build(args)
		if bad != nil {
			t.Fatalf("%q: %v", text, bad)
		}
		sent, err := url.Parse(u.Scheme + "://" + u.Host + u.RequestURI())
		if err != nil || sent.Host != a.host || sent.Scheme != a.scheme || sent.User != nil || sent.Hostname() == "" {
			t.Errorf("%q is sent to %v, %v; want %s", text, sent, err, a.host)
		}
		if rest := text[len(a.scheme)+len("://"):]; !strings.HasPrefix(rest, a.host) || len(rest) > len(a.host) && !strings.ContainsRune("/?", rune(rest[len(a.host)])) {
			t.Errorf("%q has the host %s", text, a.host)
		}
	})
}

// What a server may ask us to wait is bounded, whatever it writes.
func FuzzRetryAfter(f *testing.F) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-1": 0, "x": 0, "1.5": 0, "99999": time.Hour, "18446744073709551615": time.Hour,
		"Sun, 22 Nov 2026 12:01:00 GMT": time.Minute, "Sun, 22 Nov 2026 11:00:00 GMT": 0, "Sun, 22 Nov 2099 11:00:00 GMT": time.Hour,
	} {
		f.Add(text)
		if got := retryAfter(text, now); got != want {
			f.Errorf("retryAfter(%q) = %v, want %v", text, got, want)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d := retryAfter(text, now); d < 0 || d > time.Hour {
			t.Errorf("retryAfter(%q) = %v", text, d)
		}
	})
}

func unescaped(t *testing.T, text string) string {
	t.Helper()
	plain, err := url.PathUnescape(text)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
