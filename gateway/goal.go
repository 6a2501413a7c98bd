package gateway

import (
	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// MaxGoal is the maximum length of a goal, in bytes.
const MaxGoal = 16 << 10

// goalProblem checks the goal if the call would start a run of a pattern. The rules are the same as for a run that a
// caller starts.
func goalProblem(family Family, tool catalog.Tool, p Proposal, args map[string]any) (_ document.Problem, ok bool) {
	if tool.Pattern == "" || tool.Goal == "" {
		return document.Problem{}, true
	}
	reason := family.Reason("bad_args", tool.Name)
	goal, isText := args[tool.Goal].(string)
	switch at := p.At.Member(tool.Goal); {
	case !isText, ijson.Blank(goal):
		return document.NewProblem(reason, at, args[tool.Goal], goalFor(tool.Pattern)), false
	case len(goal) > MaxGoal:
		return document.NewProblem(reason, at, goal, atMostBytes(MaxGoal)), false
	}
	return document.Problem{}, true
}
