package document_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway/document"
)

func TestRaw(t *testing.T) {
	const bound = 16 << 10
	text := func(bytes int) string { return strings.Repeat("x", bytes) }
	truncated := func(bytes int, raw string) any {
		return map[string]any{"kind": "truncated", "bytes": float64(bytes), "raw": raw}
	}
	invalid := func(raw string) any { return map[string]any{"kind": "invalid", "raw": raw} }
	spaced := func(bytes int) string { return `{"a":` + strings.Repeat(" ", bytes-7) + `1}` }
	tests := map[string]struct {
		reply string
		want  any
	}{
		"a document":                         {` {"b":1.0,"a":[null]} `, map[string]any{"a": []any{nil}, "b": 1.0}},
		"null":                               {"null", nil},
		"a number":                           {"42", 42.0},
		"claims to be invalid":               {`{"kind":"invalid","raw":"x"}`, map[string]any{"kind": "invalid", "raw": "x"}},
		"empty":                              {"", invalid("")},
		"prose":                              {"Here is the plan", invalid("Here is the plan")},
		"prose at the bound":                 {text(bound), invalid(text(bound))},
		"prose beyond it":                    {text(bound + 1), truncated(bound+1, text(bound))},
		"split character":                    {text(bound-1) + "é!", truncated(bound+2, text(bound-1))},
		"split of four bytes":                {text(bound-3) + "😀", truncated(bound+1, text(bound-3))},
		"whole character":                    {text(bound-2) + "é!", truncated(bound+1, text(bound-2)+"é")},
		"readable, at the bound by its text": {spaced(bound), map[string]any{"a": 1.0}},
		"readable, beyond it by its text":    {spaced(bound + 1), truncated(bound+1, spaced(bound + 1)[:bound])},
		"no UTF-8":                           {"a\xff\xfeb", invalid("a\uFFFDb")},
		"half a character at the end":        {"a\xc3", invalid("a\uFFFD")},
		"a surrogate in UTF-8":               {"\xed\xa0\x80", invalid("\uFFFD")},
		"repeated member":                    {`{"a":1,"a":2}`, invalid(`{"a":1,"a":2}`)},
		"control characters":                 {"\x00\x1b[2J", invalid("\x00\x1b[2J")},
		"megabytes":                          {"[" + text(2<<20) + "]", truncated(2<<20+2, "["+text(bound-1))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, document.ReadReply(tt.reply).Raw()); diff != "" {
				t.Errorf("Raw of a reply of %d bytes, -want +got:\n%.1000s", len(tt.reply), diff)
			}
		})
	}
}

func TestRawOfNoUTF8IsBounded(t *testing.T) {
	raw := document.ReadReply(strings.Repeat("a\xff", 16<<10)).Raw().(map[string]any)
	text := raw["raw"].(string)
	if len(text) > 16<<10 || !utf8.ValidString(text) || raw["kind"] != "truncated" {
		t.Errorf("Raw of 32 KiB without UTF-8 keeps %d bytes of kind %v, valid: %v", len(text), raw["kind"], utf8.ValidString(text))
	}
}

// A caller's value has no text of its own; it is measured in compact form.
func TestRawOfACaller(t *testing.T) {
	small := map[string]any{"steps": []any{1.0}}
	if diff := cmp.Diff(any(small), document.FromCaller(small, "/plan").Raw()); diff != "" {
		t.Errorf("Raw of a caller's value, -want +got:\n%s", diff)
	}
	long := strings.Repeat("x", 20<<10)
	want := map[string]any{"kind": "truncated", "bytes": float64(len(long) + 2), "raw": `"` + long[:16<<10-1]}
	if diff := cmp.Diff(any(want), document.FromCaller(long, "/plan").Raw()); diff != "" {
		t.Errorf("Raw of a caller's long value, -want +got:\n%.1000s", diff)
	}
	if raw := (document.Intent{}).Raw(); raw != nil {
		t.Errorf("Raw of the zero Intent = %v", raw)
	}
}

func TestValueOfARefusedReplyIsNothing(t *testing.T) {
	for _, reply := range []string{"x", `{"a":1} {}`, `{"a":1,"a":1}`, strings.Repeat("[", 65) + strings.Repeat("]", 65)} {
		if v := document.ReadReply(reply).Value(); v != nil {
			t.Errorf("Value of %.40q = %v", reply, v)
		}
	}
	if v := document.ReadReply(" 7 ").Value(); v != 7.0 {
		t.Errorf("Value of 7 = %v", v)
	}
}
