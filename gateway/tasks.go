package gateway

import (
	"fmt"
	"maps"

	"patterngate/ijson"
)

// Tasks is an accepted list of independent tasks.
type Tasks struct {
	Tasks  []Task
	Filled []Filled
}

// Task is one piece of work for one worker. ID and Worker are stripped; Args are as proposed.
type Task struct {
	ID       string         `json:"id"`
	Worker   string         `json:"worker"`
	Args     map[string]any `json:"args"`
	Critical bool           `json:"critical"` // without its result the run fails
}

// TaskRules bound an orchestration plan.
type TaskRules struct {
	Max     int
	Allowed []string // the policy allowlist
	// Fill are the arguments with one possible value, of a worker, that a caller may leave out; nil: none.
	Fill func(worker string) map[string]any
}

var taskKeys = []string{"id", "worker", "args", "critical"}

// ParseTasks judges an orchestrator's plan (spec/patterns.md section 3, in its order).
func ParseTasks(in Intent, rules TaskRules) (Tasks, *Refusal) {
	f := &faults{family: "invalid_plan"}
	doc, filled := openDocument(f, in, openReasons{"non_json", "kind"}, "plan")
	if doc == nil {
		return Tasks{}, f.refusal()
	}
	list, ok := doc["tasks"].([]any)
	at := in.At.Member("tasks")
	want := fmt.Sprintf("1 to %d tasks", rules.Max)
	if !ok {
		f.add("tasks", at, member(doc, "tasks"), "a list of "+want)
		return Tasks{}, f.refusal()
	}
	if len(list) < 1 || len(list) > rules.Max {
		f.add("max_tasks", at, list, fmt.Sprintf("%s, not %d", want, len(list)))
		return Tasks{}, f.refusal()
	}
	plan := Tasks{Tasks: make([]Task, len(list)), Filled: filled}
	p := taskParser{f: f, caller: in.Caller, rules: rules, ids: newIDs(list)}
	for i, v := range list {
		plan.Tasks[i] = p.task(v, at.Index(i))
	}
	plan.Filled = append(plan.Filled, p.filled...)
	if r := f.refusal(); r != nil {
		return Tasks{}, r
	}
	return plan, nil
}

type taskParser struct {
	f      *faults
	caller bool
	rules  TaskRules
	ids    *idSet
	filled []Filled
}

func (p *taskParser) task(v any, at ijson.Pointer) Task {
	obj, ok := v.(map[string]any)
	if !ok {
		p.f.add("task_shape", at, v, "an object {id, worker, args, critical}")
		return Task{}
	}
	if p.caller {
		obj = p.fill(obj, at)
	}
	for _, key := range taskKeys {
		if _, there := obj[key]; !there {
			p.f.add("missing_keys", at.Member(key), Missing, "id, worker, args and critical")
		}
	}
	var t Task
	if _, there := obj["id"]; there {
		t.ID = p.ids.take(p.f, obj["id"], at.Member("id"), idReasons{"task_id", "duplicate_task_id"}, obj["id"])
	}
	if _, there := obj["worker"]; there {
		t.Worker = allowedName(p.f, obj, "worker", at, nameRules{"worker", "worker_not_allowed", p.rules.Allowed})
	}
	p.argsAndCritical(&t, obj, at)
	return t
}

func (p *taskParser) argsAndCritical(t *Task, obj map[string]any, at ijson.Pointer) {
	var ok bool
	if v, there := obj["args"]; there {
		if t.Args, ok = v.(map[string]any); !ok {
			p.f.add("args", at.Member("args"), v, "an object of arguments")
		}
	}
	if v, there := obj["critical"]; there {
		if t.Critical, ok = v.(bool); !ok {
			p.f.add("critical", at.Member("critical"), v, "true or false").Fix = asBool(at.Member("critical"), v)
		}
	}
}

// fill returns the task with what the caller may leave out: critical, and the arguments that can only have one value.
func (p *taskParser) fill(obj map[string]any, at ijson.Pointer) map[string]any {
	obj = maps.Clone(obj)
	if _, there := obj["critical"]; !there {
		obj["critical"] = false
		p.filled = append(p.filled, Filled{at.Member("critical"), false})
	}
	given, there := obj["args"]
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
			p.filled = append(p.filled, Filled{at.Member("args").Member(name), fill[name]})
		}
	}
	if !there && len(fill) == 0 {
		p.filled = append(p.filled, Filled{at.Member("args"), full})
	}
	obj["args"] = full
	return obj
}

// onlyValues are the arguments of the task's worker that can only have one value.
func (p *taskParser) onlyValues(obj map[string]any) map[string]any {
	worker, _ := text(obj["worker"])
	if p.rules.Fill == nil || !contains(p.rules.Allowed, worker) {
		return nil
	}
	return p.rules.Fill(worker)
}
