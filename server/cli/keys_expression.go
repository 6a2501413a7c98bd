package cli

import (
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// NamedExpression is one member that is computed: CEL.
type NamedExpression struct{ Name, Text string }

// expressionsKey is a mapping of names to CEL; nil where nothing was said.
func expressionsKey(name string, target *[]NamedExpression, names nameRule) configKey {
	return configKey{
		name: name, takes: "a mapping of names to CEL", form: func() map[string]any { return mapForm(expressionForm) },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			list := []NamedExpression{}
			r.each(n, path, names, func(m yamldoc.Member, below *yamldoc.Path) {
				if text, ok := r.expression(m.Value, below); ok {
					list = append(list, NamedExpression{m.Key, text})
				}
			})
			*target = list
		},
		show: func() any { return objectOfTexts(*target) },
	}
}

// maxExpression is how long an expression may be, in bytes.
const maxExpression = 8 << 10

// expressionKey is CEL, as text. What it says is judged where it is compiled.
func expressionKey(name string, target *string) configKey {
	return configKey{
		name: name, takes: "CEL, as text", form: func() map[string]any { return expressionForm },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if text, ok := r.expression(n, path); ok {
				*target = text
			}
		},
		show: func() any { return orNil(*target) },
	}
}

func (r *configReader) expression(n *yamldoc.Node, path *yamldoc.Path) (string, bool) {
	switch {
	case n.Kind != yamldoc.Text:
		r.wrong(n, path, "write an expression in quotes")
	case ijson.Blank(n.Text):
		r.faults.Add(n.At, path, yamldoc.Fault{Reason: "blank", Want: "write an expression, or leave the key out"})
	case len(n.Text) > maxExpression:
		r.faults.Add(n.At, path, yamldoc.Fault{Reason: "too long", Got: yamldoc.NumberText(float64(len(n.Text))) + " bytes", Want: "write at most " + yamldoc.NumberText(maxExpression)})
	default:
		return n.Text, true
	}
	return "", false
}

// orNil is a text, or nil for none.
func orNil[T ~string](text T) any {
	if text == "" {
		return nil
	}
	return string(text)
}

// objectOfTexts is a decoded object; nil where there is nothing in it.
func objectOfTexts(list []NamedExpression) any {
	if list == nil {
		return nil
	}
	object := make(map[string]any, len(list))
	for _, e := range list {
		object[e.Name] = e.Text
	}
	return object
}
