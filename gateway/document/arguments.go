package document

import (
	"patterngate/catalog"
	"patterngate/ijson"
)

// ArgumentProblems returns the problems of a tool's arguments, which stand at a place, from the mismatches with its input schema.
// Each problem has this reason. The list is cut by [CapProblems].
func ArgumentProblems(reason string, tool catalog.Tool, args map[string]any, at ijson.Pointer, wrong []catalog.Mismatch) []Problem {
	var names []string
	types := map[string]string{}
	for _, property := range tool.Input.Properties() {
		names = append(names, property.Name)
		types[property.Name] = property.Type
	}
	_, means := Misspellings(args, names)
	list := make([]Problem, 0, len(wrong))
	for _, w := range wrong {
		got, there := w.Pointer.In(args)
		if !there {
			got = Missing
		}
		row := NewProblem(reason, at+w.Pointer, got, w.Want)
		tokens := w.Pointer.Tokens()
		switch {
		case w.Kind == catalog.MismatchUnknown && len(tokens) == 1:
			row.Rename(args, at, tokens[0], means[tokens[0]], types[means[tokens[0]]])
		case w.Kind == catalog.MismatchUnknown:
			row.Choose = RemoveOrRename
		case w.Kind == catalog.MismatchType && len(tokens) == 1:
			row.Fix = Retype(types[tokens[0]], at+w.Pointer, got)
		}
		list = append(list, row)
	}
	return CapProblems(list)
}
