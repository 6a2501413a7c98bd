package catalog_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"

	"patterngate/ijson"
)

// written is a random schema of the language that a configuration is written in.
type written = map[string]any

var (
	oracleTexts    = []string{"", "a", "ab", "A-1", "A-12", "ß", "日本語", "😀", "true", "1"}
	oraclePatterns = []string{"^A-[0-9]+$", "b", "^$", "^.{2}$", "^[a-z]*$"}
	oracleNumbers  = []float64{0, 1, -1, 2, 3, 0.5, 0.1, 0.3, 1.5, -0.5, 1e22, 9007199254740991, 9007199254740992, -9007199254740992, 1e-7, 100}
	oracleNames    = []string{"a", "b", "c-d", "e.f"}
)

func oneOf[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// schema draws a schema of a type, with some keywords that judge values of it.
func schema(r *rand.Rand, kind string, depth int) written {
	s := written{"type": kind}
	some := func(name string, v func() any) {
		if r.IntN(4) == 0 {
			s[name] = v()
		}
	}
	if r.IntN(6) == 0 {
		s["enum"] = distinct(r, s, depth)
	} else if r.IntN(10) == 0 {
		s["const"] = writable(r, written{"type": kind}, depth)
	}
	switch kind {
	case "integer", "number":
		some("minimum", func() any { return oneOf(r, oracleNumbers[:7]) })
		some("maximum", func() any { return oneOf(r, oracleNumbers[:7]) })
		some("exclusiveMinimum", func() any { return oneOf(r, oracleNumbers[:7]) })
		some("exclusiveMaximum", func() any { return oneOf(r, oracleNumbers[:7]) })
		some("multipleOf", func() any { return oneOf(r, []float64{1, 2, 0.5, 0.1, 3}) })
	case "string":
		some("minLength", func() any { return float64(r.IntN(3)) })
		some("maxLength", func() any { return float64(r.IntN(4)) })
		some("pattern", func() any { return oneOf(r, oraclePatterns) })
	case "array":
		some("minItems", func() any { return float64(r.IntN(2)) })
		some("maxItems", func() any { return float64(r.IntN(4)) })
		some("uniqueItems", func() any { return r.IntN(3) > 0 })
		if depth > 0 {
			s["items"] = schema(r, oneOf(r, oracleKinds), depth-1)
		}
	case "object":
		names := oracleNames[:r.IntN(len(oracleNames)+1)]
		properties, required := map[string]any{}, []any{}
		for _, name := range names {
			k := oneOf(r, oracleKinds)
			if depth <= 0 {
				k = oneOf(r, oracleKinds[:4])
			}
			properties[name] = schema(r, k, depth-1)
			if r.IntN(2) == 0 {
				required = append(required, name)
			}
		}
		s["properties"], s["required"] = properties, required
		switch r.IntN(4) {
		case 0:
			s["additionalProperties"] = true
		case 1:
			s["additionalProperties"] = false
		case 2:
			s["additionalProperties"] = schema(r, oneOf(r, oracleKinds[:4]), 0)
		}
	}
	return s
}

var oracleKinds = []string{"integer", "number", "string", "boolean", "array", "object"}

// distinct are one to three values of a schema's type.
func distinct(r *rand.Rand, s written, depth int) []any {
	var values []any
	for range 1 + r.IntN(3) {
		if v := writable(r, s, depth); !slices.ContainsFunc(values, func(w any) bool { return same(v, w) }) {
			values = append(values, v)
		}
	}
	return values
}

// writable is a likely value that a configuration can hold: its whole numbers are exact.
func writable(r *rand.Rand, s written, depth int) any {
	for {
		v := likely(r, s, depth)
		text, _ := json.Marshal(v)
		if _, err := ijson.Decode(text); err == nil && len(wrongs(written{"type": s["type"]}, v)) == 0 {
			return v
		}
	}
}

// likely draws a value that often fits.
func likely(r *rand.Rand, s written, depth int) any {
	if list, ok := s["enum"].([]any); ok && r.IntN(4) > 0 {
		return oneOf(r, list)
	}
	if v, ok := s["const"]; ok && r.IntN(4) > 0 {
		return v
	}
	switch kind := s["type"]; kind {
	case "integer":
		return math.Trunc(oneOf(r, oracleNumbers)) + 0 // never -0
	case "number":
		return oneOf(r, oracleNumbers)
	case "string":
		return oneOf(r, oracleTexts)
	case "boolean":
		return r.IntN(2) == 0
	case "array":
		list := []any{}
		items, _ := s["items"].(written)
		for range r.IntN(4) {
			if items == nil {
				list = append(list, anything(r, 0))
			} else {
				list = append(list, drawn(r, items, depth-1))
			}
		}
		return list
	}
	object := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range oracleNames {
		if p, ok := properties[name].(written); ok && (slices.Contains(required, any(name)) && r.IntN(12) > 0 || r.IntN(2) == 0) {
			object[name] = drawn(r, p, depth-1)
		}
	}
	if r.IntN(6) == 0 {
		object[oneOf(r, []string{"x", "y z", "a"})] = anything(r, 0)
	}
	return object
}

// drawn is a value for a schema, now and then of any type.
func drawn(r *rand.Rand, s written, depth int) any {
	if r.IntN(15) == 0 {
		return anything(r, 1)
	}
	return likely(r, s, depth)
}

func anything(r *rand.Rand, depth int) any {
	if r.IntN(8) == 0 {
		return nil
	}
	kinds := oracleKinds
	if depth <= 0 {
		kinds = kinds[:4]
	}
	return likely(r, written{"type": oneOf(r, kinds)}, depth-1)
}

// argumentsOf draws `input`: some arguments, in order, some optional, some with a default; and the schema these amount to.
func argumentsOf(r *rand.Rand) (input map[string]any, amounts written, defaults map[string]any) {
	input, defaults = map[string]any{}, map[string]any{}
	properties, required := map[string]any{}, []any{}
	for _, name := range []string{"a", "b", "c"}[:1+r.IntN(3)] {
		s := schema(r, oneOf(r, oracleKinds), 2)
		properties[name] = s
		given := written{}
		for k, v := range s {
			given[k] = v
		}
		switch r.IntN(4) {
		case 0:
			given["optional"] = true
		case 1:
			if v := writable(r, s, 2); len(wrongs(s, v)) == 0 {
				given["default"], defaults[name] = v, v
				break
			}
			required = append(required, name)
		default:
			required = append(required, name)
		}
		input[name] = given
	}
	return input, written{"type": "object", "properties": properties, "required": required, "additionalProperties": false}, defaults
}
