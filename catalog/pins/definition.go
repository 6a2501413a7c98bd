package pins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"patterngate/ijson"
)

// Definition is a tool as its server declares it. Absent members are zero. Input and Output are the schemas' texts,
// unchanged.
type Definition struct {
	Name, Title, Description string
	Input, Output            json.RawMessage
}

// Hash returns the SHA-256, in hex, of the canonical form (RFC 8785) of what the server sent, without absent members.
// It identifies the definition.
func (d Definition) Hash() string {
	sum := sha256.Sum256(ijson.Canonical(d.value()))
	return hex.EncodeToString(sum[:])
}

// value returns the definition as a decoded value. Integers beyond 2^53-1 become doubles, as in the canonical form. A
// schema that is not strict JSON even then becomes its text, so that it still has one hash.
func (d Definition) value() map[string]any {
	v := map[string]any{"name": d.Name}
	for member, text := range map[string]string{"title": d.Title, "description": d.Description} {
		if text != "" {
			v[member] = text
		}
	}
	for member, schema := range map[string]json.RawMessage{"inputSchema": d.Input, "outputSchema": d.Output} {
		if len(schema) > 0 {
			v[member] = decoded(schema)
		}
	}
	return v
}

func decoded(schema json.RawMessage) any {
	v, err := ijson.DecodeLimit(ijson.Rounded(schema), MaxBytes)
	if err != nil {
		return string(schema)
	}
	return v
}

// text returns the definition as written in the file. The schemas keep the order in which the server sent them.
func (d Definition) text() []byte {
	out := ijson.Append([]byte(`{"name":`), d.Name)
	for _, m := range []struct{ name, text string }{{"title", d.Title}, {"description", d.Description}} {
		if m.text != "" {
			out = ijson.Append(append(out, `,"`+m.name+`":`...), m.text)
		}
	}
	for _, m := range []struct {
		name   string
		schema json.RawMessage
	}{{"inputSchema", d.Input}, {"outputSchema", d.Output}} {
		if len(m.schema) > 0 {
			out = append(append(out, `,"`+m.name+`":`...), compact(m.schema)...)
		}
	}
	return append(out, '}')
}

// compact returns a schema without white space, or as a string if it is not strict JSON.
func compact(schema json.RawMessage) []byte {
	var b bytes.Buffer
	rounded := ijson.Rounded(schema)
	if _, err := ijson.DecodeLimit(rounded, MaxBytes); err != nil || json.Compact(&b, rounded) != nil {
		return ijson.Canonical(string(schema))
	}
	return b.Bytes()
}

// Change is one difference between two definitions, for people. The values are compact JSON; "" means that there is
// none.
type Change struct {
	Pointer ijson.Pointer // in the tool as the server sends it: /description, /inputSchema/properties/path
	Was, Is string
}

// Compare returns the differences between the accepted and the present definition, by place. The texts come from the
// server: show them with care.
func Compare(accepted, present Definition) []Change {
	return differences(nil, "", accepted.value(), present.value())
}

func differences(list []Change, at ijson.Pointer, was, is any) []Change {
	before, both := was.(map[string]any)
	after, objects := is.(map[string]any)
	if !both || !objects {
		if ijson.Equal(was, is) {
			return list
		}
		return append(list, Change{at, string(ijson.Canonical(was)), string(ijson.Canonical(is))})
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		was, there := before[name]
		is, still := after[name]
		switch place := at.Member(name); {
		case there && still:
			list = differences(list, place, was, is)
		case there:
			list = append(list, Change{place, string(ijson.Canonical(was)), ""})
		default:
			list = append(list, Change{place, "", string(ijson.Canonical(is))})
		}
	}
	return list
}
