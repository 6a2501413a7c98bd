package envelope

import "patterngate/patterns"

// PlanWait describes a run that waits for its caller to do subtasks.
type PlanWait struct {
	WaitHead
	Ready   []patterns.ReadySubtask `json:"ready"`
	Omitted int                     `json:"ready_omitted,omitempty"`
}

// WaitingFor describes what a run waits for. Each kind has its own type, because each has its members in its own order
// (spec/surface.md section 1, the table of waiting_for).
type WaitingFor interface{ Head() WaitHead }

// WaitHead holds the members that come first in all of them.
type WaitHead struct {
	Kind      string `json:"kind"` // caller, approval, settlement, retry
	Since     string `json:"since"`
	ExpiresAt string `json:"expires_at,omitempty"`
	Phase     string `json:"phase"`
	// If a child run waits instead of the run itself: its id and its pattern.
	Child   string `json:"child_run_id,omitempty"`
	Pattern string `json:"pattern,omitempty"`
}

// Head returns the members themselves. It makes every type that embeds them a [WaitingFor].
func (h WaitHead) Head() WaitHead { return h }

// CallerWait describes a run that waits for its caller.
type CallerWait struct {
	WaitHead
	Turn    int     `json:"turn"`
	Expects Expects `json:"expects"`
	Last    any     `json:"last_observation,omitempty"`
	Refused int     `json:"refused,omitempty"` // proposals at this turn
}

// Expects says what the caller must send.
type Expects struct {
	Argument  string   `json:"argument"`
	Names     []string `json:"names"`
	Forbidden []string `json:"forbidden,omitempty"`
	Left      int      `json:"left"`
	Example   any      `json:"example"`
}

// Current says what a running run does.
type Current struct {
	Phase string `json:"phase"`
	Doing string `json:"doing"`
	Done  int    `json:"done"`            // calls that were answered
	Total int    `json:"total,omitempty"` // if it is known
	Since string `json:"since"`
}

// ApprovalWait describes a run that waits for a person's decision about a call.
type ApprovalWait struct {
	WaitHead
	ApprovalID   string   `json:"approval_id"`
	Tool         string   `json:"tool"`
	Effect       string   `json:"effect"` // read, write, destructive
	ArgsHash     string   `json:"args_hash"`
	Rule         string   `json:"rule"`
	Reason       string   `json:"reason"`
	MinAssurance string   `json:"min_assurance"`
	Digest       string   `json:"digest"` // of the question in the form that was asked
	Where        []string `json:"where"`  // the page, if the caller can open it, and the command
}

// SettlementWait describes a run that waits for a person to say whether a call happened.
type SettlementWait struct {
	WaitHead
	Effect   string   `json:"effect"` // its key
	Tool     string   `json:"tool"`
	ArgsHash string   `json:"args_hash"`
	Cause    string   `json:"cause"` // crash, timeout, broken_reply
	Where    []string `json:"where"` // commands
}

// RetryWait describes a run that lacks something here.
type RetryWait struct {
	WaitHead
	Cause string   `json:"cause"`           // config_missing, tool_missing, secret_missing, journal
	Needs []string `json:"needs,omitempty"` // names
}
