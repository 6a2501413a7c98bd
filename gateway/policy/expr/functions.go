package expr

import (
	"errors"
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

// Ids of the overloads of our functions, as the checker knows them.
const (
	sumInts    = "sum_list_int"
	sumDoubles = "sum_list_double"
	roundTo    = "round_double_int"
	pathWithin = "path_within_string_string"
)

// ourFunctions declares the functions that are not part of CEL (spec/config.md section 5.2).
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

// addInts sums whole numbers. A sum of more than 64 bits is an error.
func addInts(list ref.Val) ref.Val {
	sum := int64(0)
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		v, ok := it.Next().(types.Int)
		if !ok {
			return types.NewErr(sumNotInt)
		}
		next := sum + int64(v)
		if (next > sum) != (v > 0) && v != 0 {
			return types.NewErr(sumOverflow)
		}
		sum = next
	}
	return types.Int(sum)
}

// addDoubles sums doubles.
func addDoubles(list ref.Val) ref.Val {
	sum := 0.0
	for it := list.(traits.Lister).Iterator(); it.HasNext() == types.True; {
		v, ok := it.Next().(types.Double)
		if !ok {
			return types.NewErr(sumNotDouble)
		}
		sum += float64(v)
	}
	return types.Double(sum)
}

// maxDigits bounds the digits argument of round: no double has more digits that mean something.
const maxDigits = 15

// round rounds a number to digits after the point. It rounds the exact value, as Go and Python print it: round(2.675, 2) is
// 2.67, because the double written 2.675 is slightly less (spec/patterns.md section 0, Supervisor). A tie goes to the even
// digit. Negative digits round to tens, hundreds and so on in the same way.
func round(value, digits ref.Val) ref.Val {
	x, n := float64(value.(types.Double)), int64(digits.(types.Int))
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return types.NewErr(roundNotFinite)
	}
	if n < -maxDigits || n > maxDigits {
		return types.NewErr(roundDigits, -maxDigits, maxDigits)
	}
	if n < 0 {
		if x = roundToTens(x, -n); math.IsInf(x, 0) {
			return types.NewErr(roundRange)
		}
		return types.Double(x)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', int(n), 64), 64)
	if err != nil {
		return types.NewErr(roundNotNumber)
	}
	return types.Double(rounded)
}

// roundToTens rounds to a power of ten.
func roundToTens(x float64, power int64) float64 {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(power), nil)
	exact := new(big.Rat).SetFloat64(x) // finite
	whole := halfEven(exact.Quo(exact, new(big.Rat).SetInt(unit)))
	rounded, _ := new(big.Rat).SetInt(whole.Mul(whole, unit)).Float64()
	return rounded
}

// halfEven rounds to a whole number. A tie goes to the even one.
func halfEven(r *big.Rat) *big.Int {
	floor, rest := new(big.Int), new(big.Int)
	floor.DivMod(r.Num(), r.Denom(), rest)
	twice := rest.Lsh(rest, 1).Cmp(r.Denom())
	if twice > 0 || twice == 0 && floor.Bit(0) == 1 {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// within reports whether a path is a directory or lies below it. It compares the texts only. A relative path is an error, not
// false, because its meaning depends on the process that opens it.
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

// cleaned returns an absolute path without . and .. in it.
func cleaned(text string) (string, error) {
	if !path.IsAbs(text) {
		return "", fmt.Errorf(pathNotAbsolute, text)
	}
	if strings.ContainsRune(text, 0) {
		return "", errors.New(pathZeroByte)
	}
	return path.Clean(text), nil
}
