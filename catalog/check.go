package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"patterngate/ijson"
)

// MismatchKind is the kind of a [Mismatch]. Mismatches are reported in the order of their kinds.
type MismatchKind int

// The kinds of mismatch.
const (
	MismatchUnknown MismatchKind = iota // a member that the schema does not have
	MismatchMissing                     // a required member is absent
	MismatchType                        // another JSON type; also null, and an integer beyond 2^53-1
	MismatchValue                       // the right type, but not an allowed value
)

// String returns unknown, missing, type or value.
func (k MismatchKind) String() string {
	names := [...]string{"unknown", "missing", "type", "value"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("MismatchKind(%d)", int(k))
	}
	return names[k]
}

// Mismatch is one way in which a value does not fit its schema.
type Mismatch struct {
	Pointer ijson.Pointer // the faulty member, or the place of the missing one
	Kind    MismatchKind
	Want    string // what would be right, one line of at most 200 characters
}

// Check returns every way in which a decoded value does not fit the schema; nil means that it fits. It lists unknown
// members first, then missing members, then types, then values. Within a kind the order is that of the schema's
// declaration; unknown members are sorted by name. A boolean is never a number. An integer is a whole number within
// +-(2^53-1).
func (s *Schema) Check(v any) []Mismatch {
	if s == nil || (len(s.within) == 0 && s.root().plain && s.root().fits(v)) {
		return nil
	}
	found := s.mismatches(s.root(), v)
	if s.bounds != nil {
		found = append(found, s.bounds.mismatches(s.root(), v)...)
	}
	found = append(found, s.outsideDirectories(v)...)
	slices.SortStableFunc(found, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), s.root().order(a.Pointer.Tokens(), b.Pointer.Tokens()))
	})
	return slices.Compact(found)
}

// CheckGiven checks some members of an object as [Schema.Check] does, while the other members are not known yet. It
// reports no missing member of the object itself, and nothing about the object as a whole.
func (s *Schema) CheckGiven(given map[string]any) []Mismatch {
	if s == nil || s.bounds == nil && len(s.within) == 0 && s.root().fitsGiven(given) {
		return nil
	}
	var wrong []Mismatch
	for _, m := range s.Check(given) {
		if tokens := m.Pointer.Tokens(); len(tokens) > 1 || len(tokens) == 1 && m.Kind != MismatchMissing {
			wrong = append(wrong, m)
		}
	}
	return wrong
}

// mismatches returns the mismatches that the compiled schema finds in a value, in no order. root describes the members
// and elements of the whole value.
func (s *Schema) mismatches(root *node, v any) []Mismatch {
	judge, err := s.judge()
	if err != nil { // a Without that removed the target of a reference, or a wrong tag of a Go type; nothing fits such a schema
		return []Mismatch{{Kind: MismatchValue, Want: oneLine(schemaThatCompiles(err.Error()))}}
	}
	err, long := s.validate(judge, v)
	if long {
		return []Mismatch{{Kind: MismatchValue, Want: judgeableValue}}
	}
	fault, ok := errors.AsType[*santhosh.ValidationError](err)
	if !ok {
		return nil
	}
	c := collector{root: root, value: v}
	c.collect(fault)
	if len(c.found) == 0 { // a rejected value stays rejected, even for a reason of an unknown kind
		c.add("", MismatchValue, fittingValue)
	}
	return c.found
}

// validate applies the compiled schema to a value. long reports that this takes too many steps.
func (s *Schema) validate(judge *santhosh.Schema, v any) (err error, long bool) {
	if s.tally == nil {
		return judge.Validate(v), false
	}
	s.judging.Lock()
	defer s.judging.Unlock()
	defer func() {
		if r := recover(); r == errTooLong {
			err, long = nil, true
		} else if r != nil {
			panic(r)
		}
	}()
	s.tally.n = 0
	return judge.Validate(v), false
}

// fits reports whether a value fits a plain schema. It is the fast way for values that are right, which are nearly all.
func (n *node) fits(v any) bool {
	if n.any {
		return true
	}
	switch n.kind {
	case "string":
		_, ok := v.(string)
		return ok
	case "number":
		_, ok := v.(float64)
		return ok
	case "integer":
		_, ok := ijson.Integer(v)
		return ok
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "null":
		return v == nil
	case "array":
		list, ok := v.([]any)
		return ok && (n.items == nil || !slices.ContainsFunc(list, func(item any) bool { return !n.items.fits(item) }))
	case "object":
		object, ok := v.(map[string]any)
		return ok && n.fitsMembers(object)
	}
	return false
}

// fitsGiven reports whether some members of an object fit a plain schema. False means only that it cannot tell.
func (n *node) fitsGiven(given map[string]any) bool {
	if n.kind != "object" || n.more {
		return false
	}
	for name, v := range given {
		if p := n.properties[name]; p == nil || !p.plain || !p.fits(v) {
			return false
		}
	}
	return true
}

func (n *node) fitsMembers(object map[string]any) bool {
	for _, name := range n.required {
		if _, ok := object[name]; !ok {
			return false
		}
	}
	for name, v := range object {
		p, ok := n.properties[name]
		if !ok && n.closed || ok && !p.fits(v) {
			return false
		}
	}
	return true
}

// safeInteger rejects whole numbers that are too large to be exact.
type safeInteger struct{}

// safeIntegers adds safeInteger to each schema that accepts integers but no other numbers.
func safeIntegers(_ *santhosh.CompilerContext, keywords map[string]any) (santhosh.SchemaExt, error) {
	types, ok := keywords["type"].([]any)
	if !ok {
		types = []any{keywords["type"]}
	}
	if slices.Contains(types, any("integer")) && !slices.Contains(types, any("number")) {
		return safeInteger{}, nil
	}
	return nil, nil
}

// Validate implements [santhosh.SchemaExt].
func (safeInteger) Validate(ctx *santhosh.ValidatorContext, v any) {
	if f, ok := v.(float64); ok && math.Abs(f) > ijson.MaxInteger {
		ctx.AddError(&kind.Type{Got: "number", Want: []string{"integer"}})
	}
}

// at returns the schema of the value at that place, or nil if n does not know it.
func (n *node) at(path []string) *node {
	for _, token := range path {
		if n == nil {
			return nil
		}
		if p, ok := n.properties[token]; ok {
			n = p
		} else if n.others != nil && (n.items == nil || !isIndex(token)) {
			n = n.others
		} else {
			n = n.items
		}
	}
	return n
}

// order compares two places by declaration. Undeclared places come last, by index or name.
func (n *node) order(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n = n.at(a[i : i+1])
			continue
		}
		return cmp.Or(cmp.Compare(n.position(a[i]), n.position(b[i])), cmp.Compare(a[i], b[i]))
	}
	return cmp.Compare(len(a), len(b))
}

func (n *node) position(token string) int {
	if n == nil {
		return math.MaxInt
	}
	if i := slices.Index(n.names, token); i >= 0 {
		return i
	}
	if i, err := strconv.Atoi(token); err == nil && n.items != nil {
		return i
	}
	return math.MaxInt
}
