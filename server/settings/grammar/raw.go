package grammar

import (
	"encoding/json"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// Raw is a mapping that is kept as JSON with its members in the order of the file. After that, check may record faults in it.
func Raw(name, takes string, target *json.RawMessage, check func(r *Reader, n *yamldoc.Node, path *yamldoc.Path)) Key {
	return Key{
		Name: name, Takes: takes, Form: func() map[string]any { return BlockForm },
		Read: func(r *Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if text, ok := KeptJSON(n); ok { // of a snapshot
				*target = text
				return
			}
			if n.Kind != yamldoc.Mapping {
				r.Wrong(n, path, wantSchemas)
				return
			}
			if !n.Readable() {
				return
			}
			*target = n.AppendJSON(nil)
			check(r, n, path)
		},
		Show: func() any {
			if *target == nil {
				return nil
			}
			return *target
		},
		Keep: func() any {
			if *target == nil {
				return nil
			}
			return string(*target)
		},
	}
}

// KeptJSON returns a value that a snapshot keeps as canonical JSON in a text, because its order matters. It returns false for a value
// of a file.
func KeptJSON(n *yamldoc.Node) (json.RawMessage, bool) {
	if n.Kind != yamldoc.Text || n.At != (yamldoc.Place{}) {
		return nil, false
	}
	v, err := ijson.DecodeCanonical([]byte(n.Text))
	if _, object := v.(map[string]any); err != nil || !object {
		return nil, false
	}
	return json.RawMessage(n.Text), true
}
