package cli

var textForm = map[string]any{"type": "string"}

var blockForm = map[string]any{"type": "object"} // a mapping of names that the file chooses to what other tools check

var nameForm = map[string]any{"type": "string", "pattern": toolName.String()}

var expressionForm = map[string]any{"type": "string", "minLength": 1.0, "maxLength": float64(maxExpression)}

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
