package gateway

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Searchable is a [Reviewer] that knows which arguments a rule reads.
type Searchable interface {
	Reviewer
	// Reads returns the arguments of a tool that a rule may depend on. If it returns none, nothing is searched.
	Reads(tool, rule string) []string
}

// How many reviews a search may cost. The cost of a review grows with the size of the call and its run, so larger ones
// get fewer reviews.
const (
	maxSearched   = 400
	leastSearched = 64
	lightSearch   = 16 << 10 // bytes in memory
)

// Nearest returns the arguments of a blocked call with one of them changed, so that the policy does not block the call.
// It also returns the name of the changed argument. It returns nil if there are none. It does not search if the verdict
// depends on earlier runs.
//
// It tries the arguments that the deciding rule reads, one at a time. Among numbers, the relatively smallest change
// counts. If no number passes, the first word or bool in the order of the schema counts. It does not change an argument
// that names a thing (id, order_id): a call about another thing is not near. If a rule allows several ranges of
// numbers, the search may miss one that is far away.
func (g *Gate) Nearest(p Proposal, r Ruling) (args map[string]any, argument string) {
	policy, ok := g.config.Reviewer.(Searchable)
	tool, known := g.config.Catalog.Tool(p.Tool)
	if !ok || !known || r.Decision != Block || r.Unknown || r.Rule == "" || len(windowsOf(policy, tool.Own())) > 0 {
		return nil, ""
	}
	s := search{gate: g, tool: tool, p: p, c: p.Case(), values: numbersIn(r.Values)}
	s.c.Tool, s.c.Args = tool.Own(), tool.Filled(p.Args)
	s.c.Effects, s.c.Facts = g.effects(s.c), g.facts
	if s.left = s.affordable(); s.lets(s.c.Args) { // the blocked arguments are not the proposed ones
		return nil, ""
	}
	best, ok := s.best(s.places(policy.Reads(tool.Own(), r.Rule)))
	if !ok {
		return nil, ""
	}
	args = owned(p.Args)
	args[best.name] = best.value
	return args, best.name
}

// search tries other values, one argument after the other.
type search struct {
	gate   *Gate
	tool   catalog.Tool
	p      Proposal
	c      Case
	values []float64 // that made the rule true; the rule's limits are often among them
	left   int       // reviews that are left
}

// spot is an argument that is searched.
type spot struct {
	name    string
	from    any
	choices []any // nil: the argument is a number
	grid    grid
}

// found is a value with which the call is not blocked.
type found struct {
	name  string
	value any
	far   float64
}

// affordable returns how many reviews the search may cost.
func (s *search) affordable() int {
	weight := ijson.Weight(s.c.Args)
	for _, e := range s.c.Effects {
		weight += ijson.Weight(e.Args) + ijson.Weight(e.Observation)
	}
	return min(maxSearched, max(leastSearched, maxSearched*lightSearch/max(1, weight)))
}

// places returns the given arguments that can be searched and are in reads, in the order of the schema.
func (s *search) places(reads []string) []spot {
	var list []spot
	for _, property := range s.tool.Input.Properties() {
		from, given := s.c.Args[property.Name]
		_, injected := s.p.Inject[property.Name]
		if !given || injected || isName(property.Name) || !slices.Contains(reads, property.Name) {
			continue
		}
		bounds := s.tool.Input.BoundsAt(ijson.Pointer("").Member(property.Name))
		number, isNumber := from.(float64)
		_, isBool := from.(bool)
		switch grid, numeric := gridOf(bounds); {
		case len(property.Enum) > 0:
			list = append(list, spot{name: property.Name, from: from, choices: property.Enum})
		case isBool:
			list = append(list, spot{name: property.Name, from: from, choices: []any{false, true}})
		case isNumber && numeric:
			list = append(list, spot{name: property.Name, from: number, grid: grid})
		}
	}
	return list
}

// isName reports whether an argument says which thing is meant, and not how much or how.
func isName(argument string) bool {
	return strings.EqualFold(argument, "id") || strings.HasSuffix(argument, "Id") || strings.HasSuffix(strings.ToLower(argument), "_id") ||
		strings.HasSuffix(argument, "ID")
}

// best returns the nearest value of all places.
func (s *search) best(places []spot) (best found, ok bool) {
	for i, at := range places {
		rest := s.left
		s.left = rest / (len(places) - i) // each place has its share, and the reviews that earlier places left
		share := s.left
		next, passes := s.nearestOf(at)
		s.left = rest - (share - s.left)
		if passes && (!ok || next.far < best.far) {
			best, ok = next, true
		}
	}
	return best, ok
}

// nearestOf returns the nearest value of one place. Words are further away than any number.
func (s *search) nearestOf(at spot) (found, bool) {
	from, isNumber := at.from.(float64)
	if at.choices == nil {
		v, ok := s.number(at, from)
		return found{at.name, v, relative(v, from)}, ok
	}
	choices := slices.DeleteFunc(slices.Clone(at.choices), func(v any) bool { return ijson.Equal(v, at.from) })
	far := func(v any) float64 {
		if n, ok := v.(float64); ok && isNumber {
			return relative(n, from)
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(choices, func(a, b any) int { return cmp.Compare(far(a), far(b)) })
	for _, v := range choices {
		if s.passes(at.name, v) {
			return found{at.name, v, far(v)}, true
		}
	}
	return found{}, false
}

// relative returns the distance between two numbers as a fraction of the second.
func relative(v, from float64) float64 { return math.Abs(v-from) / max(1, math.Abs(from)) }

// passes reports whether the call would not be blocked with one argument changed.
func (s *search) passes(name string, v any) bool {
	args := owned(s.c.Args)
	args[name] = v
	return s.lets(args)
}

// lets reports whether the call would not be blocked with these arguments. It checks the schema, the whole review and
// the limit on repeated calls.
func (s *search) lets(args map[string]any) bool {
	if s.left <= 0 {
		return false
	}
	if s.left--; !s.callable(args) {
		return false
	}
	c := s.c
	c.Args = args
	r := judge(s.gate.config.Reviewer, s.tool, c, false, s.gate.policy)
	return r.Decision != Block && (len(r.Revisions) == 0 || s.callable(r.Args))
}

// callable reports whether the call fits its tool with these arguments and is not one repetition too many.
func (s *search) callable(args map[string]any) bool {
	p := s.p
	p.Args = args
	if _, stop := s.gate.typed(p); stop != nil {
		return false
	}
	same := signature{s.gate.own(p.Tool), ijson.ArgsHash(args)}
	return p.Again || s.gate.limits(p.Tool).MaxSameCall.Allows(s.gate.same[same]+1) || ijson.Equal(args, s.c.Args)
}

// Near returns the one name that got means, see [catalog.Near].
func Near(got string, names []string) string { return catalog.Near(got, names) }

// NearTyped returns the name that a person probably meant by got; see [catalog.NearTyped].
func NearTyped(got string, names []string) string { return catalog.NearTyped(got, names) }

// Misspelt reports whether got can only be a misspelling of a near name, see [catalog.Misspelt]. If got may name
// another thing, show the near name but do not replace got with it.
func Misspelt(got, name string) bool { return catalog.Misspelt(got, name) }
