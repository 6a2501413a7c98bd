package gateway

import (
	"fmt"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// MaxGoal is how long a goal may be, in bytes.
const MaxGoal = 16 << 10

// goalProblem judges the goal of a run that a call would begin as that of a run which a caller asks for.
func goalProblem(family Family, tool catalog.Tool, p Proposal, args map[string]any) (_ document.Problem, ok bool) {
	if tool.Pattern == "" || tool.Goal == "" {
		return document.Problem{}, true
	}
	reason := family.Reason("bad_args", tool.Name)
	goal, isText := args[tool.Goal].(string)
	switch at := p.At.Member(tool.Goal); {
	case !isText, ijson.Blank(goal):
		return document.NewProblem(reason, at, args[tool.Goal], "what is wanted of "+tool.Pattern+", in words"), false
	case len(goal) > MaxGoal:
		return document.NewProblem(reason, at, goal, fmt.Sprintf("at most %d bytes", MaxGoal)), false
	}
	return document.Problem{}, true
}
