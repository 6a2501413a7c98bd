package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"patterngate/catalog"
	"patterngate/ijson"
)

func ExampleTyped() {
	type in struct {
		OrderID int64 `json:"order_id"`
	}
	type out struct {
		Open  bool    `json:"open"`
		Total float64 `json:"total_usd"`
	}
	tool, err := catalog.Typed(
		catalog.Tool{Name: "look_up_order", Effect: catalog.Read, Phrase: "looking up order {order_id}"},
		func(_ context.Context, in in, _ catalog.Call) (out, error) { return out{in.OrderID == 17, 99.5}, nil },
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	args := map[string]any{"order_id": 17.0} // decoded JSON: 17 and 17.0 are the same
	fmt.Println(tool.Signature())
	fmt.Println(tool.Input.Check(map[string]any{"order": "17"}))
	fmt.Println(tool.Say(args))
	result, err := tool.Do(context.Background(), catalog.Call{Args: args})
	fmt.Println(string(ijson.Canonical(result)), err)
	// Output:
	// look_up_order {order_id: integer}
	// [{/order unknown one of order_id} {/order_id missing integer}]
	// looking up order 17
	// {"open":true,"total_usd":99.5} <nil>
}

// scalars is what the short cut binds, longer what it leaves to the long way; both must agree with ijson.Bind.
type scalars struct {
	Text   string  `json:"text"`
	Whole  int64   `json:"whole"`
	Number float64 `json:"number,omitempty"`
	Yes    bool    `json:"yes,omitempty"`
	Hidden string  `json:"-"`
	inside string
}

type longer struct {
	Small int       `json:"small"`
	Maybe *string   `json:"maybe,omitempty"`
	At    time.Time `json:"at,omitzero"`
	List  []string  `json:"list,omitempty"`
	Upper string
	scalars
}

func echo[T any](t testing.TB) catalog.Tool {
	t.Helper()
	tool, err := catalog.Typed(catalog.Tool{Name: "echo", Effect: catalog.Read},
		func(_ context.Context, in T, _ catalog.Call) (T, error) { return in, nil })
	if err != nil {
		t.Fatalf("Typed: %v", err)
	}
	return tool
}

// bindsLike compares a tool that returns its arguments with binding and writing by way of a text.
func bindsLike[T any](t *rapid.T, tool catalog.Tool, args map[string]any) {
	var in T
	wantErr := ijson.Bind(args, &in)
	got, err := tool.Do(context.Background(), catalog.Call{Args: args})
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("Do(%s): error %v, want %v", ijson.Canonical(args), err, wantErr)
	}
	if err != nil {
		return
	}
	want, err := ijson.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("Do(%s) (-want +got):\n%s", ijson.Canonical(args), diff)
	}
}

func TestTypedBindsAsItsTextWould(t *testing.T) {
	short, long := echo[scalars](t), echo[longer](t)
	names := rapid.SampledFrom([]string{"text", "whole", "number", "yes", "Hidden", "inside", "TEXT", "small", "maybe", "at", "list", "Upper"})
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.MapOfN(names, values(1), 0, 4).Draw(t, "args")
		bindsLike[scalars](t, short, args)
		bindsLike[longer](t, long, args)
	})
}

func TestTypedBindsWhatFits(t *testing.T) {
	tool := echo[scalars](t)
	rapid.Check(t, func(t *rapid.T) {
		args := map[string]any{
			"text":  rapid.String().Draw(t, "text"),
			"whole": float64(rapid.Int64Range(-ijson.MaxInteger, ijson.MaxInteger).Draw(t, "whole")),
		}
		if rapid.Bool().Draw(t, "with options") {
			args["number"], args["yes"] = rapid.Float64Range(1, 1e9).Draw(t, "number"), true
		}
		if faults := tool.Input.Check(args); faults != nil {
			t.Fatalf("Check(%s) = %v", ijson.Canonical(args), faults)
		}
		got, err := tool.Do(context.Background(), catalog.Call{Args: args})
		if err != nil || !ijson.Equal(got, args) {
			t.Fatalf("Do(%s) = %v, %v; want the arguments", ijson.Canonical(args), got, err)
		}
	})
}

// outcome has every form that the short cut writes, mixed those that must take the long way too.
type outcome struct {
	Text   string         `json:"text"`
	Small  int8           `json:"small"`
	Number float64        `json:"number"`
	Yes    bool           `json:"yes,omitempty"`
	Point  *float64       `json:"point,omitempty"`
	Null   *string        `json:"null"`
	List   []outcomeKey   `json:"list"`
	Short  []int64        `json:"short,omitempty"`
	Inner  scalars        `json:"inner,omitempty"`
	Deep   *[]*outcomeKey `json:"deep,omitempty"`
}

type mixed struct {
	At   time.Time      `json:"at"`
	Any  any            `json:"any,omitempty"`
	Map  map[string]int `json:"map"`
	Raw  []byte         `json:"raw"`
	Word shout          `json:"word"`
}

type outcomeKey struct {
	Key string `json:"key"`
	Big int64  `json:"big"`
}

type shout string

func (s shout) MarshalText() ([]byte, error) { return []byte(s + "!"), nil }

func resultOf[Out any](t testing.TB, out Out) (any, error) {
	t.Helper()
	tool, err := catalog.Typed(catalog.Tool{Name: "give", Effect: catalog.Read},
		func(context.Context, struct{}, catalog.Call) (Out, error) { return out, nil })
	if err != nil {
		t.Fatalf("Typed: %v", err)
	}
	return tool.Do(context.Background(), catalog.Call{})
}

func writesLike[Out any](t *testing.T, out Out) {
	t.Helper()
	got, err := resultOf(t, out)
	want, wantErr := ijson.Of(out)
	if (err == nil) != (wantErr == nil) {
		t.Errorf("Do for %+v: error %v, want %v", out, err, wantErr)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Do for %+v (-want +got):\n%s", out, diff)
	}
}

func TestTypedWritesAsItsTextWould(t *testing.T) {
	half, key := 0.5, []*outcomeKey{{"k", ijson.MaxInteger}, nil}
	writesLike(t, outcome{})
	writesLike(t, outcome{Text: "é\x00", Small: -8, Number: -2.5e-7, Yes: true, Point: &half, Short: []int64{1}, Deep: &key})
	writesLike(t, []mixed{{At: time.Unix(0, 0).UTC(), Any: []int{1}, Raw: []byte("x"), Word: "w"}, {}})
	writesLike(t, outcome{List: []outcomeKey{}, Short: []int64{}, Inner: scalars{Text: "<&>", inside: "x"}})
	writesLike(t, []*outcomeKey{{"k", 1}})
	writesLike(t, &outcomeKey{"k", -ijson.MaxInteger})
	writesLike(t, longer{Upper: "u"})
	for _, odd := range []float64{math.Copysign(0, -1), 1e15, 1e22, 1 << 53, 1e300, math.NaN(), math.Inf(1), 5e-324} {
		writesLike(t, odd)
	}
	writesLike(t, outcomeKey{"not \xff UTF-8", 1})
	writesLike(t, outcomeKey{"k", 1 << 60})
	writesLike(t, []outcomeKey{{"k", -1 << 60}})
	writesLike(t, []byte("bytes"))
}

func TestTypedErrors(t *testing.T) {
	broken := errors.New("broken")
	tool, err := catalog.Typed(catalog.Tool{Name: "break"},
		func(context.Context, struct{}, catalog.Call) (outcome, error) { return outcome{}, broken })
	if err != nil {
		t.Fatal(err)
	}
	if v, err := tool.Do(t.Context(), catalog.Call{}); v != nil || !errors.Is(err, broken) {
		t.Errorf("Do = %v, %v; want the tool's own error", v, err)
	}
	var fault *ijson.Fault
	if v, err := tool.Do(t.Context(), catalog.Call{Args: map[string]any{"x": 1.0}}); v != nil || !errors.As(err, &fault) || fault.Pointer != "/x" {
		t.Errorf("Do with an unknown argument = %v, %v; want a fault at /x", v, err)
	}
	type node struct{ Next []node }
	if _, err := catalog.Typed(catalog.Tool{Name: "x"}, func(context.Context, node, catalog.Call) (any, error) { return nil, nil }); err == nil {
		t.Errorf("Typed took a recursive input")
	}
	if _, err := catalog.Typed(catalog.Tool{Name: "x"}, func(context.Context, struct{}, catalog.Call) (node, error) { return node{}, nil }); err == nil {
		t.Errorf("Typed took a recursive output")
	}
}

func TestTypedSeesItsCall(t *testing.T) {
	type seen struct {
		Key     string `json:"key"`
		Attempt int    `json:"attempt"`
	}
	tool, err := catalog.Typed(catalog.Tool{Name: "see"},
		func(_ context.Context, _ struct{}, c catalog.Call) (seen, error) { return seen{c.Key, c.Attempt}, nil })
	if err != nil {
		t.Fatal(err)
	}
	got, err := tool.Do(t.Context(), catalog.Call{Key: "k", Attempt: 2})
	if diff := cmp.Diff(map[string]any{"key": "k", "attempt": 2.0}, got); diff != "" || err != nil {
		t.Errorf("Do: %v (-want +got):\n%s", err, diff)
	}
	if !json.Valid(tool.Output.JSON()) || tool.Output.Check(got) != nil {
		t.Errorf("Do's result does not fit its own schema %s: %v", tool.Output.JSON(), tool.Output.Check(got))
	}
}
