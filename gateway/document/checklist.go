package document

import (
	"regexp"
	"strconv"
	"strings"

	"patterngate/ijson"
)

// FromText reads a plan that the caller sent as a text, where at is its place. A text that begins with { or [ is JSON; any other is a
// checklist.
func FromText(text string, at ijson.Pointer) Intent {
	if begin := ijson.Trim(text); strings.HasPrefix(begin, "{") || strings.HasPrefix(begin, "[") {
		in := ReadReply(text)
		in.Caller, in.At = true, at
		if in.fault != nil {
			in.fault.Pointer = at + in.fault.Pointer
		} else {
			in.text = ""
		}
		return in
	}
	in := Intent{Caller: true, At: at, text: text, checklist: true}
	subtasks := items(text, &in.done)
	if len(subtasks) == 0 {
		in.fault = &ijson.Fault{Pointer: at, Reason: jsonOrChecklist}
		return in
	}
	in.value = map[string]any{"kind": "plan", "subtasks": subtasks}
	return in
}

// checkItem is a line of a checklist: "- [ ] text" or "1. [x] text".
var checkItem = regexp.MustCompile(`^(?:[-*+]|([0-9]+)[.)])\s+\[([ xX])\]\s+(\S.*)$`)

// items returns the items of a checklist as subtasks item_1, item_2, .... It adds the ids of the ticked items to done. A numbered item
// depends on the item before it.
func items(text string, done *[]string) []any {
	var subtasks []any
	last := ""
	for line := range strings.Lines(text) {
		item := checkItem.FindStringSubmatch(ijson.Trim(line))
		if item == nil {
			continue
		}
		id, dependencies := "item_"+strconv.Itoa(len(subtasks)+1), []any{}
		if numbered := item[1] != ""; numbered && last != "" {
			dependencies = append(dependencies, last)
		}
		if item[2] != " " {
			*done = append(*done, id)
		}
		subtasks = append(subtasks, map[string]any{"id": id, "description": item[3], "dependencies": dependencies})
		last = id
	}
	return subtasks
}
