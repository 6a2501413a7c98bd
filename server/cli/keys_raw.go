package cli

import (
	"encoding/json"
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// rawKey is a value that is kept as JSON in the order of the file.
func rawKey(name, takes string, target *json.RawMessage, check func(r *configReader, n *yamldoc.Node, path *yamldoc.Path)) configKey {
	return configKey{
		name: name, takes: takes, form: func() map[string]any { return blockForm },
		read: func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
			if text, ok := keptJSON(n); ok { // of a snapshot
				*target = text
				return
			}
			if n.Kind != yamldoc.Mapping {
				r.wrong(n, path, "write a mapping of names to JSON schemas")
				return
			}
			if !n.Readable() {
				return
			}
			*target = n.AppendJSON(nil)
			check(r, n, path)
		},
		show: func() any {
			if *target == nil {
				return nil
			}
			return *target
		},
		keep: func() any {
			if *target == nil {
				return nil
			}
			return string(*target)
		},
	}
}

// keptJSON is a text of a snapshot, in which the order of members is kept.
func keptJSON(n *yamldoc.Node) (json.RawMessage, bool) {
	if n.Kind != yamldoc.Text || n.At != (yamldoc.Place{}) {
		return nil, false
	}
	v, err := ijson.DecodeCanonical([]byte(n.Text))
	if _, object := v.(map[string]any); err != nil || !object {
		return nil, false
	}
	return json.RawMessage(n.Text), true
}
