package ijson

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// DecodeKnown decodes text that Patterngate wrote, perhaps in a newer version, into the variable that target points to.
// It works as [DecodeInto] does, with two differences: it ignores members that the target does not have, and it does
// not limit size and depth. A field of raw JSON keeps the text's own bytes.
//
// DecodeKnown returns the errors of [DecodeInto]. The Offset of a fault is 0.
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
