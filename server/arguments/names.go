package arguments

import (
	"strings"

	"patterngate/gateway"
	"patterngate/patterns"
)

// CatalogTool is the tool that lists the tools that patterns may call (spec/surface.md section 2). With it a caller can
// write a plan, route or actions by hand. It runs nothing, and no record is kept of it.
const CatalogTool = "describe_catalog"

// These are the names of arguments about the call itself, not about its task.
const (
	WaitName   = "max_wait_seconds"
	KeyName    = "idempotency_key"
	DryRunName = "dry_run"
)

// VerbOf returns which of the planning tools a spec describes, or "" if the spec is not a planning tool.
func VerbOf(spec patterns.Spec) patterns.PlanVerb {
	verb, ok := strings.CutPrefix(spec.Name, spec.Plans+"_")
	if !ok || spec.Kind != gateway.Planning || spec.Plans == "" {
		return ""
	}
	return patterns.PlanVerb(verb)
}

// PlanTool returns the name of a planning pattern's tool.
func PlanTool(plans string, verb patterns.PlanVerb) string { return plans + "_" + string(verb) }

// These tools are about runs and do not begin one (spec/surface.md section 2). They show the run's state, not the
// call's, so a stopped run is not an error result.
const (
	StatusTool = "run_status"
	WaitTool   = "run_wait"
	CancelTool = "run_cancel"
	ListTool   = "list_runs"
)

// RequestID is the name of an argument that the orchestrator sets itself.
const RequestID = "request_id"
