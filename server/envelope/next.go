package envelope

import (
	"maps"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// The values of next.action.
const (
	ActionAnswer = "answer_user"
	ActionFix    = "fix_and_retry"
	ActionCall   = "call"
	ActionTell   = "tell_user"
	ActionEnd    = "end_turn"
	ActionDone   = "done" // nothing more to do
)

// Next says what the reader should do now (spec/surface.md section 1, next). It is made from the record. The reader
// fills in only the places that fill points to.
type Next struct {
	Action    string             `json:"action"`
	Tool      string             `json:"tool,omitempty"`
	Arguments map[string]any     `json:"arguments,omitzero"` // absent if larger than 8 KiB
	Changed   []arguments.Change `json:"changed,omitzero"`
	Fill      []ijson.Pointer    `json:"fill,omitzero"`
	Say       string             `json:"say,omitempty"` // for the person
	Wait      int                `json:"wait_seconds,omitempty"`
}

// Showable returns the arguments, or nil if they are too large to show.
func Showable(args map[string]any) map[string]any {
	if len(ijson.Canonical(args)) > maxArguments {
		return nil
	}
	return args
}

// maxArguments is the largest size of next.arguments in bytes. Larger ones are left out.
const maxArguments = 8 << 10

// fewer limits the advice to send results to some of the subtasks. It does not change other advice.
func (n Next) fewer(ready []patterns.ReadySubtask) Next {
	if len(n.Fill) == 0 {
		return n
	}
	results := map[string]any{}
	n.Fill = []ijson.Pointer{}
	for _, r := range ready {
		results[r.ID] = EmptyResult()
		n.Fill = append(n.Fill, ijson.Pointer("/results").Member(r.ID))
	}
	n.Arguments = maps.Clone(n.Arguments)
	if n.Arguments != nil {
		n.Arguments["results"] = results
	}
	return n
}

// squeezed returns the advice without the reader's own arguments, if they are long, and with short texts.
func (n Next) squeezed(bytes int) Next {
	if len(ijson.Canonical(n.Arguments)) > max(bytes, enoughToContinue) {
		n.Arguments = nil
	}
	n.Say = sentence.Short(n.Say, 4*bytes)
	n.Changed = slices.DeleteFunc(slices.Clone(n.Changed), func(c arguments.Change) bool { return isLong(c.Pointer, bytes) })
	n.Fill = slices.DeleteFunc(slices.Clone(n.Fill), func(at ijson.Pointer) bool { return isLong(at, bytes) })
	if bytes < 64 { // the last squeeze
		n.Changed, n.Fill = n.Changed[:min(1, len(n.Changed))], n.Fill[:min(1, len(n.Fill))]
	}
	return n
}
