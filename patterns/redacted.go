package patterns

import "patterngate/ijson"

// Redacted is the only member of the object that replaces a redacted value in a record: {"$redacted":"sha256:..."}. The hash is
// SHA-256 over 16 random bytes and the value's canonical form (spec/surface.md section 7).
const Redacted = "$redacted"

// RedactedAsText returns the JSON with each redacted value as a text, for readers that expect a text there: {"$redacted":"sha256:..."}
// becomes "{\"$redacted\":\"sha256:...\"}". It returns nil if nothing was redacted or the text cannot be decoded.
func RedactedAsText(text []byte) []byte {
	v, err := ijson.DecodeCanonical(text)
	if err != nil {
		return nil
	}
	found := false
	v = redactedAsText(v, &found)
	if !found {
		return nil
	}
	return ijson.Canonical(v)
}

func redactedAsText(v any, found *bool) any {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v[Redacted].(string); ok && len(v) == 1 {
			*found = true
			return string(ijson.Canonical(v))
		}
		for name, m := range v {
			v[name] = redactedAsText(m, found)
		}
	case []any:
		for i, m := range v {
			v[i] = redactedAsText(m, found)
		}
	}
	return v
}
