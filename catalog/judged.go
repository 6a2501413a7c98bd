package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"patterngate/ijson"
)

// How arguments become what is sent (spec/config.md section 4, tool members):
//
//	proposed ──Filled: defaults──▶ judged by Input ──Whole: what is fixed──▶ judged by Also, and by rules ──▶ sent

// Filled are proposed arguments with the tool's defaults for those that are absent: args itself where none is, else a copy.
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

// Whole are arguments with those that the configuration sets laid over: what rules, digest, effects and people see. It is
// args itself where nothing is set, else a copy. A secret among them stands as ***.
func (t Tool) Whole(args map[string]any) map[string]any {
	if len(t.Fixed) == 0 {
		return args
	}
	whole := make(map[string]any, len(args)+len(t.Fixed))
	maps.Copy(whole, args)
	maps.Copy(whole, t.Fixed)
	return whole
}

// Proposed takes from whole arguments those that the configuration sets: the inverse of [Tool.Whole]. It is args itself
// where nothing is set, else a copy. False: one of them is absent or has another value, and stays if it is there.
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

// Check reports every way in which proposed arguments, defaults put in, do not fit the tool: in the order of [Schema.Check].
// Naming one that the configuration sets, or an argument in other letters, is an unknown argument. What the schemas of the whole arguments say too is told
// once. Nil means that they fit.
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

// otherSpellings are arguments that the tool does not declare and that are one of its own but for upper and lower case. Many
// servers read names so, and of two the last counts: it would be a way around what is fixed or bounded.
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

// ofProposed leaves out what is said of a secret: *** stands in its place until it is sent, and nobody proposed it.
func (t Tool) ofProposed(wrong []Mismatch) []Mismatch {
	return slices.DeleteFunc(wrong, func(m Mismatch) bool {
		tokens := m.Pointer.Tokens()
		return len(tokens) > 0 && t.Fixed[tokens[0]] == Masked
	})
}

// also adds what was not told of the same place yet.
func (t Tool) also(told, more []Mismatch) []Mismatch {
	already := len(told)
	for _, m := range more {
		if !slices.ContainsFunc(told[:already], func(o Mismatch) bool { return o.Pointer == m.Pointer && o.Kind == m.Kind }) {
			told = append(told, m)
		}
	}
	return told
}

// members is an object as a value: a nil map is one without members.
func members(args map[string]any) any {
	if args == nil {
		return map[string]any{}
	}
	return args
}

func (s *Schema) knownNames() string {
	if s == nil {
		return "no member of that name"
	}
	return s.root().knownNames()
}
