package arguments

import (
	"slices"
	"strings"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/patterns"
)

// Call is one tools/call after its arguments were read.
type Call struct {
	Tool      string
	Spec      patterns.Spec
	Arguments map[string]any  // decoded, as sent; a plan, route or actions sent as text is still text
	Intents   map[string]any  // plan, route and actions by argument name, decoded if sent as text
	IntentWas map[string]bool // true: the argument was sent as text that holds JSON
	Proposes  bool            // the caller sent an intent
	Model     string          // name of the model: "rules", "gpt-4.1-mini"; "caller" if no model was asked

	Run   *patterns.Snapshot // the run to continue, as it was when the call was read; nil: begin a run
	Size  int                // memory that the arguments take, in bytes
	Shift int                // how many of Intents["actions"] were sent before this call

	Own     *document.Intent // of planning: the caller's own plan; nil: none
	Results map[string]any   // of planning: the caller's results of subtasks, of the right shape; nil: none

	Wait *time.Duration // how long the call asks to wait for its run; nil: not given
	Key  string         // idempotency key; "" for none

	// Principal is the caller that reads the result, if it is known before the run; see [Call.IsLocal].
	Principal string

	Off *patterns.Switch // the kill switch that stopped the run; nil: none or unknown
}

// LocalPrefix begins the name of every principal that is a user of this machine.
const LocalPrefix = "local:"

// Reaches reports whether a switch for the tool or the pattern may have stopped a run of the call.
func (c Call) Reaches(tool, pattern string) bool {
	switch {
	case tool != "":
		return tool == c.Spec.Tool || slices.Contains(c.Spec.Execution, tool)
	case pattern != "":
		return pattern == c.Spec.Name || pattern == c.Spec.Plans && c.Spec.Kind == gateway.Planning
	}
	return true
}

// IsLocal reports whether the caller works on this machine, where the page of approvals opens. A run is shown only to
// its own principal. It returns false if the principal is not known.
func (c Call) IsLocal() bool {
	principal := c.Principal
	if principal == "" && c.Run != nil {
		principal = c.Run.Principal
	}
	return strings.HasPrefix(principal, LocalPrefix)
}
