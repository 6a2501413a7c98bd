package planning

import (
	"patterngate/catalog"
	"patterngate/gateway/document"
)

// Strategy says how a goal is split into subtasks. The zero Strategy is none of them.
type Strategy string

// The strategies (spec/planning-reference.md section 15).
const (
	Flat         Strategy = "flat"         // an ordered list
	Hierarchical Strategy = "hierarchical" // a tree: a parent runs after its children and joins their results
	Iterative    Strategy = "iterative"    // 1 to 3 next subtasks in each round, until the planning is complete
)

// Executors of a subtask besides the tools of the catalog.
const (
	ModelExecutor  = "model"  // the model works on the description
	CallerExecutor = "caller" // the client's agent does
)

// Subtask is one piece of work of an accepted plan. Do not change it.
type Subtask struct {
	ID           string // ^[a-z0-9][a-z0-9_-]{0,63}$
	Description  string
	Dependencies []string // never nil
	Tool         string   // of the catalog, or ModelExecutor, or CallerExecutor
	// Args are the arguments as proposed. Those of a catalog tool can contain references ($results.ID.POINTER).
	Args     map[string]any
	Critical bool
	Parent   string // "" for none; in hierarchical plans only
	Expect   any    // a JSON schema for the caller's result, as a decoded value; nil for any result
}

// Document is an accepted plan of subtasks.
type Document struct {
	Subtasks  []Subtask
	Done      []string // of a checklist: the ids of the ticked items
	Checklist bool
	Complete  bool   // planning_complete
	Goal      string // as the document has it
	Rationale string
	Filled    []document.Filled
}

// Rules say which plans of subtasks are accepted.
type Rules struct {
	Family   string // invalid_plan or invalid_replan
	Strategy Strategy
	// Which members a document can have besides kind and subtasks.
	TakesComplete, TakesGoal, TakesRationale bool

	Min, Max int // of subtasks; Max counts Earlier too
	Round    int // the most subtasks in one round; 0 for no bound
	MaxDepth int

	Catalog *catalog.Catalog
	Allowed []string // the policy allowlist
	LLM     bool     // a language model is configured: ModelExecutor is allowed, and the default

	// Earlier are the subtasks that stay: completed ones, or those of rounds before. The plan can depend on them and refer to
	// them.
	Earlier []Subtask
	// Used are the ids that must not be used again. Reused says how such a fault is named: id_reused in a replan, else
	// duplicate_id.
	Used   []string
	Reused bool
	// Removed are the subtasks that a replan removes, for the fault no_progress; nil: that is not checked.
	Removed []Subtask
	// MayEnd allows a document with planning_complete and without a subtask.
	MayEnd bool
}
