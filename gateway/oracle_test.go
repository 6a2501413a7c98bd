package gateway_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The four validations as spec/patterns.md sections 2 to 5 tell them, under section 0: the first fault and no other,
// without pointers, repairs or fills. They are written from that text alone, to be compared with the parsers.

func stripped(v any) (string, bool) {
	s, ok := v.(string)
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
	return s, ok && s != ""
}

func beyond(obj map[string]any, known ...string) bool {
	for name := range obj {
		if !slices.Contains(known, name) {
			return true
		}
	}
	return false
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

func firstPlanFault(doc any, least, most int, allowed []string) string {
	obj, ok := doc.(map[string]any)
	steps, isList := obj["steps"].([]any)
	switch {
	case !ok:
		return "not_object"
	case obj["kind"] != "plan":
		return "bad_kind"
	case beyond(obj, "kind", "steps"):
		return "extra_keys"
	case !isList || len(steps) == 0:
		return "missing_steps"
	case len(steps) < least:
		return "min_steps"
	case len(steps) > most:
		return "max_steps"
	}
	seen := map[string]bool{}
	for i, v := range steps {
		if fault := stepFault(v, seen, allowed); strings.HasPrefix(fault, "_") {
			return fmt.Sprintf("step_%d%s", i+1, fault)
		} else if fault != "" {
			return fault
		}
	}
	return ""
}

func stepFault(v any, seen map[string]bool, allowed []string) string {
	step, ok := v.(map[string]any)
	id, hasID := stripped(step["id"])
	_, hasTitle := stripped(step["title"])
	tool, hasTool := stripped(step["tool"])
	switch {
	case !ok:
		return "_not_object"
	case beyond(step, "id", "title", "tool", "args"):
		return "_extra_keys"
	case !hasID:
		return "_missing_id"
	case seen[id]:
		return "duplicate_step_id"
	case !hasTitle:
		return "_missing_title"
	case !hasTool:
		return "_missing_tool"
	case !slices.Contains(allowed, tool):
		return "tool_not_allowed:" + tool
	case step["args"] != nil && !isObject(step["args"]):
		return "_bad_args"
	}
	seen[id] = true
	return ""
}

func firstTasksFault(doc any, most int, allowed []string) string {
	obj, ok := doc.(map[string]any)
	tasks, isList := obj["tasks"].([]any)
	switch {
	case !ok:
		return "non_json"
	case obj["kind"] != "plan":
		return "kind"
	case !isList:
		return "tasks"
	case len(tasks) < 1 || len(tasks) > most:
		return "max_tasks"
	}
	seen := map[string]bool{}
	for _, v := range tasks {
		if fault := taskFault(v, seen, allowed); fault != "" {
			return fault
		}
	}
	return ""
}

func taskFault(v any, seen map[string]bool, allowed []string) string {
	task, ok := v.(map[string]any)
	if !ok {
		return "task_shape"
	}
	for _, key := range []string{"id", "worker", "args", "critical"} {
		if _, there := task[key]; !there {
			return "missing_keys"
		}
	}
	id, hasID := stripped(task["id"])
	worker, hasWorker := stripped(task["worker"])
	_, isBool := task["critical"].(bool)
	switch {
	case !hasID:
		return "task_id"
	case seen[id]:
		return "duplicate_task_id"
	case !hasWorker:
		return "worker"
	case !slices.Contains(allowed, worker):
		return "worker_not_allowed:" + worker
	case !isObject(task["args"]):
		return "args"
	case !isBool:
		return "critical"
	}
	seen[id] = true
	return ""
}

func firstRouteFault(doc any, allowed, forbidden []string) string {
	obj, ok := doc.(map[string]any)
	target, hasTarget := stripped(obj["target"])
	args, _ := obj["args"].(map[string]any)
	_, hasTicket := stripped(args["ticket"])
	switch {
	case !ok:
		return "not_object"
	case obj["kind"] != "route":
		return "bad_kind"
	case beyond(obj, "kind", "target", "args"):
		return "extra_keys"
	case !hasTarget:
		return "missing_target"
	case !slices.Contains(allowed, target):
		return "route_not_allowed:" + target
	case obj["args"] != nil && !isObject(obj["args"]):
		return "bad_args"
	case !hasTicket:
		return "missing_ticket"
	case slices.Contains(forbidden, target):
		return "repeat_target_after_reroute"
	}
	return ""
}

// refundArgs are the arguments of the refund tools as section 5 lists them: name, type, and ? for optional.
var refundArgs = map[string][][2]string{
	"get_refund_context": {{"user_id", "int"}},
	"issue_refund":       {{"user_id", "int"}, {"amount_usd", "number"}, {"reason", "str?"}},
	"send_refund_email":  {{"user_id", "int"}, {"amount_usd", "number"}, {"message", "str"}},
}

func firstActionFault(doc any) string {
	obj, ok := doc.(map[string]any)
	if !ok {
		return "not_object"
	}
	switch obj["kind"] {
	case "final":
		_, answered := stripped(obj["answer"])
		switch {
		case beyond(obj, "kind", "answer"):
			return "extra_keys_final"
		case !answered:
			return "bad_final_answer"
		}
		return ""
	case "tool":
		return firstCallFault(obj)
	}
	return "bad_kind"
}

func firstCallFault(obj map[string]any) string {
	name, named := stripped(obj["name"])
	switch {
	case beyond(obj, "kind", "name", "args"):
		return "extra_keys_tool"
	case !named:
		return "bad_tool_name"
	case obj["args"] != nil && !isObject(obj["args"]):
		return "bad_tool_args"
	case refundArgs[name] == nil:
		return "unknown_tool:" + name
	}
	args, _ := obj["args"].(map[string]any)
	var known []string
	for _, arg := range refundArgs[name] {
		known = append(known, arg[0])
	}
	if beyond(args, known...) {
		return "extra_tool_args:" + name
	}
	for _, arg := range refundArgs[name] {
		v, given := args[arg[0]]
		if !given && !strings.HasSuffix(arg[1], "?") {
			return "missing_required_arg:" + name + ":" + arg[0]
		}
		if given && !hasType(v, arg[1]) {
			return "bad_arg_type:" + name + ":" + arg[0]
		}
	}
	return ""
}

func hasType(v any, kind string) bool {
	number, isNumber := v.(float64)
	_, isText := stripped(v)
	switch kind {
	case "int":
		return isNumber && number == math.Trunc(number) && math.Abs(number) <= 1<<53-1
	case "number":
		return isNumber
	}
	return isText
}
