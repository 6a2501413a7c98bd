package ijson

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// DecodeKnown stores text that a program of ours wrote, perhaps a newer one, in what target points to: as [DecodeInto]
// does, but members that the target does not have are passed over, and size and depth are not judged. A field of raw JSON
// keeps the text's own bytes.
//
// Its errors are those of [DecodeInto]; the Offset of a fault is 0.
func DecodeKnown(text []byte, target any) error {
	err := json.Unmarshal(text, target)
	if err == nil {
		return nil
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok || semantic.GoType == nil {
		return fmt.Errorf("reading %T: %w", target, err)
	}
	return &Fault{Pointer: Pointer(semantic.JSONPointer), Reason: bindReason(semantic)}
}
