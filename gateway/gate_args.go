package gateway

import (
	"maps"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway/document"
)

// owned is a copy of arguments that shares nothing with them, so that what was judged stays what it was.
func owned(args map[string]any) map[string]any {
	out := make(map[string]any, len(args))
	for name, v := range args {
		out[name] = copied(v)
	}
	return out
}

func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return owned(v)
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = copied(element)
		}
		return out
	}
	return v
}

// argProblems words what a schema does not accept.
func argProblems(family Family, tool catalog.Tool, p Proposal, wrong []catalog.Mismatch) []document.Problem {
	reason := family.Reason("bad_args", tool.Name)
	var names []string
	types := map[string]string{}
	for _, property := range tool.Input.Properties() {
		names = append(names, property.Name)
		types[property.Name] = property.Type
	}
	_, means := document.Misspellings(p.Args, names)
	list := make([]document.Problem, 0, len(wrong))
	for _, w := range wrong {
		got, there := w.Pointer.In(p.Args)
		if !there {
			got = document.Missing
		}
		row := document.NewProblem(reason, p.At+w.Pointer, got, w.Want)
		tokens := w.Pointer.Tokens()
		switch {
		case w.Kind == catalog.MismatchUnknown && len(tokens) == 1:
			row.Rename(p.Args, p.At, tokens[0], means[tokens[0]], types[means[tokens[0]]])
		case w.Kind == catalog.MismatchUnknown:
			row.Choose = document.RemoveOrRename
		case w.Kind == catalog.MismatchType && len(tokens) == 1:
			row.Fix = document.Retype(types[tokens[0]], p.At+w.Pointer, got)
		}
		list = append(list, row)
	}
	return document.CapProblems(list)
}

func sortedKeys(obj map[string]any) []string { return slices.Sorted(maps.Keys(obj)) }
