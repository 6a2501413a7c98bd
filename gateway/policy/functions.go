package policy

import (
	"fmt"
	"math"
	"math/big"
	"path"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// The names of our functions' forms, as the checker tells them apart.
const (
	sumInts    = "sum_list_int"
	sumDoubles = "sum_list_double"
	roundTo    = "round_double_int"
	pathWithin = "path_within_string_string"
)

// ourFunctions are those beside CEL's own (spec/config.md section 5.2).
func ourFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("sum",
			cel.Overload(sumInts, []*cel.Type{cel.ListType(cel.IntType)}, cel.IntType, cel.UnaryBinding(addInts)),
			cel.Overload(sumDoubles, []*cel.Type{cel.ListType(cel.DoubleType)}, cel.DoubleType, cel.UnaryBinding(addDoubles))),
		cel.Function("round",
			cel.Overload(roundTo, []*cel.Type{cel.DoubleType, cel.IntType}, cel.DoubleType, cel.BinaryBinding(round))),
		cel.Function("path_within",
			cel.Overload(pathWithin, []*cel.Type{cel.StringType, cel.StringType}, cel.BoolType, cel.BinaryBinding(within))),
	}
}

// addInts sums whole numbers; more than 64 bits is an error.
func addInts(list ref.Val) ref.Val {
	sum := int64(0)
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		v, ok := it.Next().(types.Int)
		if !ok {
			return types.NewErr("sum: an item is no int")
		}
		next := sum + int64(v)
		if (next > sum) != (v > 0) && v != 0 {
			return types.NewErr("sum: integer overflow")
		}
		sum = next
	}
	return types.Int(sum)
}

func addDoubles(list ref.Val) ref.Val {
	sum := 0.0
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		v, ok := it.Next().(types.Double)
		if !ok {
			return types.NewErr("sum: an item is no double")
		}
		sum += float64(v)
	}
	return types.Double(sum)
}

// maxDigits bounds the digits that round takes: no double has more that mean something.
const maxDigits = 15

// round rounds a number as one rounds its decimal text, halves away from zero: round(2.675, 2) is 2.68, although the double
// that is written 2.675 lies a little below. Negative digits round to tens, hundreds and so on.
func round(value, digits ref.Val) ref.Val {
	x, n := float64(value.(types.Double)), int64(digits.(types.Int))
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return types.NewErr("round: not a finite number")
	}
	if n < -maxDigits || n > maxDigits {
		return types.NewErr("round: digits from %d to %d", -maxDigits, maxDigits)
	}
	text := strconv.FormatFloat(x, 'g', -1, 64)
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return types.NewErr("round: not a number")
	}
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(n, -n)), nil))
	if n < 0 {
		unit.Inv(unit)
	}
	scaled := exact.Mul(exact, unit)
	whole := new(big.Rat).SetInt(halfAway(scaled))
	rounded, _ := whole.Quo(whole, unit).Float64()
	return types.Double(rounded)
}

// halfAway rounds to a whole number, halves away from zero.
func halfAway(r *big.Rat) *big.Int {
	twice := new(big.Int).Lsh(r.Num(), 1)
	twice.Abs(twice).Add(twice, r.Denom())
	n := twice.Quo(twice, new(big.Int).Lsh(r.Denom(), 1))
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

// within reports whether a path is a directory or lies below it, by their texts alone. A path that is not absolute depends
// on who opens it, so it is an error and not a no.
func within(file, dir ref.Val) ref.Val {
	inner, err := cleaned(string(file.(types.String)))
	if err != nil {
		return types.WrapErr(err)
	}
	outer, err := cleaned(string(dir.(types.String)))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(inner == outer || outer == "/" || strings.HasPrefix(inner, outer+"/"))
}

func cleaned(text string) (string, error) {
	if !path.IsAbs(text) {
		return "", fmt.Errorf("path_within: %.100q is no absolute path", text)
	}
	if strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("path_within: a zero byte in a path")
	}
	return path.Clean(text), nil
}
