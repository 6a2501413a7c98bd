package grammar

var TextForm = map[string]any{"type": "string"}

var BlockForm = map[string]any{"type": "object"} // a mapping of names that the file chooses to what other tools check

var NameForm = map[string]any{"type": "string", "pattern": ToolName.String()}

var ExpressionForm = map[string]any{"type": "string", "minLength": 1.0, "maxLength": float64(MaxExpression)}

func ListForm(item map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": item}
}

// MapForm is a mapping of any names to values of one form, each of which may be null.
func MapForm(value map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": OrNull(value)}
}

// ObjectForm is a closed mapping.
func ObjectForm(properties map[string]any, required ...string) map[string]any {
	form := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		form["required"] = TextValues(required)
	}
	return form
}

// OrNull is a form, or null, which resets every key to its default.
func OrNull(form map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{form, map[string]any{"type": "null"}}}
}
