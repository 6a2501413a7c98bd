package planning

import (
	"patterngate/catalog"

	"patterngate/gateway/document"
)

// Strategy is how a goal is taken apart. The zero PlanStrategy is none of them.
type Strategy string

// The strategies (spec/planning-reference.md section 15).
const (
	Flat         Strategy = "flat"         // an ordered list
	Hierarchical Strategy = "hierarchical" // a tree: a parent runs after its children and joins what they returned
	Iterative    Strategy = "iterative"    // 1 to 3 next steps a round, until the planning is complete
)

// These are no tools of the catalog, but who else may work on a subtask.
const (
	ModelExecutor  = "model"  // the model works on the description
	CallerExecutor = "caller" // the client's agent does
)

// Subtask is one piece of work of a plan, as it was accepted. It is not changed.
type Subtask struct {
	ID           string // ^[a-z0-9][a-z0-9_-]{0,63}$
	Description  string
	Dependencies []string // never nil
	Tool         string   // of the catalog, or ModelExecutor, or CallerExecutor
	// Args are as proposed; those of a catalog tool may hold references ($results.ID.POINTER), those of others are free.
	Args     map[string]any
	Critical bool
	Parent   string // "" none; hierarchical plans only
	Expect   any    // a JSON schema for the caller's result, as a decoded value; nil: any
}

// Document is an accepted plan of subtasks.
type Document struct {
	Subtasks  []Subtask
	Done      []string // of a checklist: the ids that were ticked off
	Checklist bool
	Complete  bool   // planning_complete
	Goal      string // as the document says it
	Rationale string
	Filled    []document.Filled
}

// Rules bound a plan of subtasks.
type Rules struct {
	Family   string // invalid_plan or invalid_replan
	Strategy Strategy
	// Which members a document may have besides kind and subtasks.
	TakesComplete, TakesGoal, TakesRationale bool

	Min, Max int // of subtasks; Max counts Earlier too
	Round    int // most of them in one round; 0: no bound of its own
	MaxDepth int

	Catalog *catalog.Catalog
	Allowed []string // the policy allowlist
	LLM     bool     // a language model is configured: ModelExecutor is allowed, and the default

	// Earlier are the subtasks that stay, completed or of rounds before: they may be depended on and referred to.
	Earlier []Subtask
	// Used are the ids that may not come again. Reused names such a fault: id_reused in a replan, else duplicate_id.
	Used   []string
	Reused bool
	// Removed are the subtasks that a replan takes out, for no_progress; nil: it is not asked.
	Removed []Subtask
	// MayEnd lets a document with planning_complete have no subtask.
	MayEnd bool
}
