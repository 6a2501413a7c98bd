package server

import (
	"time"

	"patterngate/gateway/document"
	"patterngate/patterns"
)

// Pattern is one pattern offered as a tool.
type Pattern struct {
	Spec patterns.Spec
	// Model answers the questions of its runs; nil: that of [Config].
	Model patterns.Model
	// Configured is of Model what it is of the one in [Config].
	Configured bool
	// Title and Description are what a client shows to people and to its model.
	Title, Description string
	// Completions are offered while a person fills in an argument of the pattern's prompt, by the argument's name.
	Completions map[string][]string
	// PolicyHash names the policy in force, for the record.
	PolicyHash string
	// Reasons are those by which its policies, and those of tools that it may call, block: they are stop reasons of its own.
	Reasons []string
}

// call is one tools/call as it was taken.
type call struct {
	Tool      string
	Spec      patterns.Spec
	Arguments map[string]any  // decoded, as sent: a plan, route or actions given as a text is still that text
	Intents   map[string]any  // plan, route and actions by argument name, read from their text or as given
	IntentWas map[string]bool // true: the argument was sent as a text holding JSON
	Proposes  bool            // the caller hands in an intent
	Demo      bool            // a reachable tool is make-believe
	Model     string          // name of the model: "rules", "gpt-4.1-mini"; "caller" when no model was asked

	Run   *patterns.Snapshot // the run that is continued, as it stood when the call was taken; nil: a run is to begin
	Size  int                // of the arguments in memory, in bytes
	Shift int                // how many of Intents["actions"] were handed in before this call

	Own     *document.Intent // of planning: the caller's own plan; nil: none
	Results map[string]any   // of planning: what the caller made of subtasks, of the right shape; nil: nothing

	Wait *time.Duration // how long the call waits for its run, as it says; nil: it does not say
	Key  string         // its idempotency key; "" for none

	// Principal is the caller who reads the result, if it is known before the run is; see [call.isLocal].
	Principal string

	Off *patterns.Switch // the kill switch that stopped the run; nil: none, or it is not known
}
