package grammar

import "encoding/json"

// SchemaOf returns the JSON schema of a mapping with these keys. If one of them is "enabled", a mapping that is not enabled may lack
// required keys.
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

// Schema returns the JSON schema of a key's value. Null is allowed and counts as absent.
func (k Key) Schema() map[string]any {
	var form map[string]any
	value := k.Show()
	group, grouped := value.([]Key)
	switch {
	case k.Form != nil:
		form = k.Form()
	case k.Brief:
		form = BriefForm(k.Below())
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

// BriefForm returns the JSON schema of a mapping with these keys, without descriptions and defaults.
func BriefForm(keys []Key) map[string]any {
	properties := make(map[string]any, len(keys))
	var required []string
	for _, k := range keys {
		form := k.Form()
		words, isWord := form["enum"].([]any)
		switch {
		case k.Required != "":
			required = append(required, k.Name)
		case isWord:
			form["enum"] = append(words, nil)
		default:
			form = OrNull(form)
		}
		properties[k.Name] = form
	}
	return ObjectForm(properties, required...)
}

// plainValue returns a shown value as a decoded one.
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
