package gateway

import (
	"maps"
	"slices"

	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Tasks is an accepted list of independent tasks.
type Tasks struct {
	Tasks  []Task
	Filled []document.Filled
}

// Task is one piece of work for one worker. ID and Worker are stripped; Args are as proposed.
type Task struct {
	ID       string         `json:"id"`
	Worker   string         `json:"worker"`
	Args     map[string]any `json:"args"`
	Critical bool           `json:"critical"` // without its result the run fails
}

// TaskRules are the rules that an orchestration plan must fit.
type TaskRules struct {
	Max     int
	Allowed []string // the policy allowlist
	// Fill returns the arguments of a worker that have one possible value, so that a caller may omit them; nil: none.
	Fill func(worker string) map[string]any
	// Goal returns the arguments of a worker that are the run's own goal if the plan does not set them; nil: none.
	Goal func(worker string) map[string]any
	// Critical are workers whose tasks are always critical, for any plan.
	Critical []string
}

// ParseTasks parses and checks an orchestrator's plan (spec/patterns.md section 3, in its order).
func ParseTasks(in document.Intent, rules TaskRules) (Tasks, *document.Refusal) {
	f := document.NewFaults("invalid_plan")
	doc, filled, ok := document.Open(f, in, document.OpenReasons{NotObject: "non_json", BadKind: "kind"}, "plan")
	if !ok {
		return Tasks{}, f.Refusal()
	}
	list := readTasks(doc, rules.Max)
	p := taskParser{Faults: f, caller: in.Caller, rules: rules, ids: document.NewIDs(list), filled: filled}
	plan := Tasks{Tasks: make([]Task, len(list))}
	for i, v := range list {
		plan.Tasks[i] = p.task(v, doc.At.Member("tasks").Index(i))
	}
	if r := f.Refusal(); r != nil {
		return Tasks{}, r
	}
	plan.Filled = p.filled
	return plan, nil
}

// readTasks reads the list of tasks. It is empty if there are none or too many.
func readTasks(o document.Object, most int) []any {
	list, ok := o.Members["tasks"].([]any)
	switch n := len(list); {
	case !ok:
		o.Wrong("tasks", "tasks", taskList(most))
	case n < 1 || n > most:
		o.Wrong("max_tasks", "tasks", taskCount(most, n))
		return nil
	}
	return list
}

type taskParser struct {
	*document.Faults
	caller bool
	rules  TaskRules
	ids    *document.IDs
	filled []document.Filled
}

// task parses and checks the task at a place in the document. A missing member is one fault, and no other fault of that
// member is reported.
func (p *taskParser) task(v any, at ijson.Pointer) Task {
	members, ok := v.(map[string]any)
	if !ok {
		p.Add("task_shape", at, v, taskObject)
		return Task{}
	}
	if p.caller {
		members = p.fill(members, at)
	} else {
		members = p.goal(members)
	}
	o := document.Object{Faults: p.Faults, Members: members, At: at}
	for _, key := range taskMembers {
		if !o.Has(key) {
			o.Wrong("missing_keys", key, onlyTaskMembers).Fix = p.otherName(o, key)
		}
	}
	var t Task
	if o.Has("id") {
		t.ID = o.ID(p.ids, "task_id", "duplicate_task_id")
	}
	if o.Has("worker") {
		t.Worker, _ = o.Name("worker", document.NameReasons{Missing: "worker", NotAllowed: "worker_not_allowed"}, p.rules.Allowed)
	}
	if t.Args, ok = members["args"].(map[string]any); !ok && o.Has("args") {
		o.Wrong("args", "args", argumentsObject).Fix = document.AsObject(o.At.Member("args"), members["args"])
	}
	if t.Critical, ok = members["critical"].(bool); !ok && o.Has("critical") {
		o.Wrong("critical", "critical", aBool).Fix = document.Retype("boolean", at.Member("critical"), members["critical"])
	}
	t.Critical = t.Critical || slices.Contains(p.rules.Critical, t.Worker)
	return t
}

var taskMembers = []string{"id", "worker", "args", "critical"}

// otherName returns the fix for a missing member that the task has under another name; nil if it has none.
func (p *taskParser) otherName(o document.Object, key string) *document.Fix {
	return o.OtherName(key, ofTask(p.rules.Allowed), taskMembers...)
}

// goal returns a model's task. If the plan omits the worker's goal arguments, it sets them to the run's goal.
func (p *taskParser) goal(obj map[string]any) map[string]any {
	worker, _ := document.Text(obj["worker"])
	args, isObject := obj["args"].(map[string]any)
	if p.rules.Goal == nil || !isObject || !slices.Contains(p.rules.Allowed, worker) {
		return obj
	}
	obj = maps.Clone(obj)
	obj["args"] = withAbsent(args, p.rules.Goal(worker))
	return obj
}

// withAbsent returns args with those of others that args lack.
func withAbsent(args, others map[string]any) map[string]any {
	all := maps.Clone(args)
	for _, name := range sortedKeys(others) {
		if _, set := all[name]; !set {
			all[name] = others[name]
		}
	}
	return all
}

// fill returns the task with what the caller may omit: critical, and the arguments that have only one possible value.
func (p *taskParser) fill(obj map[string]any, at ijson.Pointer) map[string]any {
	obj = maps.Clone(obj)
	if _, there := obj["critical"]; !there {
		worker, _ := document.Text(obj["worker"])
		critical := slices.Contains(p.rules.Critical, worker)
		obj["critical"] = critical
		p.filled = append(p.filled, document.Filled{Pointer: at.Member("critical"), Value: critical})
	}
	given, there := obj["args"]
	if !there && p.otherName(document.Object{Members: obj}, "args") != nil {
		return obj // the arguments have another name
	}
	if !there {
		given = map[string]any{}
	}
	args, isObject := given.(map[string]any)
	if !isObject {
		return obj
	}
	full := maps.Clone(args)
	fill := p.onlyValues(obj)
	for _, name := range sortedKeys(fill) {
		if _, set := full[name]; !set {
			full[name] = fill[name]
			p.filled = append(p.filled, document.Filled{Pointer: at.Member("args").Member(name), Value: fill[name]})
		}
	}
	if !there && len(fill) == 0 {
		p.filled = append(p.filled, document.Filled{Pointer: at.Member("args"), Value: full})
	}
	obj["args"] = full
	return obj
}

// onlyValues returns the arguments of the task's worker that have only one possible value.
func (p *taskParser) onlyValues(obj map[string]any) map[string]any {
	worker, _ := document.Text(obj["worker"])
	if !slices.Contains(p.rules.Allowed, worker) {
		return nil
	}
	only := map[string]any{}
	if p.rules.Fill != nil {
		maps.Copy(only, p.rules.Fill(worker))
	}
	if p.rules.Goal != nil {
		maps.Copy(only, p.rules.Goal(worker))
	}
	return only
}

// ofTask returns other names of the members of a task.
func ofTask(allowed []string) []document.Synonym {
	return []document.Synonym{
		{Name: "id", Words: []string{"taskid", "workerid"}, As: document.Textual},
		{Name: "worker", Words: slices.Concat(document.WordsOfTool, []string{"workername", "agent", "assignee"}), As: document.NamedIn(allowed)}, document.ArgsSynonym(),
	}
}
