package gateway_test

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/catalog/demo"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// demoCatalog holds the tools of the four reference patterns.
func demoCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	tools, err := demo.Tools(demo.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// decoded is a JSON text as a value.
func decoded(t testing.TB, text string) any {
	t.Helper()
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// object is the text of a JSON object as a value.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	return decoded(t, text).(map[string]any)
}

// byCaller is a text handed in by the caller at /it, the way a server hands it on.
func byCaller(t testing.TB, text string) document.Intent {
	t.Helper()
	return document.FromCaller(decoded(t, text), "/it")
}

// verdict is what a parser said: the stop reason, then a line for each problem. An accepted intent is nil.
func verdict(r *document.Refusal) []string {
	if r == nil {
		return nil
	}
	return append([]string{r.Reason}, lines(r.Problems)...)
}

// lines words problems as POINTER REASON, ?NAME for did_you_mean, and the repair: -POINTER takes away,
// POINTER=VALUE sets, POINTER<POINTER renames.
func lines(problems []document.Problem) []string {
	var list []string
	for _, p := range problems {
		words := []string{string(p.Pointer), p.Reason}
		if p.DidYouMean != "" {
			words = append(words, "?"+p.DidYouMean)
		}
		switch f := p.Fix; {
		case f == nil:
		case f.Remove:
			words = append(words, "-"+string(f.At))
		case f.From != "":
			words = append(words, string(f.At+"<"+f.From))
		default:
			words = append(words, string(f.At)+"="+compact(f.Value))
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// blanks are the 29 code points that Python strips.
var blanks = []rune{
	'\t', '\n', '\v', '\f', '\r', 0x1c, 0x1d, 0x1e, 0x1f, ' ', 0x85, 0xa0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004,
	0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
}

// spell writes a decoded value so that strict reading gives it back: in canonical form, but for whole doubles beyond
// 2^53-1, which that form may write as integers that are refused (RFC 8785 and RFC 7493 do not fit there).
func spell(v any) string {
	switch v := v.(type) {
	case float64:
		text := string(ijson.Canonical(v))
		if math.Abs(v) > ijson.MaxInteger && !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	case []any:
		elements := make([]string, len(v))
		for i, element := range v {
			elements[i] = spell(element)
		}
		return "[" + strings.Join(elements, ",") + "]"
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members = append(members, quote(name)+":"+spell(v[name]))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return string(ijson.Canonical(v))
}

// quote is a text as JSON.
func quote(s string) string { return string(ijson.Canonical(s)) }

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
