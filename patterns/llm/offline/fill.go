package offline

import (
	"cmp"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/patterns/llm/offline/english"
)

// candidate is a value that an argument could have, and why.
type candidate struct {
	value any
	why   evidence
	at    int  // byte in the goal, -1 when it comes from elsewhere
	near  bool // in a clause that speaks of the tool
}

// evidence ranks why a value should be an argument's, the best first.
type evidence int

const (
	fromFact    evidence = iota // a figure that the call before this one returned or was given; only for what follows up on it
	fromInput                   // the run's own input of that name
	byName                      // the goal names the argument: van_id=7
	byHead                      // the goal names what it belongs to: van 7
	byCue                       // the word before it fits: from, to, until
	byForm                      // its form fits: a date, an amount, a pattern
	onlyOne                     // the goal holds one value that could be meant
	fromEarlier                 // an earlier result has a member of that name
	derived                     // it follows from a fuller value: the month of a day
)

// follow is what is known besides the goal when a call is proposed.
type follow struct {
	inputs  map[string]any // the run's own inputs
	results facts          // of the step before
	note    string         // the same in words
	asked   bool           // the call follows up on that step, which changed something: its figures are the true ones
}

// filled are the arguments found for one tool.
type filled struct {
	args    map[string]any
	missing []string       // required arguments without a value
	several map[string]any // of those: the values among which the goal does not decide
	more    []candidate    // other values of the argument named in moreOf, as good as the one taken
	moreOf  string
	places  []int // where in the goal the values stand
	derived int   // how many of them only follow from fuller values
}

func (f filled) complete() bool { return len(f.missing) == 0 }

// fill finds the arguments of a tool; clauses are those that speak of it, nil for any. Required arguments without
// evidence stay missing; optional ones are given only what the goal states for them.
func (r *reading) fill(i int, clauses []int, more follow) filled {
	f := filled{args: map[string]any{}, several: map[string]any{}}
	taken := map[int]need{}
	for _, a := range r.tools[i].arguments {
		if slices.Contains(r.hidden, a.Name) {
			continue
		}
		list := r.rank(a, clauses, more)
		list = slices.DeleteFunc(list, func(c candidate) bool {
			n, there := taken[c.at]
			return c.at >= 0 && there && n == a.need
		})
		if !a.Required {
			list = slices.DeleteFunc(list, func(c candidate) bool { return !stated(a, c) })
		}
		r.choose(&f, a, list)
		if c := list; len(c) > 0 && c[0].at >= 0 {
			taken[c[0].at] = a.need
			f.places = append(f.places, c[0].at)
			if c[0].why == derived {
				f.derived++
			}
		}
	}
	if r.context != nil {
		r.context.supply(&f, i)
	}
	r.drop(&f, r.tools[i])
	return f
}

// stated reports whether the evidence is good enough for an argument that is not required.
func stated(a argument, c candidate) bool {
	switch a.need {
	case needProse:
		return c.why == byName
	case needMember, needShaped, needEmail:
		return c.why <= byHead || c.near
	}
	return c.why <= byHead
}

// choose takes the best candidate. A call that changes something is never given one of several equally good values.
func (r *reading) choose(f *filled, a argument, list []candidate) {
	if len(list) == 0 {
		if a.Required {
			f.missing = append(f.missing, a.Name)
		}
		return
	}
	best := list[0]
	equal := slices.DeleteFunc(slices.Clone(list[1:]), func(c candidate) bool {
		return c.why != best.why || c.near != best.near || ijson.Equal(c.value, best.value)
	})
	if len(equal) > 0 && a.tool.writes {
		if a.Required {
			f.missing = append(f.missing, a.Name)
			f.several[a.Name] = valuesOf(append([]candidate{best}, equal...))
		}
		return
	}
	f.args[a.Name] = best.value
	if len(equal) > 0 && a.Required {
		f.more, f.moreOf = equal, a.Name
	}
}

func valuesOf(list []candidate) []any {
	var all []any
	for _, c := range list {
		if !slices.ContainsFunc(all, func(v any) bool { return ijson.Equal(v, c.value) }) {
			all = append(all, c.value)
		}
	}
	return all
}

// drop removes what the tool's schema does not accept: nothing is proposed that is known to be refused.
func (r *reading) drop(f *filled, t *studied) {
	for _, m := range t.Input.Check(f.args) {
		tokens := m.Pointer.Tokens()
		if len(tokens) == 0 || m.Kind == catalog.MismatchMissing {
			continue
		}
		name := tokens[0]
		if _, there := f.args[name]; !there {
			continue
		}
		delete(f.args, name)
		if slices.ContainsFunc(t.Input.Properties(), func(p catalog.Property) bool { return p.Name == name && p.Required }) {
			f.missing = append(f.missing, name)
		}
	}
}

// rank lists the candidates of an argument, the best first.
func (r *reading) rank(a argument, clauses []int, more follow) []candidate {
	var list []candidate
	if v, ok := more.inputs[a.Name]; ok && fitsType(a, v) {
		list = append(list, candidate{value: v, why: fromInput, at: -1})
	}
	if v, ok := more.results.find(a); ok {
		why := fromEarlier
		if more.asked && (a.need == needMoney || a.need == needNumber) {
			why = fromFact
		}
		list = append(list, candidate{value: v, why: why, at: -1})
	}
	if a.need == needProse {
		list = append(list, r.prose(a, clauses, more)...)
	} else {
		list = append(list, r.inGoal(a, clauses)...)
	}
	if a.need == needDate || a.need == needMonth {
		list = append(list, r.datesOfInputs(a, more)...)
	}
	if a.tool.writes && (a.need == needMoney || a.need == needNumber) { // "not 1200 EUR" names no amount to be paid
		list = slices.DeleteFunc(list, func(c candidate) bool { return c.at >= 0 && r.goal.DeniedAt(c.at) })
	}
	for i := range list {
		list[i].near = list[i].at >= 0 && r.goal.IsNear(list[i].at, clauses)
	}
	slices.SortStableFunc(list, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.why, y.why), -compareBool(x.near, y.near), cmp.Compare(x.at, y.at))
	})
	return list
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// fitsType reports whether a decoded value has the argument's type.
func fitsType(a argument, v any) bool {
	switch a.Type {
	case "string":
		s, ok := v.(string)
		return ok && !ijson.Blank(s) && (a.shape == nil || a.Pattern == "" || a.shape.MatchString(s))
	case "integer":
		_, ok := ijson.Integer(v)
		return ok
	case "number":
		_, ok := v.(float64)
		return ok
	case "boolean":
		_, ok := v.(bool)
		return ok
	}
	return v != nil
}

// datesOfInputs takes the one day that the run is about.
func (r *reading) datesOfInputs(a argument, more follow) []candidate {
	var days []string
	for _, v := range more.inputs {
		if s, ok := v.(string); ok && english.IsDate(s) {
			days = append(days, s)
		}
	}
	if len(days) != 1 {
		return nil
	}
	if a.need == needMonth {
		days[0] = days[0][:len("2006-01")]
	}
	return []candidate{{value: days[0], why: derived, at: -1}}
}

// facts are single values of a result, by name; a member of a named object is also known by both names: van_id for
// {"van": {"id": 7}}. Names with several different values are none.
type facts map[string]any

const maxFacts = 256

// factsOf reads a result, and the arguments of its call for what the result does not tell.
func factsOf(result any, args map[string]any) facts {
	f, given := facts{}, facts{}
	f.add("", "", result, 0)
	given.add("", "", args, 0)
	for name, v := range given {
		if _, told := f[name]; !told {
			f[name] = v
		}
	}
	return f
}

func (f facts) add(parent, name string, v any, depth int) {
	if depth > 5 || len(f) > maxFacts {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			f.add(name, key, v[key], depth+1)
		}
	case []any:
		for _, item := range v[:min(len(v), 8)] {
			f.add(parent, name, item, depth+1)
		}
	case nil:
	default:
		f.put(strings.ToLower(name), v)
		if parent != "" {
			f.put(strings.ToLower(parent+"_"+name), v)
		}
	}
}

// severalValues marks a name with different values.
type severalValues struct{}

func (f facts) put(name string, v any) {
	if old, there := f[name]; there && !(old == v) {
		v = severalValues{}
	}
	f[name] = v
}

func (f facts) find(a argument) (any, bool) {
	v, ok := f[strings.ToLower(a.Name)]
	if !ok || a.need == needProse || !fitsType(a, v) {
		return nil, false
	}
	if _, unclear := v.(severalValues); unclear {
		return nil, false
	}
	return v, true
}
