package ijson_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/ijson"
)

func TestOf(t *testing.T) {
	type row struct {
		Name  string   `json:"name"`
		N     int      `json:"n"`
		Great float64  `json:"great"`
		Tags  []string `json:"tags,omitempty"`
	}
	got, err := ijson.Of([]row{{"<a>", 1, 1e16, nil}, {"b", 2, 0.5, []string{"x"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		map[string]any{"name": "<a>", "n": 1.0, "great": 1e16},
		map[string]any{"name": "b", "n": 2.0, "great": 0.5, "tags": []any{"x"}},
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("Of, -want +got:\n%s", diff)
	}
	fault, ok := errors.AsType[*ijson.Fault](second(ijson.Of(map[string]int64{"id": math.MaxInt64})))
	if !ok || fault.Pointer != "/id" || fault.Reason != ijson.ReasonIntegerRange {
		t.Errorf("Of an int64 that no double holds = %v, want %q at /id", fault, ijson.ReasonIntegerRange)
	}
	for _, v := range []any{math.NaN(), make(chan int)} {
		if got, err := ijson.Of(v); err == nil {
			t.Errorf("Of(%v) = %v, want an error", v, got)
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestInteger(t *testing.T) {
	for v, want := range map[any]int64{0.0: 0, 42.0: 42, -1.0: -1, 9007199254740991.0: ijson.MaxInteger, -9007199254740991.0: -ijson.MaxInteger} {
		if got, ok := ijson.Integer(v); !ok || got != want {
			t.Errorf("Integer(%v) = %d, %v, want %d", v, got, ok, want)
		}
	}
	for _, v := range []any{nil, true, "42", 1.5, 1e-9, 9007199254740992.0, -1e22, math.Inf(1), math.NaN(), 42, int64(42)} {
		if got, ok := ijson.Integer(v); ok || got != 0 {
			t.Errorf("Integer(%#v) = %d, %v, want none", v, got, ok)
		}
	}
}

func TestEqual(t *testing.T) {
	same := [][2]string{{`null`, `null`}, {`1`, `1.0`}, {`-0`, `0`}, {`"\u0061"`, `"a"`}, {`{"a":1,"b":[{}]}`, `{"b":[{}],"a":1e0}`}}
	for _, pair := range same {
		if a, b := decode(t, pair[0]), decode(t, pair[1]); !ijson.Equal(a, b) {
			t.Errorf("Equal(%s, %s) = false", pair[0], pair[1])
		}
	}
	all := []string{`null`, `false`, `true`, `0`, `1`, `""`, `"0"`, `[]`, `[null]`, `[1,2]`, `[2,1]`, `{}`, `{"a":null}`, `{"b":null}`, `{"a":1}`}
	for i, a := range all {
		for j, b := range all {
			if got := ijson.Equal(decode(t, a), decode(t, b)); got != (i == j) {
				t.Errorf("Equal(%s, %s) = %v", a, b, got)
			}
		}
	}
	if ijson.Equal(math.NaN(), math.NaN()) || ijson.Equal(1, 1) {
		t.Error("Equal took NaN or an int for a decoded value")
	}
}
