package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"patterngate/ijson"
)

// Proposed arguments become sent arguments in these steps (spec/config.md section 4, tool members):
//
//	proposed ──Filled: defaults──▶ judged by Input ──Whole: what is fixed──▶ judged by Also, and by rules ──▶ sent

// Filled returns proposed arguments with the tool's defaults for absent ones. It returns a copy, or args itself if no
// default applies.
func (t Tool) Filled(args map[string]any) map[string]any {
	var filled map[string]any
	for name, v := range t.Defaults {
		if _, given := args[name]; given {
			continue
		}
		if filled == nil {
			if filled = maps.Clone(args); filled == nil {
				filled = map[string]any{}
			}
		}
		filled[name] = v
	}
	if filled == nil {
		return args
	}
	return filled
}

// Whole returns arguments with those that the configuration sets, which replace proposed ones. Rules, the digest,
// effects and approvers see the result. It is a copy, or args itself if the configuration sets none. A secret in it has
// the value ***.
func (t Tool) Whole(args map[string]any) map[string]any {
	if len(t.Fixed) == 0 {
		return args
	}
	whole := make(map[string]any, len(args)+len(t.Fixed))
	maps.Copy(whole, args)
	maps.Copy(whole, t.Fixed)
	return whole
}

// Proposed returns whole arguments without those that the configuration sets; it is the inverse of [Tool.Whole]. It
// returns a copy, or args itself if the configuration sets none.
//
// It returns false if a set argument is absent or has another value. An argument with another value stays in the
// result.
func (t Tool) Proposed(args map[string]any) (map[string]any, bool) {
	if len(t.Fixed) == 0 {
		return args, true
	}
	rest, same := maps.Clone(args), true
	for name, v := range t.Fixed {
		if given, there := args[name]; !there || !ijson.Equal(given, v) {
			same = false
			continue
		}
		delete(rest, name)
	}
	return rest, same
}

// Check returns every way in which proposed arguments, with defaults, do not fit the tool; nil means that they fit. The
// order is that of [Schema.Check]. An argument that the configuration sets counts as unknown, and so does a declared
// argument in other letter case. If the schemas of the whole arguments find the same mismatch, Check reports it once.
func (t Tool) Check(args map[string]any) []Mismatch {
	var wrong []Mismatch
	free := args
	for _, name := range slices.Sorted(maps.Keys(t.Fixed)) {
		if _, named := args[name]; !named {
			continue
		}
		if len(wrong) == 0 {
			free = maps.Clone(args)
		}
		delete(free, name)
		wrong = append(wrong, Mismatch{Pointer: ijson.Pointer("").Member(name), Kind: MismatchUnknown, Want: oneLine(t.Input.knownNames())})
	}
	wrong = append(wrong, t.Input.Check(members(free))...)
	wrong = t.also(wrong, t.otherSpellings(free))
	for _, s := range t.Also {
		wrong = t.also(wrong, t.ofProposed(s.Check(members(t.Whole(free)))))
	}
	if len(wrong) == 0 && t.Extra != nil {
		wrong = t.Extra(t.Whole(free))
	}
	slices.SortStableFunc(wrong, func(a, b Mismatch) int { return cmp.Compare(a.Kind, b.Kind) })
	return wrong
}

// otherSpellings returns a mismatch for each undeclared argument that differs from one of the tool's own only in letter
// case. Many servers ignore letter case and use the last of two such arguments. A caller could use this to bypass fixed
// and bounded arguments.
func (t Tool) otherSpellings(args map[string]any) (wrong []Mismatch) {
	if t.Input == nil {
		return nil
	}
	root := t.Input.root()
	own := slices.AppendSeq(slices.Clone(root.names), maps.Keys(t.Fixed))
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if root.has(name) || !slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, name) }) {
			continue
		}
		wrong = append(wrong, Mismatch{Pointer: ijson.Pointer("").Member(name), Kind: MismatchUnknown, Want: oneLine(root.knownNames())})
	}
	return wrong
}

// ofProposed removes mismatches of secrets. A secret has the value *** until the call is sent, and no proposer sets it.
func (t Tool) ofProposed(wrong []Mismatch) []Mismatch {
	return slices.DeleteFunc(wrong, func(m Mismatch) bool {
		tokens := m.Pointer.Tokens()
		return len(tokens) > 0 && t.Fixed[tokens[0]] == Masked
	})
}

// also adds the mismatches of more that are not in told yet, compared by place and kind.
func (t Tool) also(told, more []Mismatch) []Mismatch {
	already := len(told)
	for _, m := range more {
		if !slices.ContainsFunc(told[:already], func(o Mismatch) bool { return o.Pointer == m.Pointer && o.Kind == m.Kind }) {
			told = append(told, m)
		}
	}
	return told
}

// members returns an object as a value; a nil map becomes an empty one.
func members(args map[string]any) any {
	if args == nil {
		return map[string]any{}
	}
	return args
}

func (s *Schema) knownNames() string {
	if s == nil {
		return noSuchMember
	}
	return s.root().knownNames()
}
