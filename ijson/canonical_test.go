package ijson_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"patterngate/ijson"
)

func TestCanonical(t *testing.T) {
	tests := map[string]struct {
		v    any
		want string
	}{
		"null":             {nil, `null`},
		"bools":            {[]any{true, false}, `[true,false]`},
		"empty containers": {[]any{map[string]any{}, []any{}, map[string]any(nil), []any(nil)}, `[{},[],{},[]]`},
		"short escapes":    {"\b\t\n\f\r\"\\", `"\b\t\n\f\r\"\\"`},
		"other controls":   {"\x00\x0b\x1b\x1f", `"\u0000\u000b\u001b\u001f"`},
		"nothing else":     {"/<>&\x7f\u0080\u2028é€😀\uffff", "\"/<>&\x7f\u0080\u2028é€😀\uffff\""},
		"no UTF-8":         {"a\xffb\xc3", "\"a\ufffdb\ufffd\""},
		"U+FFFD":           {"\ufffd", "\"\ufffd\""},
		"members":          {map[string]any{"b": 1.0, "a": []any{"x"}, "": nil}, `{"":null,"a":["x"],"b":1}`},
		"member names":     {map[string]any{"a\n\"": 1.0}, `{"a\n\"":1}`},
		"many members": {
			map[string]any{"q": 0.0, "p": 0.0, "o": 0.0, "n": 0.0, "m": 0.0, "l": 0.0, "k": 0.0, "j": 0.0, "i": 0.0, "h": 0.0, "g": 0.0, "f": 0.0, "e": 0.0, "d": 0.0, "c": 0.0, "b": 0.0, "a": 0.0},
			`{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0,"p":0,"q":0}`,
		},
		"sorted by UTF-16": { // RFC 8785, section 3.2.3
			map[string]any{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One", "\U0001f600": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"},
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(ijson.Canonical(tt.v)); got != tt.want {
				t.Errorf("Canonical(%#v) =\n%s, want\n%s", tt.v, got, tt.want)
			}
		})
	}
}

// The bit patterns are those of RFC 8785, appendix B.
func TestCanonicalNumbers(t *testing.T) {
	tests := map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	}
	for bits, want := range tests {
		if got := string(ijson.Canonical(math.Float64frombits(bits))); got != want {
			t.Errorf("Canonical(bits %016x) = %s, want %s", bits, got, want)
		}
	}
	for n, want := range map[float64]string{1200.5: "1200.5", 1e-7: "1e-7", 1.5e-10: "1.5e-10", 1e100: "1e+100", -42: "-42", 0.1: "0.1"} {
		if got := string(ijson.Canonical(n)); got != want {
			t.Errorf("Canonical(%v) = %s, want %s", n, got, want)
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	if got := string(ijson.Append([]byte("data: "), []any{1.0})); got != "data: [1]" {
		t.Errorf(`Append("data: ", [1]) = %q`, got)
	}
}

func TestAppendPanics(t *testing.T) {
	for name, v := range map[string]any{
		"an int":         []any{1},
		"a list of text": map[string]any{"a": []string{"b"}},
		"a struct":       struct{}{},
		"NaN":            math.NaN(),
		"infinity":       []any{math.Inf(-1)},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if message, _ := recover().(string); !strings.HasPrefix(message, "ijson: ") {
					t.Errorf("Append(%v) panicked with %q, want a message of this package", v, message)
				}
			}()
			t.Errorf("Append(%v) = %s, want a panic", v, ijson.Append(nil, v))
		})
	}
}

func TestAppendChecked(t *testing.T) {
	good := map[string]any{"a": []any{1.0, "b", nil, true, map[string]any{}}, "deep": nest(63)}
	got, err := ijson.AppendChecked([]byte("x"), good)
	if want := string(ijson.Append([]byte("x"), good)); err != nil || string(got) != want {
		t.Errorf("AppendChecked(%v) = %s, %v, want %s", good, got, err, want)
	}
	tests := map[string]struct {
		v    any
		want ijson.Fault
	}{
		"NaN":                   {map[string]any{"a/b": []any{0.0, math.NaN()}}, ijson.Fault{Pointer: "/a~1b/1", Reason: ijson.ReasonNumberRange}},
		"infinity":              {math.Inf(1), ijson.Fault{Reason: ijson.ReasonNumberRange}},
		"no UTF-8":              {[]any{"\xff"}, ijson.Fault{Pointer: "/0", Reason: ijson.ReasonNotUTF8}},
		"another Go type":       {map[string]any{"n": []any{int64(1)}}, ijson.Fault{Pointer: "/n/0", Reason: "a Go int64 is not a JSON value"}},
		"name that is no UTF-8": {[]any{map[string]any{"\xff": 1.0}}, ijson.Fault{Pointer: "/0", Reason: "a member name is not UTF-8"}},
		"objects too deep":      {objects(65), ijson.Fault{Pointer: ijson.Pointer(strings.Repeat("/a", 64)), Reason: ijson.ReasonTooDeep}},
		"too deep":              {nest(65), ijson.Fault{Pointer: ijson.Pointer(strings.Repeat("/0", 64)), Reason: ijson.ReasonTooDeep}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ijson.AppendChecked([]byte("x"), tt.v)
			if fault, ok := err.(*ijson.Fault); !ok || *fault != tt.want || string(got) != "x" {
				t.Errorf("AppendChecked(%v) = %s, %v, want x and %+v", tt.v, got, err, tt.want)
			}
		})
	}
}

// objects returns that many objects within one another, the innermost empty.
func objects(depth int) any {
	object := map[string]any{}
	for range depth - 1 {
		object = map[string]any{"a": object}
	}
	return object
}

// TestCanonicalOrder compares the order of names with that of their UTF-16 units, for all pairs of characters at which
// the two encodings part.
func TestCanonicalOrder(t *testing.T) {
	edges := []rune{0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xefff, 0xf000, 0xfffd, 0xffff, 0x10000, 0x1f600, 0x3ffff, 0x40000, 0x10ffff}
	var names []string
	for _, a := range edges {
		names = append(names, string(a), "é"+string(a))
		for _, b := range edges {
			names = append(names, string(a)+string(b))
		}
	}
	members := make(map[string]any)
	for _, name := range names {
		members[name] = nil
	}
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b))) })
	var want []byte
	for _, name := range slices.Compact(names) {
		want = append(append(append(want, ','), ijson.Canonical(name)...), ":null"...)
	}
	if got := ijson.Canonical(members); string(got) != "{"+string(want[1:])+"}" {
		t.Errorf("Canonical(members) = %q,\nwant {%q}", got, want[1:])
	}
}

// Of every document that is decoded, a text's canonical form is its value's.
func TestCanonicalize(t *testing.T) {
	for _, text := range []string{
		`{"b":1.0,"a":[1e2,-0,0.000001,1e21,true,null,"\u00e9\u20ac\n"],"":{}}`, `[]`, ` "x" `, `{"\ud83d\ude00":1,"\ufb33":2}`,
	} {
		v, err := ijson.DecodeCanonical([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ijson.Canonicalize([]byte(text))
		if want := ijson.Canonical(v); err != nil || string(got) != string(want) {
			t.Errorf("Canonicalize(%s) = %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{`{"a":1,"a":2}`, `{`, ``, `1 2`} {
		if got, err := ijson.Canonicalize([]byte(text)); err == nil {
			t.Errorf("Canonicalize(%s) = %s, want an error", text, got)
		}
	}
}
