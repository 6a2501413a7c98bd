package cli

import (
	"encoding/json"
	"errors"
	"slices"

	"patterngate/catalog/upstream"
	"patterngate/ijson"
	"patterngate/server/cli/toolargs"
)

// dryArgument asks for a dry run, of a tool that has them.
const dryArgument = "dry_run"

// errNoDryRun is returned for a tool that would act. Another server's tool may have an argument of this name that means something
// else, or nothing: only results that say what was judged are those of a dry run.
var errNoDryRun = errors.New("it has no dry run; nothing was sent")

// dryRunOf are the arguments as they ask for a dry run, whatever they say about it themselves.
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

// wouldStop reports whether a dry run found something that would be blocked or put to a person. A verdict that is not known is
// taken for one.
func wouldStop(verdict string) bool {
	return !slices.Contains([]string{"", "approve", "revise", "unknown"}, verdict)
}
