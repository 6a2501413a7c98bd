package catalog

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"patterngate/ijson"
)

// Masked is the text that replaces a secret.
const Masked = "***"

// Bounds of a [Mask].
const (
	minMasked = 6  // characters of the shortest text that is masked: shorter ones occur everywhere by chance
	maxTexts  = 32 // of one secret; the oldest are dropped, because a secret that is read again and again would grow without end
)

// Mask replaces secrets in texts and values by *** (spec/config.md section 4, Secrets). It finds them as they are, in
// base64, percent-encoded and as JSON strings. The zero Mask replaces nothing. A Mask is safe for concurrent use.
type Mask struct {
	adding  sync.Mutex
	kept    []*texts
	looks   atomic.Pointer[[]string] // all written forms, the longest first
	unnamed func(string)             // for Add
}

// texts are the texts that one secret had, the oldest first.
type texts struct {
	list  []string
	looks [][]string // the written forms of each text
}

// Add adds a text that is replaced from now on. Texts of fewer than 6 characters are ignored.
func (m *Mask) Add(secret string) {
	m.adding.Lock()
	if m.unnamed == nil {
		m.unnamed = m.adder()
	}
	add := m.unnamed
	m.adding.Unlock()
	add(secret)
}

// Secret returns a function that receives each text of one secret: see [NewSecret]. The mask keeps the latest texts of
// each secret, however often another secret is read again.
func (m *Mask) Secret() func(text string) {
	m.adding.Lock()
	defer m.adding.Unlock()
	return m.adder()
}

func (m *Mask) adder() func(text string) {
	of := &texts{}
	m.kept = append(m.kept, of)
	return func(text string) {
		if utf8.RuneCountInString(text) < minMasked {
			return
		}
		m.adding.Lock()
		defer m.adding.Unlock()
		if of.learn(text) {
			m.look()
		}
	}
}

// learn adds a text as the latest one. It returns false if the text is already known.
func (t *texts) learn(text string) bool {
	if i := slices.Index(t.list, text); i >= 0 {
		looks := t.looks[i]
		t.list, t.looks = append(slices.Delete(t.list, i, i+1), text), append(slices.Delete(t.looks, i, i+1), looks)
		return false
	}
	t.list, t.looks = append(t.list, text), append(t.looks, looksOf(text))
	if over := len(t.list) - maxTexts; over > 0 {
		t.list, t.looks = slices.Delete(t.list, 0, over), slices.Delete(t.looks, 0, over)
	}
	return true
}

// look collects the written forms of all texts.
func (m *Mask) look() {
	var looks []string
	for _, t := range m.kept {
		looks = append(looks, slices.Concat(t.looks...)...)
	}
	slices.SortFunc(looks, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	looks = slices.Compact(looks)
	m.looks.Store(&looks)
}

// looksOf returns the forms in which a secret can be written.
func looksOf(secret string) []string {
	quoted := string(ijson.Canonical(secret))
	quoted = quoted[1 : len(quoted)-1]
	escaped := []string{url.QueryEscape(secret), url.PathEscape(secret), percent(secret)}
	looks := slices.Concat([]string{secret, quoted, otherQuotes.Replace(quoted), strings.ReplaceAll(quoted, "/", `\/`)}, escaped)
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		looks = append(looks, encoding.EncodeToString([]byte(secret)))
		for before := range 3 {
			looks = append(looks, within(encoding, secret, before))
		}
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		looks = append(looks, encoding.EncodeToString([]byte(secret)))
	}
	for _, text := range escaped {
		looks = append(looks, lowerEscapes(text))
	}
	return slices.DeleteFunc(looks, func(s string) bool { return utf8.RuneCountInString(s) < minMasked })
}

// otherQuotes are the escapes of encoders that write JSON for HTML pages.
var otherQuotes = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)

// within returns the base64 digits that a secret alone determines when it is part of a longer text. The parameter before is the
// number of bytes before it in its group of three.
func within(encoding *base64.Encoding, secret string, before int) string {
	const bits = 6
	text := encoding.EncodeToString(append(make([]byte, before), secret...))
	first := (before*8 + bits - 1) / bits
	return text[first : (before+len(secret))*8/bits]
}

// percent escapes all characters except those that never need it (RFC 3986), as Patterngate's requests do.
func percent(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// lowerEscapes writes the hexadecimal digits of percent escapes in lower case.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// Text returns text with *** for each secret, or text itself if there is none.
func (m *Mask) Text(text string) string {
	looks := m.looks.Load()
	if looks == nil || len(text) < minMasked {
		return text
	}
	var found []stretch
	for _, look := range *looks {
		for from := 0; ; {
			i := strings.Index(text[from:], look)
			if i < 0 {
				break
			}
			found = append(found, stretch{from + i, from + i + len(look)})
			from += i + 1
		}
	}
	if found == nil {
		return text
	}
	return replaced(text, found)
}

// stretch is a part of a text, from the first index to the index after its end.
type stretch struct{ from, to int }

// replaced returns text with *** for each group of parts that overlap or touch.
func replaced(text string, found []stretch) string {
	slices.SortFunc(found, func(a, b stretch) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var b strings.Builder
	done := 0
	for i := 0; i < len(found); {
		from, to := found[i].from, found[i].to
		for i++; i < len(found) && found[i].from <= to; i++ {
			to = max(to, found[i].to)
		}
		b.WriteString(text[done:from])
		b.WriteString(Masked)
		done = to
	}
	b.WriteString(text[done:])
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// Value returns a decoded value with *** for each secret in its strings and member names, and for each number that is a
// secret. It returns v itself if there is no secret. Otherwise it returns a copy that shares the values without
// secrets.
func (m *Mask) Value(v any) any {
	if m.looks.Load() == nil {
		return v
	}
	masked, _ := m.value(v)
	return masked
}

func (m *Mask) value(v any) (masked any, changed bool) {
	switch v := v.(type) {
	case string:
		text := m.Text(v)
		return text, text != v
	case float64: // a secret of digits that a reader takes for a number
		if digits := strings.TrimPrefix(string(ijson.Canonical(v)), "-"); m.Text(digits) == Masked {
			return Masked, true
		}
	case []any:
		return m.elements(v)
	case map[string]any:
		return m.members(v)
	}
	return v, false
}

func (m *Mask) elements(list []any) (any, bool) {
	var out []any
	for i, v := range list {
		masked, changed := m.value(v)
		if changed && out == nil {
			out = slices.Clone(list)
		}
		if changed {
			out[i] = masked
		}
	}
	if out == nil {
		return list, false
	}
	return out, true
}

// members masks an object. If masked names are equal, the member whose original name sorts first stays.
func (m *Mask) members(object map[string]any) (any, bool) {
	var out map[string]any
	renamed := false
	for name, v := range object {
		renamed = renamed || m.Text(name) != name
		masked, changed := m.value(v)
		if changed && out == nil {
			out = maps.Clone(object)
		}
		if changed {
			out[name] = masked
		}
	}
	switch {
	case renamed && out == nil:
		return m.renamed(object), true
	case renamed:
		return m.renamed(out), true
	case out == nil:
		return object, false
	}
	return out, true
}

func (m *Mask) renamed(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		masked := m.Text(name)
		if _, there := out[masked]; !there {
			out[masked] = object[name]
		}
	}
	return out
}
