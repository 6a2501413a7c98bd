package grammar

import (
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// Expression returns the key of a CEL expression as text; empty if unset. It does not compile the expression.
func Expression(name string, target *string) Key {
	return Key{
		Name: name, Takes: "CEL", Form: func() map[string]any { return ExpressionForm },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if text, ok := r.Expression(n, path); ok {
				*target = text
			}
		},
		Show: func() any { return OrNil(*target) },
	}
}

// Expression reads the text of a CEL expression. It returns false, and records a fault, for anything else.
func (r *Reader) Expression(n *yamldoc.Node, path *yamldoc.Path) (string, bool) {
	switch {
	case n.Kind != yamldoc.Text:
		r.Wrong(n, path, wantExpression)
	case ijson.Blank(n.Text):
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: "blank", Want: wantExpressionOrNone})
	case len(n.Text) > MaxExpression:
		r.Faults.Add(n.At, path, yamldoc.Fault{Reason: tooLong, Got: yamldoc.NumberText(float64(len(n.Text))) + " bytes", Want: wantAtMost(yamldoc.NumberText(MaxExpression))})
	default:
		return n.Text, true
	}
	return "", false
}

// Expressions returns the key of a mapping of names to CEL; nil if unset.
func Expressions(name string, target *[]NamedExpression, names NameRule) Key {
	return Key{
		Name: name, Takes: mappingOfCEL, Form: func() map[string]any { return MapForm(ExpressionForm) },
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

// NamedExpression is a CEL expression under a name.
type NamedExpression struct{ Name, Text string }

// MaxExpression is the maximum length of an expression in bytes.
const MaxExpression = 8 << 10

// OrNil returns a text, or nil for an empty one.
func OrNil[T ~string](text T) any {
	if text == "" {
		return nil
	}
	return string(text)
}

// objectOfTexts returns expressions as a decoded object; nil if the list is nil.
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
