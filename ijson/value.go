package ijson

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Of converts a Go value to a decoded value, with encoding/json and its struct tags. It returns an error if the value
// cannot be encoded. It returns a *[Fault] if [DecodeCanonical] rejects the JSON, for example an int64 that no double
// holds.
func Of(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%T as JSON: %w", v, err)
	}
	return DecodeCanonical(text)
}

// Integer returns v as an integer if v is a whole number within +-[MaxInteger]: 1.0 is an integer, 1e22 is not.
func Integer(v any) (int64, bool) {
	n, ok := v.(float64)
	if !ok || n != math.Trunc(n) || math.Abs(n) > MaxInteger {
		return 0, false
	}
	return int64(n), true
}

// Equal reports whether two decoded values are the same. The order of members does not matter, the order of elements
// does. NaN and Go types that are not decoded values are equal to nothing.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case float64:
		b, ok := b.(float64)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, Equal)
	}
	return false
}
