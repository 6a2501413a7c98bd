package grammar

import (
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// NamedExpression is one member that is computed: CEL.
type NamedExpression struct{ Name, Text string }

// Expressions is a mapping of names to CEL; nil where nothing was said.
func Expressions(name string, target *[]NamedExpression, names NameRule) Key {
	return Key{
		Name: name, Takes: "a mapping of names to CEL", Form: func() map[string]any { return MapForm(ExpressionForm) },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			list := []NamedExpression{}
			r.Each(n, path, names, func(m yamldoc.Member, below *yamldoc.Path) {
				if text, ok := r.Expression(m.Value, below); ok {
					list = append(list, NamedExpression{m.Key, text})
				}
			})
			*target = list
		},
		Show: func() any { return objectOfTexts(*target) },
	}
}

// MaxExpression is how long an expression may be, in bytes.
const MaxExpression = 8 << 10

// Expression is CEL, as text. What it says is judged where it is compiled.
func Expression(name string, target *string) Key {
	return Key{
		Name: name, Takes: "CEL, as text", Form: func() map[string]any { return ExpressionForm },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if text, ok := r.Expression(n, path); ok {
				*target = text
			}
		},
		Show: func() any { return OrNil(*target) },
	}
}

func (r *Reader) Expression(n *yamldoc.Node, path *yamldoc.Path) (string, bool) {
	switch {
	case n.Kind != yamldoc.Text:
		r.Wrong(n, path, "write an expression in quotes")
	case ijson.Blank(n.Text):
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: "blank", Want: "write an expression, or leave the key out"})
	case len(n.Text) > MaxExpression:
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: "too long", Got: yamldoc.NumberText(float64(len(n.Text))) + " bytes", Want: "write at most " + yamldoc.NumberText(MaxExpression)})
	default:
		return n.Text, true
	}
	return "", false
}

// OrNil is a text, or nil for none.
func OrNil[T ~string](text T) any {
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
