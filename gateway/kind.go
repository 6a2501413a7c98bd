package gateway

// Kind is a pattern's kind.
type Kind string

// The kinds of patterns.
const (
	TaskDecomposition Kind = "task_decomposition"
	Orchestrator      Kind = "orchestrator"
	Routing           Kind = "routing"
	Supervisor        Kind = "supervisor"
	Planning          Kind = "planning" // four tools: decompose, execute, replan, status
	Call              Kind = "call"     // one call of one tool, without an intent
)

// These kinds are not patterns. The registry has tools under them: the tool that lists what may be called, and the
// tools about runs.
const (
	Catalog   Kind = "describe_catalog"
	RunStatus Kind = "run_status"
	RunWait   Kind = "run_wait"
	RunCancel Kind = "run_cancel"
	RunList   Kind = "list_runs"
)
