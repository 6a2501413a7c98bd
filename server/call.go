package server

import (
	"time"

	"patterngate/gateway/document"
	"patterngate/patterns"
)

// Pattern is one pattern that the server offers as a tool.
type Pattern struct {
	Spec patterns.Spec
	// Model answers the questions of its runs. If it is nil, the model of [Config] does.
	Model patterns.Model
	// Configured says that the user set up Model, as in [Config].
	Configured bool
	// Title and Description are shown by clients to people and to their model.
	Title, Description string
	// Completions are the values to offer while a person fills in an argument of the pattern's prompt, by argument
	// name.
	Completions map[string][]string
	// PolicyHash identifies the policy in force, for the record.
	PolicyHash string
	// Reasons are the stop reasons with which the pattern's policies, and those of tools that it may call, block a
	// call.
	Reasons []string
}

// call is one tools/call after its arguments were read.
type call struct {
	Tool      string
	Spec      patterns.Spec
	Arguments map[string]any  // decoded, as sent; a plan, route or actions sent as text is still text
	Intents   map[string]any  // plan, route and actions by argument name, decoded if sent as text
	IntentWas map[string]bool // true: the argument was sent as text that holds JSON
	Proposes  bool            // the caller sent an intent
	Demo      bool            // the pattern reaches a demo tool
	Model     string          // name of the model: "rules", "gpt-4.1-mini"; "caller" if no model was asked

	Run   *patterns.Snapshot // the run to continue, as it was when the call was read; nil: begin a run
	Size  int                // memory that the arguments take, in bytes
	Shift int                // how many of Intents["actions"] were sent before this call

	Own     *document.Intent // of planning: the caller's own plan; nil: none
	Results map[string]any   // of planning: the caller's results of subtasks, of the right shape; nil: none

	Wait *time.Duration // how long the call asks to wait for its run; nil: not given
	Key  string         // idempotency key; "" for none

	// Principal is the caller that reads the result, if it is known before the run; see [call.isLocal].
	Principal string

	Off *patterns.Switch // the kill switch that stopped the run; nil: none or unknown
}
