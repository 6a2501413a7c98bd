package cli

import (
	"encoding/json"

	"patterngate/ijson"
)

// STUB: the lead replaces this file by catalog.CompileArguments and catalog.CompileBounds, whose faults are of this shape
// (schemaFault(f) converts one of catalog's). Until then only the shape of the mapping is checked.

// schemaFault is one thing that is wrong with a schema of the file.
type schemaFault struct {
	Pointer                       ijson.Pointer
	Reason, Got, Want, DidYouMean string
	Warning                       bool
}

func argumentFaults(text json.RawMessage) []schemaFault { return namedSchemas(text) }

func boundFaults(text json.RawMessage) []schemaFault { return namedSchemas(text) }

func namedSchemas(text json.RawMessage) (faults []schemaFault) {
	members, _ := rawValue(text).(map[string]any)
	for name, schema := range members {
		if _, object := schema.(map[string]any); !object {
			faults = append(faults, schemaFault{Pointer: ijson.Pointer("").Member(name), Reason: "wrong type", Want: "write a JSON schema: {type: string}"})
		}
	}
	return faults
}
