package server

import (
	"encoding/json"

	"patterngate/catalog"
)

// envelopeSchema is the output schema of every pattern tool. Root and rows are open, so that later versions may add
// members; it has no boolean schemas and no choices, which clients drop or cannot read.
func envelopeSchema() (json.RawMessage, error) {
	closed, err := catalog.SchemaOf[envelopeShape]()
	if err != nil {
		return nil, err
	}
	return opened(closed.JSON()), nil
}

type object = map[string]any

// envelopeShape is [Envelope] as readers are told of it: the same members in the same order, rows without their
// members where those depend on the pattern.
type envelopeShape struct {
	Status         string                `json:"status" jsonschema:"enum=ok,enum=stopped,enum=running,enum=waiting" jsonschema_description:"ok: report it. Else do what next says."`
	StopReason     string                `json:"stop_reason,omitempty" jsonschema_description:"success, or why the run stopped."`
	Phase          string                `json:"phase,omitempty" jsonschema_description:"Where it stopped."`
	RunID          string                `json:"run_id,omitempty"`
	Summary        string                `json:"summary,omitempty" jsonschema_description:"From the record."`
	Next           nextShape             `json:"next,omitzero" jsonschema_description:"What to do now."`
	WaitingFor     waitingShape          `json:"waiting_for,omitzero" jsonschema_description:"With status waiting."`
	Current        object                `json:"current,omitempty" jsonschema_description:"With status running."`
	Problems       []problemShape        `json:"problems,omitempty" jsonschema_description:"Every fault."`
	Answer         string                `json:"answer,omitempty" jsonschema_description:"A claim, not checked; effects are facts."`
	AnswerBytes    int                   `json:"answer_bytes,omitempty"`
	Plan           []object              `json:"plan,omitempty"`
	Route          object                `json:"route,omitempty"`
	SelectedRoute  string                `json:"selected_route,omitempty"`
	Action         object                `json:"action,omitempty"`
	Aggregate      object                `json:"aggregate,omitempty"`
	FailedCritical []object              `json:"failed_critical,omitempty"`
	Expected       []string              `json:"expected_statuses,omitempty"`
	Received       any                   `json:"received_status,omitempty" jsonschema_description:"As observed."`
	BadObservation any                   `json:"bad_observation,omitempty" jsonschema_description:"As observed."`
	Human          object                `json:"human_approval,omitempty" jsonschema_description:"A person's decision."`
	Trace          []object              `json:"trace,omitempty" jsonschema_description:"One row an attempt."`
	TraceOmitted   int                   `json:"trace_omitted,omitempty"`
	History        []object              `json:"history,omitempty" jsonschema_description:"One row a step done, with its observation."`
	HistoryOmitted int                   `json:"history_omitted,omitempty"`
	RawPlan        any                   `json:"raw_plan,omitempty" jsonschema_description:"As it came."`
	RawRoute       any                   `json:"raw_route,omitempty" jsonschema_description:"As it came."`
	RawAction      any                   `json:"raw_action,omitempty" jsonschema_description:"As it came."`
	Effects        []effectShape         `json:"effects,omitempty" jsonschema_description:"The calls made, as recorded."`
	EffectsOmitted int                   `json:"effects_omitted,omitempty"`
	Budget         map[string]spentShape `json:"budget,omitempty"`
	Usage          object                `json:"usage,omitempty"`
	Filled         []object              `json:"filled,omitempty" jsonschema_description:"What you left out."`
	Joined         bool                  `json:"joined,omitempty" jsonschema_description:"true: an earlier equal call's run."`
	Demo           bool                  `json:"demo,omitempty" jsonschema_description:"true: the tools are make-believe."`
}

type nextShape struct {
	Action    string   `json:"action,omitempty" jsonschema:"enum=answer_user,enum=fix_and_retry,enum=call,enum=tell_user,enum=end_turn,enum=done"`
	Tool      string   `json:"tool,omitempty"`
	Arguments object   `json:"arguments,omitempty"`
	Changed   []object `json:"changed,omitempty" jsonschema_description:"Repairs that arguments hold."`
	Fill      []string `json:"fill,omitempty" jsonschema_description:"Places in arguments that you fill."`
	Say       string   `json:"say,omitempty" jsonschema_description:"To the person."`
	Wait      int      `json:"wait_seconds,omitempty"`
}

type waitingShape struct {
	Kind         string   `json:"kind,omitempty"`
	Since        string   `json:"since,omitempty"`
	ExpiresAt    string   `json:"expires_at,omitempty"`
	Phase        string   `json:"phase,omitempty"`
	ApprovalID   string   `json:"approval_id,omitempty"`
	Tool         string   `json:"tool,omitempty"`
	Effect       string   `json:"effect,omitempty"`
	ArgsHash     string   `json:"args_hash,omitempty"`
	Rule         string   `json:"rule,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	MinAssurance string   `json:"min_assurance,omitempty"`
	Digest       string   `json:"digest,omitempty"`
	Turn         int      `json:"turn,omitempty"`
	Expects      object   `json:"expects,omitempty"`
	Last         any      `json:"last_observation,omitempty" jsonschema_description:"As observed."`
	Refused      int      `json:"refused,omitempty"`
	Where        []string `json:"where,omitempty"`
}

type problemShape struct {
	Pointer    string `json:"pointer,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Got        any    `json:"got,omitempty" jsonschema_description:"What stood there."`
	Want       string `json:"want,omitempty"`
	DidYouMean string `json:"did_you_mean,omitempty"`
}

type effectShape struct {
	Key      string `json:"key,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Effect   string `json:"effect,omitempty"`
	ArgsHash string `json:"args_hash,omitempty"`
	Status   string `json:"status,omitempty"`
}

type spentShape struct {
	Limit float64 `json:"limit,omitempty"`
	Used  float64 `json:"used,omitempty"`
}
