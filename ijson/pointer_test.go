package ijson_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/ijson"
)

func TestPointer(t *testing.T) {
	p := ijson.Pointer("").Member("plan").Index(0).Member("a/b~c").Member("").Member("~1")
	if want := ijson.Pointer("/plan/0/a~1b~0c//~01"); p != want {
		t.Errorf("built %q, want %q", p, want)
	}
	if diff := cmp.Diff([]string{"plan", "0", "a/b~c", "", "~1"}, p.Tokens()); diff != "" {
		t.Errorf("%q.Tokens(), -want +got:\n%s", p, diff)
	}
	for _, none := range []ijson.Pointer{"", "a", "a/b", "/~", "/~2", "/a/b~"} {
		if tokens := none.Tokens(); tokens != nil {
			t.Errorf("%q.Tokens() = %q, want none", none, tokens)
		}
	}
}

// The document and its pointers are those of RFC 6901, section 5.
func TestPointerIn(t *testing.T) {
	root := decode(t, `{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8,"none":null,"0":"zero","deep":[[{"x":9}]]}`)
	for p, want := range map[ijson.Pointer]any{
		"": root, "/foo": []any{"bar", "baz"}, "/foo/0": "bar", "/foo/1": "baz", "/": 0.0, "/a~1b": 1.0, "/c%d": 2.0, "/e^f": 3.0, "/g|h": 4.0,
		`/i\j`: 5.0, `/k"l`: 6.0, "/ ": 7.0, "/m~0n": 8.0, "/none": nil, "/0": "zero", "/deep/0/0/x": 9.0,
	} {
		got, ok := p.In(root)
		if !ok {
			t.Errorf("%q.In(root) found nothing, want %v", p, want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q.In(root), -want +got:\n%s", p, diff)
		}
	}
	for _, p := range []ijson.Pointer{
		"foo", "/fo", "/foo/2", "/foo/-", "/foo/-1", "/foo/00", "/foo/01", "/foo/+1", "/foo/1e0", "/foo/", "/foo/0/0", "/foo/99999999999999999999",
		"/none/x", "//", "/m~n", "/m~2n", "/foo/٠",
	} {
		if got, ok := p.In(root); ok || got != nil {
			t.Errorf("%q.In(root) = %v, %v, want nothing", p, got, ok)
		}
	}
}

func TestSetAndRemove(t *testing.T) {
	const before = `{"a":{"b":[1,{"c":2},3]},"d":[]}`
	set := func(v any) func(any, ijson.Pointer) (any, bool) {
		return func(root any, p ijson.Pointer) (any, bool) { return ijson.Set(root, p, v) }
	}
	tests := map[string]struct {
		edit func(any, ijson.Pointer) (any, bool)
		at   ijson.Pointer
		want string // "" where the edit is refused
	}{
		"set the whole":              {set("x"), "", `"x"`},
		"set a member":               {set("x"), "/a", `{"a":"x","d":[]}`},
		"set a new member":           {set("x"), "/a/n~1", `{"a":{"b":[1,{"c":2},3],"n/":"x"},"d":[]}`},
		"set an element":             {set("x"), "/a/b/1", `{"a":{"b":[1,"x",3]},"d":[]}`},
		"set below an element":       {set("x"), "/a/b/1/c", `{"a":{"b":[1,{"c":"x"},3]},"d":[]}`},
		"append by length":           {set("x"), "/a/b/3", `{"a":{"b":[1,{"c":2},3,"x"]},"d":[]}`},
		"append by -":                {set("x"), "/d/-", `{"a":{"b":[1,{"c":2},3]},"d":["x"]}`},
		"set beyond the end":         {set("x"), "/a/b/4", ""},
		"set at no index":            {set("x"), "/a/b/01", ""},
		"set without a parent":       {set("x"), "/x/y", ""},
		"set below a scalar":         {set("x"), "/a/b/0/x", ""},
		"set below what is appended": {set("x"), "/a/b/-/x", ""},
		"set at no pointer":          {set("x"), "a", ""},
		"remove a member":            {ijson.Remove, "/a", `{"d":[]}`},
		"remove an element":          {ijson.Remove, "/a/b/0", `{"a":{"b":[{"c":2},3]},"d":[]}`},
		"remove below":               {ijson.Remove, "/a/b/1/c", `{"a":{"b":[1,{},3]},"d":[]}`},
		"remove the last element":    {ijson.Remove, "/a/b/2", `{"a":{"b":[1,{"c":2}]},"d":[]}`},
		"remove the whole":           {ijson.Remove, "", ""},
		"remove nothing":             {ijson.Remove, "/a/x", ""},
		"remove beyond the end":      {ijson.Remove, "/a/b/3", ""},
		"remove -":                   {ijson.Remove, "/a/b/-", ""},
		"remove below a scalar":      {ijson.Remove, "/a/b/0/x", ""},
		"remove at no pointer":       {ijson.Remove, "a", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := decode(t, before)
			got, ok := tt.edit(root, tt.at)
			if now := string(ijson.Canonical(root)); now != before {
				t.Errorf("the old value is now %s, was %s", now, before)
			}
			want := tt.want
			if !ok {
				want = before
			}
			if ok != (tt.want != "") || string(ijson.Canonical(got)) != want {
				t.Errorf("at %q: %s, %v, want %s", tt.at, ijson.Canonical(got), ok, tt.want)
			}
		})
	}
}

func TestSetDoesNotShareWhatItChanges(t *testing.T) {
	list := make([]any, 1, 8) // room for an append in place
	list[0] = "old"
	root := any(map[string]any{"list": list})
	one, _ := ijson.Set(root, "/list/-", "one")
	two, _ := ijson.Set(root, "/list/-", "two")
	for _, tt := range []struct {
		v    any
		want string
	}{{root, `{"list":["old"]}`}, {one, `{"list":["old","one"]}`}, {two, `{"list":["old","two"]}`}} {
		if got := string(ijson.Canonical(tt.v)); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	v, err := ijson.Decode([]byte(text))
	if err != nil {
		t.Fatalf("Decode(%s): %v", text, err)
	}
	return v
}
