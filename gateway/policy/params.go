package policy

import (
	"maps"
	"math"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"

	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

// params are the params of a policy: their types, and their values by name.
type params struct {
	fields []expr.Field
	values map[string]any // as decoded
}

// readParams reads and checks the params of a policy.
func readParams(declared []Param) (params, []expr.Fault) {
	p := params{values: map[string]any{}}
	var faults []expr.Fault
	for _, d := range declared {
		member := "params." + d.Name
		if _, twice := p.values[d.Name]; twice {
			faults = append(faults, expr.Fault{Member: member, Reason: repeatedParam, Key: true})
			continue
		}
		t, ok := typeOfParam(d)
		if !ok {
			faults = append(faults, expr.Fault{Member: member, Reason: paramForm})
			continue
		}
		p.fields = append(p.fields, expr.Field{Name: d.Name, Type: t})
		p.values[d.Name] = d.Value
	}
	return p, faults
}

// fractional reports whether numbers with this name are always double.
func fractional(name string) bool {
	return strings.HasSuffix(name, "_usd") || strings.HasSuffix(name, "_seconds")
}

func typeOfParam(p Param) (expr.Type, bool) {
	double := p.Fraction || fractional(p.Name)
	list, isList := p.Value.([]any)
	if !isList {
		return typeOfScalar(p.Value, double)
	}
	if len(list) == 0 {
		return expr.List(expr.Dyn()), true
	}
	for _, item := range list {
		n, isNumber := item.(float64)
		double = double || isNumber && n != math.Trunc(n)
	}
	first, ok := typeOfScalar(list[0], double)
	for _, item := range list[1:] {
		t, fits := typeOfScalar(item, double)
		ok = ok && fits && t.Kind() == first.Kind()
	}
	return expr.List(first), ok
}

func typeOfScalar(v any, double bool) (expr.Type, bool) {
	switch v := v.(type) {
	case string:
		return expr.String(), true
	case bool:
		return expr.Bool(), true
	case float64:
		_, whole := ijson.Integer(v)
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return expr.Dyn(), false
		case whole && !double:
			return expr.Int(), true
		}
		return expr.Double(), true
	}
	return expr.Dyn(), false
}

// over returns the params with the values that a pattern or a test gives instead. The members of the faults are
// params.NAME.
func (p params) over(given map[string]any) (params, []expr.Fault) {
	laid := params{fields: p.fields, values: maps.Clone(p.values)}
	var faults []expr.Fault
	for _, name := range slices.Sorted(maps.Keys(given)) {
		member := "params." + name
		i := slices.IndexFunc(p.fields, func(f expr.Field) bool { return f.Name == name })
		if i < 0 {
			f := expr.UnknownName(noParam, name, fieldNames(p.fields))
			f.Member, f.Key = member, true
			faults = append(faults, f)
			continue
		}
		if f, ok := fitsParam(given[name], p.fields[i].Type); !ok {
			f.Member = member
			faults = append(faults, f)
			continue
		}
		laid.values[name] = given[name]
	}
	return laid, faults
}

// fitsParam checks a value that replaces that of a param.
func fitsParam(v any, t expr.Type) (expr.Fault, bool) {
	if _, err := t.Convert(v, ""); err == nil && finite(v) && (t.Kind() == expr.ListKind) == isList(v) {
		return expr.Fault{}, true
	}
	want := map[expr.Kind]string{expr.IntKind: wholeNumber, expr.DoubleKind: aNumber, expr.StringKind: aText, expr.BoolKind: aBool}[t.Kind()]
	if want == "" {
		want = "a " + t.String()
	}
	return expr.Fault{Reason: gotButParam(ijson.Cut(string(shownValue(v)), maxShownValue), article(t.String())), Want: want}, false
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

// article puts "a" or "an" before the name of a type.
func article(word string) string {
	if strings.HasPrefix(word, "int") {
		return "an " + word
	}
	return "a " + word
}

// maxShownValue is the maximum length of a value in a fault, in bytes.
const maxShownValue = 60

// shownValue returns a value as JSON, or a text if it has none.
func shownValue(v any) []byte {
	if !finite(v) {
		return []byte(notJSONValue)
	}
	return ijson.Canonical(v)
}

// typed returns the values as expressions read them.
func (p params) typed() map[string]any {
	return readied(expr.Object(p.fields...).ConvertLoosely(p.values).(map[string]any))
}

// readied converts members once, because they are read often.
func readied(members map[string]any) map[string]any {
	all := make(map[string]any, len(members))
	for name, v := range members {
		all[name] = types.DefaultTypeAdapter.NativeToValue(v)
	}
	return all
}

func fieldNames(fields []expr.Field) []string {
	return expr.Object(fields...).Names()
}

// maxValueDepth is the maximum depth of values that rules may see.
const maxValueDepth = ijson.MaxDepth

// finite reports whether a value is a decoded value without NaN and infinite numbers. A NaN would pass every limit. It
// is false for values deeper than maxValueDepth.
func finite(v any) bool { return finiteWithin(v, maxValueDepth) }

func finiteWithin(v any, depth int) bool {
	if depth < 0 {
		return false
	}
	switch v := v.(type) {
	case nil, bool, string:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !finiteWithin(item, depth-1) })
	case map[string]any:
		for _, member := range v {
			if !finiteWithin(member, depth-1) {
				return false
			}
		}
		return true
	}
	return false
}
