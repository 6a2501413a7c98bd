package cli

import (
	"math"
)

// What may stand in the file, as JSON schema: what [configKey.form] is made of.
var (
	textForm       = map[string]any{"type": "string"}
	blockForm      = map[string]any{"type": "object"} // a mapping of names that the file chooses to what other tools check
	nameForm       = map[string]any{"type": "string", "pattern": toolName.String()}
	secretForm     = map[string]any{"$ref": "#/$defs/secret"}
	textOrSecret   = map[string]any{"anyOf": []any{textForm, secretForm}}
	expressionForm = map[string]any{"type": "string", "minLength": 1.0, "maxLength": float64(maxExpression)}
)

// secretDefinition is what [secretForm] refers to.
func secretDefinition() map[string]any {
	return objectForm(map[string]any{
		"secret": map[string]any{"anyOf": []any{
			map[string]any{"type": "string", "pattern": "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"},
			objectForm(map[string]any{notifyExec: listForm(textForm)}, notifyExec),
		}},
	}, "secret")
}

func listForm(item map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": item}
}

// mapForm is a mapping of any names to values of one form, each of which may be null.
func mapForm(value map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": orNull(value)}
}

// objectForm is a closed mapping.
func objectForm(properties map[string]any, required ...string) map[string]any {
	form := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		form["required"] = textValues(required)
	}
	return form
}

// orNull is a form, or null, which resets every key to its default.
func orNull(form map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{form, map[string]any{"type": "null"}}}
}

// form is what the bounds say, as JSON schema.
func (b bounds) form() map[string]any {
	form := map[string]any{"type": "number"}
	if b.whole {
		form["type"] = "integer"
	}
	if form["minimum"] = b.min; b.above {
		delete(form, "minimum")
		form["exclusiveMinimum"] = b.min
	}
	if !math.IsInf(b.max, 1) {
		form["maximum"] = b.max
	}
	return form
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
