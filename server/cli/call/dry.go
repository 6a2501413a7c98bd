package call

import (
	"encoding/json"
	"errors"
	"slices"

	"patterngate/catalog/upstream"
	"patterngate/ijson"
	"patterngate/server/cli/toolargs"
)

// dryArgument is the argument that requests a dry run, for tools that have one.
const dryArgument = "dry_run"

// errNoDryRun is the error for a tool that would act. A tool of another server can have an argument of this name with
// another meaning. Only a result that contains a verdict comes from a dry run.
var errNoDryRun = errors.New(noDryRun)

// dryRunOf returns the arguments with dry_run set to true, whatever value they have for it.
func dryRunOf(tool upstream.Tool, arguments json.RawMessage) (json.RawMessage, error) {
	results := toolargs.ReadTypes(tool.Output).Properties
	ours := results[dryArgument] != nil && results["status"] != nil && results["next"] != nil
	if !ours || !slices.Contains(toolargs.ReadTypes(tool.Input).Of(dryArgument), "boolean") {
		return nil, errNoDryRun
	}
	members, err := toolargs.Members(arguments)
	if err != nil {
		return nil, err
	}
	return toolargs.JoinMembers(append(toolargs.Without(members, dryArgument), toolargs.Member{Name: ijson.Canonical(dryArgument), Value: ijson.Canonical(true)})), nil
}

// wouldStop reports whether a dry run found something that a rule would block or a person would have to approve. It also
// returns true for a verdict that it does not know.
func wouldStop(verdict string) bool {
	return !slices.Contains([]string{"", "approve", "revise", "unknown"}, verdict)
}
