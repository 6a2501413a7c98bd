package patterns

import "patterngate/ijson"

// Redacted is the one member of what stands in a record for a value that was kept out of it: {"$redacted":"sha256:..."},
// SHA-256 over 16 random bytes and the value's canonical form (spec/surface.md section 7).
const Redacted = "$redacted"

// RedactedAsText is JSON in which texts stand where there were redacted values, for readers that want a text at some of
// their places: {"$redacted":"sha256:..."} becomes "{\"$redacted\":\"sha256:...\"}". It is nil where nothing was redacted.
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
