package web

import (
	"maps"
	"slices"

	"patterngate/catalog"
	"patterngate/ijson"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// argument is one argument of a call.
type argument struct {
	Name  string
	About string // the description in the tool's schema
	Value string
	By    string // who wrote it; "" if it is not known
}

// change is one argument that a person changed.
type change struct {
	Name          string
	Before, After string // "": not given
	Gone          bool   // it was removed
}

// argumentsOf returns all arguments of a call, uncut: first those of the schema in its order, then the others by name.
func argumentsOf(args map[string]any, schema *catalog.Schema) []argument {
	rows := make([]argument, 0, len(args))
	for _, property := range ordered(args, schema) {
		if v, given := args[property.Name]; given {
			rows = append(rows, argument{Name: wording.Visible(property.Name), About: wording.Clip(property.Description, wording.MaxComment), Value: wording.PrettyValue(v)})
		}
	}
	return rows
}

// namesOf returns the names of the arguments in the order of [argumentsOf].
func namesOf(args map[string]any, schema *catalog.Schema) []string {
	var names []string
	for _, property := range ordered(args, schema) {
		if _, given := args[property.Name]; given {
			names = append(names, property.Name)
		}
	}
	return names
}

// ordered returns the properties of a schema, then those of other arguments.
func ordered(args map[string]any, schema *catalog.Schema) []catalog.Property {
	list := schema.Properties()
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if !slices.ContainsFunc(list, func(p catalog.Property) bool { return p.Name == key }) {
			list = append(list, catalog.Property{Name: key})
		}
	}
	return list
}

// changesOf returns the arguments in which two calls differ.
func changesOf(before, after map[string]any, schema *catalog.Schema) []change {
	all := maps.Clone(before)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, after)
	var list []change
	for _, property := range ordered(all, schema) {
		old, had := before[property.Name]
		now, has := after[property.Name]
		if had == has && ijson.Equal(old, now) {
			continue
		}
		c := change{Name: wording.Visible(property.Name), Gone: !has}
		if had {
			c.Before = wording.PrettyValue(old)
		}
		if has {
			c.After = wording.PrettyValue(now)
		}
		list = append(list, c)
	}
	return list
}

// schemaOf compiles a tool's schema. It returns nil if there is none or if it cannot be read.
func schemaOf(raw []byte) *catalog.Schema {
	if len(raw) == 0 {
		return nil
	}
	schema, err := catalog.CompileUpstream(raw)
	if err != nil {
		return nil // the types of the present values then apply
	}
	return schema
}

// valuesOf returns the values that made a rule true. They can hold text of a model, so it makes hidden characters
// visible. The number of values that are not in the list is left. The text more says so, and is "" for 0.
func valuesOf(list []record.Value, left int) (shown []argument, more string) {
	for _, v := range list {
		shown = append(shown, argument{Name: wording.Visible(v.Expression), Value: wording.Visible(v.Text)})
	}
	if left > 0 {
		more = wording.MoreInExport(left, "more value")
	}
	return shown, more
}
