package ijson_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/ijson"
)

func TestDecode(t *testing.T) {
	tests := map[string]struct {
		text string
		want any
	}{
		"null":                     {`null`, nil},
		"bools":                    {`[true,false]`, []any{true, false}},
		"empty containers":         {`[{},[]]`, []any{map[string]any{}, []any{}}},
		"white space around":       {" \t\r\n{ \"a\" : 1 } \n", map[string]any{"a": 1.0}},
		"nested":                   {`{"a":[1,{"b":"c"}]}`, map[string]any{"a": []any{1.0, map[string]any{"b": "c"}}}},
		"1.0 is 1":                 {`[1,1.0,1e0,10E-1]`, []any{1.0, 1.0, 1.0, 1.0}},
		"minus zero is zero":       {`[-0,-0.0,-0e5,-1e-400]`, []any{0.0, 0.0, 0.0, 0.0}},
		"greatest integers":        {`[9007199254740991,-9007199254740991]`, []any{9007199254740991.0, -9007199254740991.0}},
		"beyond, with an exponent": {`[1e22,9007199254740993.0,1.7976931348623157e308]`, []any{1e22, 9007199254740992.0, 1.7976931348623157e308}},
		"smallest double":          {`[5e-324,1e-400]`, []any{5e-324, 0.0}},
		"escapes":                  {`"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac"`, "\"\\/\b\f\n\r\tAé€"},
		"surrogate pair":           {`"\ud83d\ude00 😀"`, "😀 😀"},
		"noncharacters":            {`"\uffff\ufdd0\udbff\udfff"`, "\uffff\ufdd0\U0010ffff"},
		"NUL and DEL":              {"\"\\u0000\x7f\"", "\x00\x7f"},
		"replacement character":    {`"` + "\ufffd" + `"`, "\ufffd"},
		"BOM inside a string":      {`"` + "\ufeff" + `"`, "\ufeff"},
		"empty name":               {`{"":{"":1}}`, map[string]any{"": map[string]any{"": 1.0}}},
		"names by case":            {`{"a":1,"A":2}`, map[string]any{"a": 1.0, "A": 2.0}},
		"names by normal form":     {`{"\u00e9":1,"e\u0301":2}`, map[string]any{"\u00e9": 1.0, "e\u0301": 2.0}},
		"escape or its text":       {`{"a\u0062":1,"a\\u0062":2}`, map[string]any{"ab": 1.0, `a\u0062`: 2.0}},
		"one name in two objects":  {`[{"a":1},{"a":2},{"b":{"a":3}}]`, []any{map[string]any{"a": 1.0}, map[string]any{"a": 2.0}, map[string]any{"b": map[string]any{"a": 3.0}}}},
		"deepest":                  {strings.Repeat("[", 64) + strings.Repeat("]", 64), nest(64)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ijson.Decode([]byte(tt.text))
			if err != nil {
				t.Fatalf("Decode(%q): %v", tt.text, err)
			}
			if !reflect.DeepEqual(got, tt.want) { // cmp.Diff takes exponential time in the depth
				t.Errorf("Decode(%q) = %#v, want %#v", tt.text, got, tt.want)
			}
		})
	}
}

func TestDecodeHasNoMinusZero(t *testing.T) {
	for _, text := range []string{"-0", "-0.0", "-0e5", "-1e-400"} {
		if n := decode(t, text).(float64); n != 0 || math.Signbit(n) {
			t.Errorf("Decode(%s) = %v, want 0 without a sign", text, n)
		}
	}
}

// nest returns that many lists within one another, the innermost empty.
func nest(depth int) any {
	list := []any{}
	for range depth - 1 {
		list = []any{list}
	}
	return list
}

func TestDecodeRefuses(t *testing.T) {
	tests := map[string]struct {
		text string
		want ijson.Fault
	}{
		"nothing":                      {"", ijson.Fault{Reason: ijson.ReasonEmpty}},
		"white space":                  {" \n", ijson.Fault{Offset: 2, Reason: ijson.ReasonEmpty}},
		"prose":                        {"Sure: {}", ijson.Fault{Reason: ijson.ReasonNotJSON}},
		"a fence":                      {"```json\n{}\n```", ijson.Fault{Reason: ijson.ReasonNotJSON}},
		"no-break space":               {"\u00a0{}", ijson.Fault{Reason: ijson.ReasonNotJSON}},
		"vertical tab":                 {"\v{}", ijson.Fault{Reason: ijson.ReasonNotJSON}},
		"NUL after it":                 {"{}\x00", ijson.Fault{Offset: 2, Reason: ijson.ReasonAfter}},
		"BOM":                          {"\ufeff{}", ijson.Fault{Reason: ijson.ReasonBOM}},
		"UTF-16":                       {"\xff\xfe{\x00}\x00", ijson.Fault{Reason: ijson.ReasonNotUTF8}},
		"text after":                   {"{} x", ijson.Fault{Offset: 3, Reason: ijson.ReasonAfter}},
		"second document":              {`{"a":1}{"a":2}`, ijson.Fault{Offset: 7, Reason: ijson.ReasonAfter}},
		"closed twice":                 {"[]]", ijson.Fault{Offset: 2, Reason: ijson.ReasonAfter}},
		"NaN":                          {"[NaN]", ijson.Fault{Pointer: "/0", Offset: 1, Reason: ijson.ReasonNotJSON}},
		"Infinity":                     {`{"a":-Infinity}`, ijson.Fault{Pointer: "/a", Offset: 6, Reason: ijson.ReasonNotJSON}},
		"trailing comma":               {"[1,]", ijson.Fault{Offset: 2, Reason: ijson.ReasonNotJSON}},
		"trailing comma of members":    {`{"a":1,}`, ijson.Fault{Offset: 6, Reason: ijson.ReasonNotJSON}},
		"comment":                      {"[1 /* one */]", ijson.Fault{Offset: 3, Reason: ijson.ReasonNotJSON}},
		"single quotes":                {"{'a':1}", ijson.Fault{Offset: 1, Reason: ijson.ReasonNotJSON}},
		"a number for a name":          {"{1:2}", ijson.Fault{Offset: 1, Reason: ijson.ReasonNotJSON}},
		"no colon":                     {`{"a" 1}`, ijson.Fault{Pointer: "/a", Offset: 5, Reason: ijson.ReasonNotJSON}},
		"no value":                     {`{"a":}`, ijson.Fault{Pointer: "/a", Offset: 5, Reason: ijson.ReasonNotJSON}},
		"closed by the other":          {"[1}", ijson.Fault{Offset: 2, Reason: ijson.ReasonNotJSON}},
		"leading zero":                 {"[01]", ijson.Fault{Offset: 2, Reason: ijson.ReasonNotJSON}},
		"plus":                         {"[+1]", ijson.Fault{Pointer: "/0", Offset: 1, Reason: ijson.ReasonNotJSON}},
		"bare point":                   {"[1.]", ijson.Fault{Pointer: "/0", Offset: 3, Reason: ijson.ReasonNotJSON}},
		"hexadecimal":                  {"0x10", ijson.Fault{Offset: 1, Reason: ijson.ReasonAfter}},
		"Python's True":                {"True", ijson.Fault{Reason: ijson.ReasonNotJSON}},
		"misspelt literal":             {`{"a/b":{"~":tru}}`, ijson.Fault{Pointer: "/a~1b/~0", Offset: 15, Reason: ijson.ReasonNotJSON}},
		"newline in a literal":         {"[tru\n]", ijson.Fault{Pointer: "/0", Offset: 4, Reason: ijson.ReasonNotJSON}},
		"unknown escape":               {`["\x41"]`, ijson.Fault{Pointer: "/0", Offset: 2, Reason: ijson.ReasonNotJSON}},
		"cut in a list":                {"[1,2", ijson.Fault{Offset: 4, Reason: ijson.ReasonCut}},
		"cut in a string":              {`{"a":"bc`, ijson.Fault{Pointer: "/a", Offset: 8, Reason: ijson.ReasonCut}},
		"cut after a name":             {`{"a"`, ijson.Fault{Pointer: "/a", Offset: 4, Reason: ijson.ReasonCut}},
		"cut in a literal":             {"nul", ijson.Fault{Offset: 3, Reason: ijson.ReasonCut}},
		"cut in a number":              {"-", ijson.Fault{Offset: 1, Reason: ijson.ReasonCut}},
		"cut in a character":           {"[\"\xe2\x82", ijson.Fault{Pointer: "/0", Offset: 2, Reason: ijson.ReasonNotUTF8}},
		"not UTF-8":                    {"[\"a\xffb\"]", ijson.Fault{Pointer: "/0", Offset: 3, Reason: ijson.ReasonNotUTF8}},
		"not UTF-8 in a name":          {"{\"a\":{\"\xc0\xaf\":1}}", ijson.Fault{Pointer: "/a", Offset: 7, Reason: ijson.ReasonNotUTF8}},
		"surrogate as UTF-8":           {"[\"\xed\xa0\x80\"]", ijson.Fault{Pointer: "/0", Offset: 2, Reason: ijson.ReasonNotUTF8}},
		"raw newline in a string":      {"{\"a\":\"b\nc\"}", ijson.Fault{Pointer: "/a", Offset: 7, Reason: ijson.ReasonControl}},
		"raw tab after escapes":        {"[\"\\\\\\\"\t\"]", ijson.Fault{Pointer: "/0", Offset: 6, Reason: ijson.ReasonControl}},
		"raw NUL in a string":          {"[\"\x00\"]", ijson.Fault{Pointer: "/0", Offset: 2, Reason: ijson.ReasonControl}},
		"high surrogate alone":         {`{"a":"\ud800"}`, ijson.Fault{Pointer: "/a", Offset: 6, Reason: ijson.ReasonSurrogate}},
		"low surrogate alone":          {`{"a":"x\uDC00"}`, ijson.Fault{Pointer: "/a", Offset: 7, Reason: ijson.ReasonSurrogate}},
		"high surrogate, other escape": {`["\ud83d\u0041"]`, ijson.Fault{Pointer: "/0", Offset: 2, Reason: ijson.ReasonSurrogate}},
		"two high surrogates":          {`["\ud83d\ud83d"]`, ijson.Fault{Pointer: "/0", Offset: 2, Reason: ijson.ReasonSurrogate}},
		"lone surrogate in a name":     {`{"\ud800":1}`, ijson.Fault{Offset: 2, Reason: ijson.ReasonSurrogate}},
		"repeated name":                {`{"a":1,"a":1}`, ijson.Fault{Pointer: "/a", Offset: 7, Reason: ijson.ReasonRepeated}},
		"repeated by an escape":        {`{"x":[{"ab":1,"c":{},"a\u0062":2}]}`, ijson.Fault{Pointer: "/x/0/ab", Offset: 21, Reason: ijson.ReasonRepeated}},
		"repeated empty name":          {`{"":1,"":2}`, ijson.Fault{Pointer: "/", Offset: 6, Reason: ijson.ReasonRepeated}},
		"repeated with slash":          {`[{"a/~":1,"a/~":2}]`, ijson.Fault{Pointer: "/0/a~1~0", Offset: 10, Reason: ijson.ReasonRepeated}},
		"repetition before a fault":    {`{"a":1,"a":NaN}`, ijson.Fault{Pointer: "/a", Offset: 7, Reason: ijson.ReasonRepeated}},
		"integer too great":            {`{"id":9007199254740992}`, ijson.Fault{Pointer: "/id", Offset: 6, Reason: ijson.ReasonIntegerRange}},
		"integer too small":            {`[0, -9007199254740992]`, ijson.Fault{Pointer: "/1", Offset: 4, Reason: ijson.ReasonIntegerRange}},
		"integer beyond int64":         {"123456789012345678901234567890", ijson.Fault{Reason: ijson.ReasonIntegerRange}},
		"integer beyond the doubles":   {"1" + strings.Repeat("0", 400), ijson.Fault{Reason: ijson.ReasonIntegerRange}},
		"1e999":                        {`{"a":[1e999]}`, ijson.Fault{Pointer: "/a/0", Offset: 6, Reason: ijson.ReasonNumberRange}},
		"-1e999":                       {"-1e999", ijson.Fault{Reason: ijson.ReasonNumberRange}},
		"one level too deep":           {strings.Repeat("[", 65) + strings.Repeat("]", 65), ijson.Fault{Pointer: ijson.Pointer(strings.Repeat("/0", 64)), Offset: 64, Reason: ijson.ReasonTooDeep}},
		"objects too deep":             {strings.Repeat(`{"a":`, 70), ijson.Fault{Pointer: ijson.Pointer(strings.Repeat("/a", 64)), Offset: 64 * 5, Reason: ijson.ReasonTooDeep}},
		"too large":                    {`"` + strings.Repeat("a", ijson.MaxBytes-1) + `"`, ijson.Fault{Offset: ijson.MaxBytes, Reason: ijson.ReasonTooLarge}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := ijson.Decode([]byte(tt.text))
			fault, ok := errors.AsType[*ijson.Fault](err)
			if !ok || v != nil {
				t.Fatalf("Decode(%.80q) = %v, %v, want a *Fault and no value", tt.text, v, err)
			}
			if *fault != tt.want {
				t.Errorf("Decode(%.80q) refused %+v, want %+v", tt.text, *fault, tt.want)
			}
		})
	}
}

func TestDecodeLimit(t *testing.T) {
	text := []byte(`"` + strings.Repeat("a", 98) + `"`)
	if _, err := ijson.DecodeLimit(text, 100); err != nil {
		t.Errorf("DecodeLimit(100 bytes, 100): %v", err)
	}
	for _, limit := range []int{99, 0, -1} {
		want := ijson.Fault{Offset: max(limit, 0), Reason: ijson.ReasonTooLarge}
		_, err := ijson.DecodeLimit(text, limit)
		if fault, ok := errors.AsType[*ijson.Fault](err); !ok || *fault != want {
			t.Errorf("DecodeLimit(100 bytes, %d) = %v, want %+v", limit, err, want)
		}
	}
	longest := []byte(`"` + strings.Repeat("a", ijson.MaxBytes-2) + `"`)
	if _, err := ijson.Decode(longest); err != nil {
		t.Errorf("Decode(%d bytes): %v", len(longest), err)
	}
}

func TestDecodeKeepsNothingOfItsText(t *testing.T) {
	text := []byte(`{"name":["text","with \u0041"]}`)
	before := bytes.Clone(text)
	got, err := ijson.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, before) {
		t.Errorf("Decode changed its text to %q", text)
	}
	for i := range text {
		text[i] = 'x'
	}
	want := map[string]any{"name": []any{"text", "with A"}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("the value changed with the text, -want +got:\n%s", diff)
	}
}

func TestDecodeCanonical(t *testing.T) {
	for _, text := range []string{"10000000000000000", "-9007199254740992", "100000000000000000000", "1e+21", "0.000001", "5e-324"} {
		v, err := ijson.DecodeCanonical([]byte(text))
		if err != nil {
			t.Errorf("DecodeCanonical(%s): %v", text, err)
			continue
		}
		if got := string(ijson.Canonical(v)); got != text {
			t.Errorf("Canonical(DecodeCanonical(%s)) = %s", text, got)
		}
	}
	// No double is written with these digits: they would be lost.
	for _, text := range []string{"9007199254740993", "-9007199254740993", "1152921504606846976", "1" + strings.Repeat("0", 400)} {
		want := ijson.Fault{Reason: ijson.ReasonIntegerRange}
		_, err := ijson.DecodeCanonical([]byte(text))
		if fault, ok := errors.AsType[*ijson.Fault](err); !ok || *fault != want {
			t.Errorf("DecodeCanonical(%.30s) = %v, want %+v", text, err, want)
		}
	}
	long := ijson.Canonical(strings.Repeat("a", ijson.MaxBytes))
	if _, err := ijson.DecodeCanonical(long); err != nil {
		t.Errorf("DecodeCanonical(%d bytes): %v", len(long), err)
	}
	if v, err := ijson.DecodeCanonical([]byte(`{"a":1,"a":2}`)); err == nil {
		t.Errorf("DecodeCanonical took a repeated name: %v", v)
	}
}

func TestFaultIsOneBoundedLine(t *testing.T) {
	tests := map[string]struct {
		fault ijson.Fault
		want  string
	}{
		"document":   {ijson.Fault{Offset: 3, Reason: ijson.ReasonAfter}, "text after the document (byte 3)"},
		"place":      {ijson.Fault{Pointer: "/plan/steps/1", Offset: 17, Reason: ijson.ReasonRepeated}, "repeated member at /plan/steps/1 (byte 17)"},
		"other word": {ijson.Fault{Pointer: "/größe", Offset: 1, Reason: ijson.ReasonRepeated}, "repeated member at /größe (byte 1)"},
		"newline":    {ijson.Fault{Pointer: "/a\nb", Offset: 1, Reason: ijson.ReasonRepeated}, `repeated member at "/a\nb" (byte 1)`},
		"long": {ijson.Fault{Pointer: ijson.Pointer("/" + strings.Repeat("a", 5000)), Offset: 1, Reason: ijson.ReasonRepeated},
			"repeated member at /" + strings.Repeat("a", 119) + "... (byte 1)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.fault.Error(); got != tt.want {
				t.Errorf("Error() = %q, want %q", got, tt.want)
			}
		})
	}
}
