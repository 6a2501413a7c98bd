package cli

import "encoding/json"

// groupSchema is a mapping of keys. One that is off may lack what it would need.
func groupSchema(keys []configKey) map[string]any {
	properties := make(map[string]any, len(keys))
	var required []string
	canBeOff := false
	for _, k := range keys {
		properties[k.name] = k.schema()
		if k.required != "" {
			required = append(required, k.name)
		}
		canBeOff = canBeOff || k.name == "enabled"
	}
	schema := objectForm(properties)
	switch {
	case len(required) > 0 && canBeOff:
		schema["if"] = map[string]any{"properties": map[string]any{"enabled": map[string]any{"const": false}}, "required": []any{"enabled"}}
		schema["else"] = map[string]any{"required": textValues(required)}
	case len(required) > 0:
		schema["required"] = textValues(required)
	}
	return schema
}

// schema is what may stand at a key. null is as if it were absent.
func (k configKey) schema() map[string]any {
	var form map[string]any
	value := k.show()
	group, grouped := value.([]configKey)
	switch {
	case k.form != nil:
		form = k.form()
	case k.entries:
		form = map[string]any{"type": "object", "additionalProperties": orNull(groupSchema(k.below()))}
	case grouped && k.below != nil && len(group) > 0: // patterns: those that are built in, and others
		form = groupSchema(group)
		if k.others != nil {
			form["additionalProperties"] = orNull(k.others())
		}
	case k.below != nil:
		form = groupSchema(k.below())
	default:
		form = groupSchema(group)
	}
	schema := orNull(form)
	if k.meaning != "" {
		schema["description"] = k.meaning
	}
	if !grouped && value != nil && k.required == "" {
		schema["default"] = plainValue(value)
	}
	return schema
}

// plainValue is a value in force as a decoded one.
func plainValue(v any) any {
	switch v := v.(type) {
	case []string:
		return textValues(v)
	case json.RawMessage:
		return rawValue(v)
	case jsonLines:
		return v.values()
	}
	return v
}
