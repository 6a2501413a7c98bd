package grammar

// TextForm is the JSON schema of any text.
var TextForm = map[string]any{"type": "string"}

// BlockForm is the JSON schema of a mapping whose content the schema does not describe.
var BlockForm = map[string]any{"type": "object"}

// NameForm is the JSON schema of the name of a tool.
var NameForm = map[string]any{"type": "string", "pattern": ToolName.String()}

// ExpressionForm is the JSON schema of a CEL expression.
var ExpressionForm = map[string]any{"type": "string", "minLength": 1.0, "maxLength": float64(MaxExpression)}

// ListForm is the JSON schema of a list of such items.
func ListForm(item map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": item}
}

// MapForm is the JSON schema of a mapping of any names to such values or null.
func MapForm(value map[string]any) map[string]any {
	return map[string]any{"type": "object", "additionalProperties": OrNull(value)}
}

// ObjectForm is the JSON schema of a mapping with these members and no others.
func ObjectForm(properties map[string]any, required ...string) map[string]any {
	form := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		form["required"] = TextValues(required)
	}
	return form
}

// OrNull is the JSON schema of such a value or null. Null resets a key to its default.
func OrNull(form map[string]any) map[string]any {
	return map[string]any{"anyOf": []any{form, map[string]any{"type": "null"}}}
}
