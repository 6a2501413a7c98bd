package document

import (
	"maps"

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
			row.RetypeArgument(tool, args, at, tokens[0], types[tokens[0]])
		}
		list = append(list, row)
	}
	return CapProblems(list)
}

// RetypeArgument offers an argument's value in the type that is wanted, if the tool takes it then. If the tool does not, for example because
// the text does not match a pattern, there is no repair, and Want says what the tool wants of that value. The same is true of a text
// that is shorter or longer than the spelling that the tool names, such as YYYY-MM.
func (p *Problem) RetypeArgument(tool catalog.Tool, args map[string]any, at ijson.Pointer, name, wanted string) {
	p.Fix = Retype(wanted, at.Member(name), args[name])
	if p.Fix == nil {
		return
	}
	if text, isText := p.Fix.Value.(string); isText {
		for _, property := range tool.Input.Properties() {
			if property.Name == name && property.Spelling != "" && len(property.Spelling) != len(text) {
				p.Fix, p.Want = nil, textSpelled(property.Spelling)
				return
			}
		}
	}
	fixed := maps.Clone(args)
	fixed[name] = p.Fix.Value
	for _, w := range tool.Check(tool.Filled(fixed)) {
		if tokens := w.Pointer.Tokens(); len(tokens) > 0 && tokens[0] == name && w.Kind != catalog.MismatchUnknown {
			p.Fix, p.Want = nil, w.Want
			return
		}
	}
}
