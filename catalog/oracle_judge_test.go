package catalog_test

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"patterngate/catalog"
)

// exact is the decimal that a number is written as.
func exact(f float64) *big.Rat {
	n, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return n
}

// same is equality of JSON values.
func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// wrongs are the kinds of everything that is wrong with a value, by spec/config.md section 4 alone.
func wrongs(s written, v any) map[catalog.MismatchKind]bool {
	found := map[catalog.MismatchKind]bool{}
	judge(s, v, found)
	return found
}

func judge(s written, v any, found map[catalog.MismatchKind]bool) {
	bad := func(is bool) {
		if is {
			found[catalog.MismatchValue] = true
		}
	}
	bound := func(name string) (float64, bool) { f, ok := s[name].(float64); return f, ok }
	kind := s["type"].(string)
	if kindOf(v) == kind || kind == "integer" && kindOf(v) == "whole" || kind == "number" && isNumber(v) {
		list, ok := s["enum"].([]any)
		outside := ok && !slices.ContainsFunc(list, func(w any) bool { return same(v, w) })
		if w, ok := s["const"]; outside || ok && !same(v, w) {
			bad(true) // what else is wrong inside counts too: a type comes before a value
		}
	}
	fits := false
	switch v := v.(type) {
	case float64:
		fits = kind == "number" || kind == "integer" && v == math.Trunc(v) && math.Abs(v) <= 1<<53-1
		if fits {
			n := exact(v)
			if f, ok := bound("minimum"); ok {
				bad(n.Cmp(exact(f)) < 0)
			}
			if f, ok := bound("maximum"); ok {
				bad(n.Cmp(exact(f)) > 0)
			}
			if f, ok := bound("exclusiveMinimum"); ok {
				bad(n.Cmp(exact(f)) <= 0)
			}
			if f, ok := bound("exclusiveMaximum"); ok {
				bad(n.Cmp(exact(f)) >= 0)
			}
			if f, ok := bound("multipleOf"); ok {
				bad(!new(big.Rat).Quo(n, exact(f)).IsInt())
			}
		}
	case string:
		if fits = kind == "string"; fits {
			long := float64(utf8.RuneCountInString(v))
			if f, ok := bound("minLength"); ok {
				bad(long < f)
			}
			if f, ok := bound("maxLength"); ok {
				bad(long > f)
			}
			if p, ok := s["pattern"].(string); ok {
				bad(!regexp.MustCompile(p).MatchString(v))
			}
		}
	case bool:
		fits = kind == "boolean"
	case []any:
		if fits = kind == "array"; fits {
			if f, ok := bound("minItems"); ok {
				bad(float64(len(v)) < f)
			}
			if f, ok := bound("maxItems"); ok {
				bad(float64(len(v)) > f)
			}
			for i, item := range v {
				if s["uniqueItems"] == true {
					bad(slices.ContainsFunc(v[:i], func(w any) bool { return same(item, w) }))
				}
				if items, ok := s["items"].(written); ok {
					judge(items, item, found)
				}
			}
		}
	case map[string]any:
		if fits = kind == "object"; fits {
			judgeMembers(s, v, found)
		}
	}
	if !fits {
		found[catalog.MismatchType] = true
	}
}

func isNumber(v any) bool { _, ok := v.(float64); return ok }

// kindOf is a value's JSON type; whole for a whole number, however large.
func kindOf(v any) string {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) {
			return "whole"
		}
		return "number"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}

func judgeMembers(s written, v map[string]any, found map[catalog.MismatchKind]bool) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			found[catalog.MismatchMissing] = true
		}
	}
	for name, member := range v {
		if p, ok := properties[name].(written); ok {
			judge(p, member, found)
			continue
		}
		switch more := s["additionalProperties"].(type) {
		case written:
			judge(more, member, found)
		case bool:
			if !more {
				found[catalog.MismatchUnknown] = true
			}
		default: // false unless given, where the members are named
			if properties != nil {
				found[catalog.MismatchUnknown] = true
			}
		}
	}
}

// first is the kind that is reported first, -1 where nothing is wrong.
func first(found map[catalog.MismatchKind]bool) catalog.MismatchKind {
	for k := catalog.MismatchUnknown; k <= catalog.MismatchValue; k++ {
		if found[k] {
			return k
		}
	}
	return -1
}
