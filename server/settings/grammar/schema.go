package grammar

import "encoding/json"

// SchemaOf is a mapping of keys. One that is off may lack what it would need.
func SchemaOf(keys []Key) map[string]any {
	properties := make(map[string]any, len(keys))
	var required []string
	canBeOff := false
	for _, k := range keys {
		properties[k.Name] = k.Schema()
		if k.Required != "" {
			required = append(required, k.Name)
		}
		canBeOff = canBeOff || k.Name == "enabled"
	}
	schema := ObjectForm(properties)
	switch {
	case len(required) > 0 && canBeOff:
		schema["if"] = map[string]any{"properties": map[string]any{"enabled": map[string]any{"const": false}}, "required": []any{"enabled"}}
		schema["else"] = map[string]any{"required": TextValues(required)}
	case len(required) > 0:
		schema["required"] = TextValues(required)
	}
	return schema
}

// Schema is what may stand at a key. null is as if it were absent.
func (k Key) Schema() map[string]any {
	var form map[string]any
	value := k.Show()
	group, grouped := value.([]Key)
	switch {
	case k.Form != nil:
		form = k.Form()
	case k.Entries:
		form = map[string]any{"type": "object", "additionalProperties": OrNull(SchemaOf(k.Below()))}
	case grouped && k.Below != nil && len(group) > 0: // patterns: those that are built in, and others
		form = SchemaOf(group)
		if k.Others != nil {
			form["additionalProperties"] = OrNull(k.Others())
		}
	case k.Below != nil:
		form = SchemaOf(k.Below())
	default:
		form = SchemaOf(group)
	}
	schema := OrNull(form)
	if k.Meaning != "" {
		schema["description"] = k.Meaning
	}
	if !grouped && value != nil && k.Required == "" {
		schema["default"] = plainValue(value)
	}
	return schema
}

// plainValue is a value in force as a decoded one.
func plainValue(v any) any {
	switch v := v.(type) {
	case []string:
		return TextValues(v)
	case json.RawMessage:
		return RawValue(v)
	case JSONLines:
		return v.Values()
	}
	return v
}
