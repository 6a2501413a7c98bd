package ijson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"patterngate/ijson"
)

var seeds = []string{
	plan, `{}`, `[]`, `null`, `"a\u0000\ud83d\ude00\n\"\\"`, `[1,1.0,-0,1e22,1e-7,123456789.125,9007199254740991,9007199254740993.0]`,
	`{"b":1,"a":{"\ue000":[],"😀":{}}}`, `{"a":1,"a":2}`, `{"a/~":{"a\u002f~":0}}`, "\ufeff{}", `["\ud800"]`, "[\"\xff\"]", `[9007199254740992]`, `[1e999]`,
	`{} x`, `[1,`, `[NaN]`, "[\"a\tb\"]", strings.Repeat("[", 65), ` {"x" : [ true , false ] } `,
}

// FuzzDecode holds what is so for every text: a fault or a value, never both; a value writes, and reads back to the
// same; its canonical form is that of an independent encoder, and its own; encoding/json reads the same value.
func FuzzDecode(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := ijson.Decode(text)
		if err != nil {
			checkFault(t, text, v, err)
			return
		}
		once := ijson.Append(nil, v)
		again, err := ijson.DecodeCanonical(once)
		if err != nil || !ijson.Equal(v, again) {
			t.Fatalf("Decode(%q) = %#v, written %s, read back %#v, %v", text, v, once, again, err)
		}
		if twice := ijson.Append(nil, again); !bytes.Equal(once, twice) {
			t.Fatalf("canonical %s, of that %s", once, twice)
		}
		other := jsontext.Value(bytes.Clone(text))
		if err := other.Canonicalize(); err != nil || !bytes.Equal(once, other) {
			t.Fatalf("Append = %s, jsontext's Canonicalize = %s, %v", once, other, err)
		}
		var std any
		if err := json.Unmarshal(text, &std); err != nil || !ijson.Equal(v, std) {
			t.Fatalf("Decode(%q) = %#v, encoding/json reads %#v, %v", text, v, std, err)
		}
		if checked, err := ijson.AppendChecked(nil, v); err != nil || !bytes.Equal(once, checked) {
			t.Fatalf("AppendChecked = %s, %v, Append = %s", checked, err, once)
		}
	})
}

func checkFault(t *testing.T, text []byte, v any, err error) {
	t.Helper()
	fault, ok := errors.AsType[*ijson.Fault](err)
	switch {
	case !ok || v != nil:
		t.Fatalf("Decode(%q) = %v, %v, want a *Fault alone", text, v, err)
	case fault.Offset < 0 || fault.Offset > len(text):
		t.Fatalf("Decode(%q): offset %d is outside", text, fault.Offset)
	case fault.Pointer != "" && fault.Pointer.Tokens() == nil:
		t.Fatalf("Decode(%q): %q is no pointer", text, fault.Pointer)
	case fault.Reason == ijson.ReasonNotUTF8 && utf8.Valid(text):
		t.Fatalf("Decode(%q): %v, but it is", text, err)
	case strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 700:
		t.Fatalf("Decode(%q): %q is no short line", text, err)
	}
	// Where encoding/json finds no fault either, ours must be one of I-JSON, not of the grammar.
	if json.Valid(text) && (fault.Reason == ijson.ReasonNotJSON || fault.Reason == ijson.ReasonCut || fault.Reason == ijson.ReasonControl) {
		t.Fatalf("Decode(%q): %v, but encoding/json takes it", text, err)
	}
}

// FuzzDecodeInto holds that a struct takes what a value holds, or names a place in it.
func FuzzDecodeInto(f *testing.F) {
	for _, seed := range []string{`{"id":1.0,"tags":["a"],"parent":{"any":{"a":[null]}}}`, `{"id":1e16}`, `{"pair":[1,2,3]}`, `{"at":"x"}`, `{"by":{"a":1}}`, `{"parent":{"x":{"x":1}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := ijson.Decode(text)
		if err != nil {
			return
		}
		var got order
		err = ijson.DecodeInto(text, &got)
		if err == nil {
			return
		}
		fault, ok := errors.AsType[*ijson.Fault](err)
		if !ok {
			t.Fatalf("DecodeInto(%q): %v blames the target", text, err)
		}
		at, ok := fault.Pointer.In(v)
		if !ok {
			t.Fatalf("DecodeInto(%q): %v, but nothing is there", text, err)
		}
		// The offset is where that value begins.
		first := jsontext.NewDecoder(bytes.NewReader(text[fault.Offset:]))
		value, err := first.ReadValue()
		if err != nil {
			t.Fatalf("DecodeInto(%q): %v, no value begins there: %v", text, fault, err)
		}
		if there := decode(t, string(value)); !ijson.Equal(at, there) {
			t.Fatalf("DecodeInto(%q): %v, but there is %v", text, fault, there)
		}
	})
}

// FuzzPointer holds that a place that was named is found, set and removed, and that the old value stays as it was.
func FuzzPointer(f *testing.F) {
	f.Add(`{"a/b":{"~":[1,2]}}`, "a/b", "~1")
	f.Add(`[[0]]`, "0", "")
	f.Fuzz(func(t *testing.T, text, one, two string) {
		p := ijson.Pointer("").Member(one).Member(two)
		if tokens := p.Tokens(); len(tokens) != 2 || tokens[0] != one || tokens[1] != two {
			t.Fatalf("%q has the tokens %q, want %q and %q", p, tokens, one, two)
		}
		root, err := ijson.Decode([]byte(text))
		if err != nil {
			return
		}
		before := ijson.Canonical(root)
		old, was := p.In(root)
		set, ok := ijson.Set(root, p, "new")
		if was && !ok {
			t.Fatalf("Set(%s, %q) refused a place that is there", text, p)
		}
		if now, is := p.In(set); ok && two != "-" && (!is || now != "new") {
			t.Fatalf("Set(%s, %q) = %v, has %v there", text, p, set, now)
		}
		removed, ok := ijson.Remove(root, p)
		if ok != was {
			t.Fatalf("Remove(%s, %q) = %v, In says %v", text, p, ok, was)
		}
		if back, ok := ijson.Set(removed, p, old); was && isObjectAt(root, one) && (!ok || !ijson.Equal(back, root)) {
			t.Fatalf("Remove and Set of %q made %s of %s", p, ijson.Canonical(back), text)
		}
		if after := ijson.Canonical(root); !bytes.Equal(before, after) {
			t.Fatalf("the old value was %s, is %s", before, after)
		}
	})
}

func isObjectAt(root any, name string) bool {
	v, _ := ijson.Pointer("").Member(name).In(root)
	_, ok := v.(map[string]any)
	return ok
}

// FuzzWords holds that text is in words if and only if it is its words joined, and that no white space is left.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"", " a  b ", "a b", "\u2003a\x1fb", "\xff \x85"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		want := strings.Join(strings.FieldsFunc(s, ijson.IsSpace), " ")
		if got := ijson.Words(s); got != want {
			t.Fatalf("Words(%q) = %q, want %q", s, got, want)
		}
		cut := ijson.Cut(s, limit)
		if !strings.HasPrefix(s, cut) || len(cut) > max(limit, 0) {
			t.Fatalf("Cut(%q, %d) = %q", s, limit, cut)
		}
		if utf8.ValidString(s) && (!utf8.ValidString(cut) || len(cut) < min(len(s), limit-utf8.UTFMax+1)) {
			t.Fatalf("Cut(%q, %d) = %q splits a character or cuts too much", s, limit, cut)
		}
	})
}

// FuzzNumber holds that a double reads back from its canonical text, which encoding/json writes alike.
func FuzzNumber(f *testing.F) {
	for _, n := range []float64{0, 1e21, 1e-6, 1e-7, 1.5e-10, ijson.MaxInteger + 1, 5e-324} {
		f.Add(math.Float64bits(n))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		n := math.Float64frombits(bits)
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return
		}
		text := ijson.Canonical(n)
		if back, err := ijson.DecodeCanonical(text); err != nil || back != n {
			t.Fatalf("%v is written %s, read back %v, %v", n, text, back, err)
		}
		if std, err := json.Marshal(n + 0); err != nil || !bytes.Equal(std, text) {
			t.Fatalf("Canonical(%v) = %s, encoding/json writes %s, %v", n, text, std, err)
		}
	})
}
