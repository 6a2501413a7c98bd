package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"patterngate/gateway/policy"
	"patterngate/ijson"
	"patterngate/server/settings/grammar"
)

// shown returns a policy as people read it, inline or from a file. It leaves out what is empty.
func (p *Policy) shown() []grammar.Key { return held(p.Whole().keys(false), grammar.Key.Shown) }

// Kept returns the part of a policy that judges calls, with vars in their order. A snapshot holds it. Description and tests
// are not included.
func (p *Policy) Kept() json.RawMessage {
	return grammar.KeptText(held(p.keys(false), grammar.Key.Kept))
}

// held returns the keys that have a value, each with the value that it has now. The function of returns it.
func held(keys []grammar.Key, of func(grammar.Key) any) []grammar.Key {
	list := make([]grammar.Key, 0, len(keys))
	for _, k := range keys {
		if value := of(k); !nothing(value) {
			list = append(list, grammar.Key{Name: k.Name, Show: func() any { return value }})
		}
	}
	return list
}

// nothing reports whether a member of a policy is empty.
func nothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case json.RawMessage:
		return len(v) <= len("{}")
	case grammar.JSONLines:
		return len(v) == 0
	}
	return false
}

// notKept returns a key that does not judge calls, so that a snapshot leaves it out.
func notKept(k grammar.Key) grammar.Key {
	k.Keep = func() any { return nil }
	return k
}

// paramsJSON returns params as JSON. It sorts them, as their order has no meaning, and writes a fraction as one.
func paramsJSON(list []policy.Param) json.RawMessage {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b policy.Param) int { return strings.Compare(a.Name, b.Name) })
	return grammar.OrderedJSON(len(list), func(i int) (string, []byte) {
		text := ijson.Canonical(list[i].Value)
		items, isList := list[i].Value.([]any)
		switch {
		case list[i].Fraction && isList && len(items) > 0:
			first := spelledFraction(ijson.Canonical(items[0]))
			text = slices.Concat([]byte("["), first, []byte(","), ijson.Canonical(items[1:])[1:])
			if len(items) == 1 {
				text = slices.Concat([]byte("["), first, []byte("]"))
			}
		case list[i].Fraction:
			text = spelledFraction(text)
		}
		return list[i].Name, text
	})
}

func spelledFraction(number []byte) []byte {
	if strings.ContainsAny(string(number), ".eE") {
		return number
	}
	return append(number, ".0"...)
}

func varsJSON(list []policy.Named) json.RawMessage {
	return grammar.OrderedJSON(len(list), func(i int) (string, []byte) { return list[i].Name, ijson.Canonical(list[i].Text) })
}

func windowsJSON(list []policy.WindowSource) json.RawMessage {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b policy.WindowSource) int { return strings.Compare(a.Name, b.Name) })
	return grammar.OrderedJSON(len(list), func(i int) (string, []byte) {
		return list[i].Name, ijson.Canonical(grammar.Set(windowKeys(&list[i]), windowKeys(&policy.WindowSource{})))
	})
}

// ObjectOr returns object, or an empty object if it is nil.
func ObjectOr(object map[string]any) map[string]any {
	if object == nil {
		return map[string]any{}
	}
	return object
}
