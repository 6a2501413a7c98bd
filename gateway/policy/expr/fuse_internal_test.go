package expr

import (
	"math"
	"testing"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"pgregory.net/rapid"
)

// sums are texts with sums in them, and whether they are fused.
var sums = map[string]bool{
	`sum(rows.filter(e, e.counts).map(e, e.cents))`:                                          true,
	`sum(rows.map(e, e.cents)) + sum(rows.map(r, r.counts, r.cents * 2))`:                    true,
	`sum(rows.filter(e, e.counts && e.name == "x").map(e, e.usd)) > 10.0`:                    true,
	`rows.exists(r, sum(rows.filter(e, e.name == r.name).map(e, e.cents)) > 100)`:            true,
	`sum(rows.map(r, sum(rows.filter(e, e.name == r.name).map(e, e.cents))))`:                true,
	`sum(rows.filter(e, rows.exists(r, r.cents > e.cents)).map(e, e.cents / (e.cents - 3)))`: true,
	`sum(rows.filter(r, r.counts).map(e, e.cents))`:                                          true, // of two names the map only
	`sum(rows.map(e, e.?cents.orValue(1)))`:                                                  true,
	`sum([1, 2, 3].map(n, n * 2)) + sum(rows.map(e, e.cents))`:                               true,
	`sum(ints) + sum(ints.filter(n, n > 2))`:                                                 false,
	`sum(ints.map(n, n).map(n, n + 1).filter(n, n > 1))`:                                     false,
	`sum(rows.map(e, e.cents) + [1])`:                                                        false,
	`rows.map(e, e.cents).size() + size(rows.filter(e, e.counts))`:                           false,
	`sum(by.map(k, by[k]))`:                                                                  false, // over a map: it has no order
}

func sumScope(t testing.TB) *Checker {
	row := Object(Field{Name: "name", Type: String()}, Field{Name: "cents", Type: Int(), Optional: true}, Field{Name: "usd", Type: Double()}, Field{Name: "counts", Type: Bool()})
	all := []Variable{{"rows", List(row)}, {"ints", List(Int())}, {"by", Map(Int())}}
	c, err := NewChecker(all...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFusedSums compares sums that add up as they go with those over lists, also where they err and where nobody knows a value.
func TestFusedSums(t *testing.T) {
	scope := sumScope(t)
	for text, want := range sums {
		t.Run(text, func(t *testing.T) {
			c, faults := scope.Check(text, Dyn(), nil)
			if c == nil {
				t.Fatal(faults)
			}
			made := fused(c.AST)
			if (made != c.AST) != want {
				t.Fatalf("fused: %v, want %v", made != c.AST, want)
			}
			plain, err := planned(scope.environment, c.AST, 0)
			if err != nil {
				t.Fatal(err)
			}
			quick, err := planned(scope.environment, made, 0)
			if err != nil {
				t.Fatal(err)
			}
			erred, sure := 0, 0
			rapid.Check(t, func(r *rapid.T) {
				given := map[string]any{"rows": drawnRows(r), "ints": []int64{1, 2, 3}, "by": map[string]int64{"x": 3, "y": 4}}
				a, b := valued(plain, given), valued(quick, given)
				if types.IsError(a) {
					erred++
				} else {
					sure++
				}
				if types.IsError(a) != types.IsError(b) || types.IsUnknown(a) != types.IsUnknown(b) || !types.IsUnknownOrError(a) && a.Equal(b) != types.True {
					r.Fatalf("%v over a list, %v fused, of %v", a, b, given)
				}
			})
			if sure == 0 {
				t.Errorf("%d times an error, never a value", erred)
			}
		})
	}
}

func drawnRows(r *rapid.T) []any {
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) any {
		row := map[string]any{
			"name": rapid.SampledFrom([]string{"x", "y"}).Draw(r, "name"), "counts": rapid.Bool().Draw(r, "counts"),
			"usd": rapid.SampledFrom([]float64{0.1, 0.2, 1e300, -1e300, math.Inf(1)}).Draw(r, "usd"), "cents": rapid.SampledFrom([]int64{0, 1, 2, 5, 100, 3}).Draw(r, "cents"),
		}
		switch rapid.IntRange(0, 19).Draw(r, "odd") {
		case 0:
			delete(row, "cents")
		case 1:
			row["cents"] = int64(math.MaxInt64)
		case 2:
			row["cents"] = "5"
		case 3:
			row["counts"] = types.NewUnknown(0, nil)
		case 4:
			row["usd"] = nil
		case 5:
			row["cents"] = 1.5
		case 6:
			row["counts"] = int64(1)
		}
		return row
	}), 0, 4).Draw(r, "rows")
}

func valued(p cel.Program, given map[string]any) ref.Val {
	v, _, err := p.Eval(given)
	if err != nil {
		return types.WrapErr(err)
	}
	return v
}
