package server

import (
	"patterngate/gateway"
	"patterngate/patterns"
	"strings"
)

// catalogTool is the tool that lists the tools that patterns may call (spec/surface.md section 2). With it a caller can
// write a plan, route or actions by hand. It runs nothing, and no record is kept of it.
const catalogTool = "describe_catalog"

const dryArgument = "dry_run"

const (
	waitArgument = "max_wait_seconds"
	keyArgument  = "idempotency_key"
)

// verbOf returns which of the planning tools a spec describes, or "" if the spec is not a planning tool.
func verbOf(spec patterns.Spec) patterns.PlanVerb {
	verb, ok := strings.CutPrefix(spec.Name, spec.Plans+"_")
	if !ok || spec.Kind != gateway.Planning || spec.Plans == "" {
		return ""
	}
	return patterns.PlanVerb(verb)
}

// planTool returns the name of a planning pattern's tool.
func planTool(plans string, verb patterns.PlanVerb) string { return plans + "_" + string(verb) }

// These tools are about runs and do not begin one (spec/surface.md section 2). They show the run's state, not the
// call's, so a stopped run is not an error result.
const (
	statusTool = "run_status"
	waitTool   = "run_wait"
	cancelTool = "run_cancel"
	listTool   = "list_runs"
)

// requestID is the name of an argument that the orchestrator sets itself.
const requestID = "request_id"
