package cli_test

import (
	"fmt"
	"math"
	"slices"

	"patterngate/ijson"
)

// heldPlan is a plan as one result shows it.
type heldPlan struct {
	ids    []string
	rows   map[string]map[string]any
	before map[string][]string // what must be completed before a subtask runs
}

// holdsTogether judges a result with a plan by itself.
func (j *planJudge) holdsTogether(at ijson.Pointer, got map[string]any) {
	rows, where := got["subtasks"], at.Member("subtasks")
	plan, whole := got["plan"].(map[string]any)
	if whole {
		rows, where = plan["subtasks"], at.Member("plan").Member("subtasks")
	}
	list, is := rows.([]any)
	if !is || got["plan_status"] == nil {
		return
	}
	p, err := readHeldPlan(list)
	if err != nil {
		j.fault(where, "%v", err)
		return
	}
	counts, _ := got["plan_status"].(map[string]any)
	if counts["total"] != float64(len(p.ids)) {
		if whole {
			j.fault(at.Member("plan_status").Member("total"), "got %v; there are %d rows", counts["total"], len(p.ids))
		}
		return // of plan_status, with completed ones left out
	}
	j.runInOrder(where, p)
	j.counted(at, p, got)
	j.idLists(at, p, got)
	j.resultsOf(at, p, got)
	if levels, is := got["levels"].([]any); is {
		j.levelsOf(at.Member("levels"), p, levels)
	}
}

func readHeldPlan(list []any) (heldPlan, error) {
	p := heldPlan{rows: map[string]map[string]any{}, before: map[string][]string{}}
	for i, v := range list {
		row, _ := v.(map[string]any)
		id, _ := row["id"].(string)
		if id == "" || p.rows[id] != nil {
			return p, fmt.Errorf("row %d has the id %s; want one of its own", i, show(row["id"]))
		}
		p.ids, p.rows[id] = append(p.ids, id), row
	}
	own := map[string][]string{} // dependencies and children
	for _, id := range p.ids {
		dependencies, _ := p.rows[id]["dependencies"].([]any)
		for _, d := range dependencies {
			if name, _ := d.(string); p.rows[name] != nil { // a tombstone counts as done
				own[id] = append(own[id], name)
			}
		}
		if parent, _ := p.rows[id]["parent"].(string); p.rows[parent] != nil {
			own[parent] = append(own[parent], id)
		}
	}
	for _, id := range p.ids {
		p.before[id] = p.waitsFor(id, own)
	}
	return p, nil
}

// waitsFor are a subtask's own dependencies and children, and what its ancestors depend on, their descendants excepted.
func (p heldPlan) waitsFor(id string, own map[string][]string) []string {
	list := slices.Clone(own[id])
	for up, steps := p.parent(id), 0; up != "" && steps < len(p.ids); up, steps = p.parent(up), steps+1 {
		for _, d := range own[up] {
			if !p.descends(d, up) {
				list = append(list, d)
			}
		}
	}
	return list
}

func (p heldPlan) parent(id string) string {
	parent, _ := p.rows[id]["parent"].(string)
	if p.rows[parent] == nil {
		return ""
	}
	return parent
}

func (p heldPlan) descends(id, from string) bool {
	for steps := 0; id != "" && steps <= len(p.ids); steps++ {
		if id = p.parent(id); id == from {
			return true
		}
	}
	return false
}

func (p heldPlan) status(id string) string {
	status, _ := p.rows[id]["status"].(string)
	return status
}

// with are the subtasks of a status, in plan order.
func (p heldPlan) with(status string) []string {
	return p.those(func(id string) bool { return p.status(id) == status })
}

func (p heldPlan) those(which func(id string) bool) []string {
	var list []string
	for _, id := range p.ids {
		if which(id) {
			list = append(list, id)
		}
	}
	return list
}

func (p heldPlan) runnable(id string) bool {
	return p.status(id) == "pending" && !slices.ContainsFunc(p.before[id], func(d string) bool { return p.status(d) != "completed" })
}

// runInOrder holds that nothing ran before what it waits for, and that nothing waits for what will not come.
func (j *planJudge) runInOrder(at ijson.Pointer, p heldPlan) {
	for i, id := range p.ids {
		for _, d := range p.before[id] {
			switch status := p.status(d); p.status(id) {
			case "completed", "in_progress", "failed", "skipped", "in_doubt":
				if status != "completed" {
					j.fault(at.Index(i), "%s is %s, although %s, which must be completed before, is %s", id, p.status(id), d, status)
				}
			case "pending":
				if slices.Contains([]string{"failed", "skipped", "blocked"}, status) {
					j.fault(at.Index(i), "%s is pending behind %s, which is %s", id, d, status)
				}
			}
		}
	}
}

// counted holds that the counts are those of the rows.
func (j *planJudge) counted(at ijson.Pointer, p heldPlan, got map[string]any) {
	counts, _ := got["plan_status"].(map[string]any)
	for _, status := range []string{"pending", "in_progress", "completed", "failed", "skipped", "blocked", "in_doubt"} {
		if n := float64(len(p.with(status))); counts[status] != n {
			j.fault(at.Member("plan_status").Member(status), "got %v; the rows say %v", counts[status], n)
		}
	}
	want := 1.0
	if len(p.ids) > 0 {
		want = math.Round(float64(len(p.with("completed")))/float64(len(p.ids))*1e4) / 1e4
	}
	if got["progress"] != want {
		j.fault(at.Member("progress"), "got %v; the rows say %v", got["progress"], want)
	}
}

// idLists holds that the lists of ids are the rows of that status, in plan order.
func (j *planJudge) idLists(at ijson.Pointer, p heldPlan, got map[string]any) {
	for name, status := range map[string]string{"running": "in_progress", "failed": "failed", "skipped": "skipped", "blocked": "blocked", "in_doubt": "in_doubt"} {
		if want := p.with(status); !slices.Equal(texts(got[name]), want) {
			j.fault(at.Member(name), "got %s; the rows say %q", show(got[name]), want)
		}
	}
	ready, waiting := texts(got["ready"]), texts(got["waiting"])
	for _, list := range []struct {
		name string
		ids  []string
	}{{"ready", ready}, {"waiting", waiting}} {
		if want := p.those(func(id string) bool { return slices.Contains(list.ids, id) && p.runnable(id) }); !slices.Equal(want, list.ids) {
			j.fault(at.Member(list.name), "got %q; of them, in plan order, %q can run", list.ids, want)
		}
	}
	for _, id := range waiting {
		if slices.Contains(ready, id) || p.rows[id]["tool"] != "caller" {
			j.fault(at.Member("waiting"), "got %q, and %q ready; %s does not wait for its caller, or is ready too", waiting, ready, id)
		}
	}
	if running, _ := got["running"].([]any); len(running) > 0 {
		return // what waits for a retry or a slot is shown by the run
	}
	if all := p.those(p.runnable); len(all) != len(ready)+len(waiting) {
		j.fault(at.Member("ready"), "got %q, and %q waiting; want each of %q in one of them", ready, waiting, all)
	}
}

// resultsOf holds that results are those of completed subtasks, and history is in plan order.
func (j *planJudge) resultsOf(at ijson.Pointer, p heldPlan, got map[string]any) {
	completed := p.with("completed")
	if results, is := got["subtask_results"].(map[string]any); is {
		if want := slices.Sorted(slices.Values(completed)); !slices.Equal(sortedNames(results), want) {
			j.fault(at.Member("subtask_results"), "got those of %q; completed are %q", sortedNames(results), want)
		}
	}
	history, _ := got["history"].([]any)
	var ids []string
	for _, v := range history {
		row, _ := v.(map[string]any)
		id, _ := row["subtask_id"].(string)
		ids = append(ids, id)
	}
	if want := p.those(func(id string) bool { return slices.Contains(ids, id) && p.status(id) == "completed" }); !slices.Equal(ids, want) {
		j.fault(at.Member("history"), "got rows of %q; of them, completed and in plan order, are %q", ids, want)
	}
}

// levelsOf holds that each subtask stands once, after what it waits for.
func (j *planJudge) levelsOf(at ijson.Pointer, p heldPlan, levels []any) {
	level := map[string]int{}
	for i, v := range levels {
		for _, id := range texts(v) {
			if _, twice := level[id]; twice || p.rows[id] == nil {
				j.fault(at.Index(i), "%s stands there, and twice or although it is no subtask", id)
			}
			level[id] = i
		}
	}
	for _, id := range p.ids {
		own, stands := level[id]
		if !stands {
			j.fault(at, "%s stands in no level", id)
		}
		for _, d := range p.before[id] {
			if level[d] >= own {
				j.fault(at.Index(own), "%s stands there, and %s, which must be completed before, in level %d", id, d, level[d])
			}
		}
	}
}

func texts(v any) []string {
	list, _ := v.([]any)
	var all []string
	for _, item := range list {
		text, _ := item.(string)
		all = append(all, text)
	}
	return all
}
