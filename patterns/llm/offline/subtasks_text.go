package offline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"patterngate/gateway/planning"
	"patterngate/ijson"
	"patterngate/patterns"
)

// readPlanned reads a question for a plan of subtasks. Its payload has no inputs of a run; its context is read for values
// that the goal leaves out, and for nothing else.
func (r *Rules) readPlanned(q patterns.Question) *reading {
	x := r.read(q)
	x.follow = follow{inputs: map[string]any{}}
	if text, ok := q.Payload["context"].(string); ok && !ijson.Blank(text) {
		x.context = r.read(patterns.Question{Payload: map[string]any{"goal": text}, Tools: q.Tools, Hidden: q.Hidden})
	}
	return x
}

// supply takes what this reading's text holds for the arguments of a reading tool that are missing: the one value that is
// clearly meant.
func (r *reading) supply(f *filled, i int) {
	if len(f.missing) == 0 || r.tools[i].arguments[0].tool.writes {
		return
	}
	own := filled{args: map[string]any{}, several: map[string]any{}}
	for _, a := range r.tools[i].arguments {
		if !slices.Contains(f.missing, a.Name) || f.several[a.Name] != nil || !a.linkable() {
			continue
		}
		r.choose(&own, a, r.rank(a, nil, follow{}))
		if v, ok := own.args[a.Name]; ok && own.moreOf != a.Name {
			f.args[a.Name] = v
			f.missing = slices.DeleteFunc(f.missing, func(name string) bool { return name == a.Name })
		}
	}
}

// document is the plan by its strategy.
func (d *draft) document() string {
	p := d.r.payload
	limit := d.r.limit("max_subtasks", usualSubtasks)
	switch planning.Strategy(textOf(p["strategy"])) {
	case planning.Iterative:
		return d.round(limit)
	case planning.Hierarchical:
		return d.tree(limit)
	}
	d.fit(limit)
	return planJSON(d.rows(d.names(nil, nil)), nil)
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

func planJSON(rows []any, complete *bool) string {
	doc := map[string]any{"kind": "plan", "subtasks": rows}
	if complete != nil {
		doc["planning_complete"] = *complete
	}
	return answerJSON(doc)
}

// maxID bounds an id before it is numbered, in bytes.
const maxID = 56

// idOf is a tool's name as an id: ^[a-z0-9][a-z0-9_-]{0,63}$.
func idOf(name string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, name)
	id = strings.TrimLeft(id, "_-")
	if id == "" {
		return "step"
	}
	return id[:min(len(id), maxID)]
}

// names gives each step an id: that in known where it is done already, else one made of its tool's name that is not used.
func (d *draft) names(known map[int]string, used map[string]bool) []string {
	taken := map[string]bool{}
	for id := range used {
		taken[id] = true
	}
	ids := make([]string, len(d.steps))
	for i, s := range d.steps {
		if id, ok := known[i]; ok {
			ids[i] = id
			continue
		}
		base := idOf(d.r.tools[s.tool].Name)
		for n := 1; ids[i] == "" || taken[ids[i]]; n++ {
			ids[i] = numbered(base, n)
		}
		taken[ids[i]] = true
	}
	return ids
}

// rows are the subtasks of the document, in the order of the steps.
func (d *draft) rows(ids []string) []any {
	rows := make([]any, len(d.steps))
	for i := range d.steps {
		rows[i] = d.row(i, ids)
	}
	return rows
}

func (d *draft) row(i int, ids []string) map[string]any {
	s := d.steps[i]
	args := map[string]any{}
	for name, v := range s.args {
		args[name] = asWritten(v)
	}
	for name, f := range s.from {
		args[name] = reference(ids[f.step], f.out)
	}
	before := []any{}
	for _, k := range d.waitsFor(i) {
		before = append(before, ids[k])
	}
	return map[string]any{
		"id": ids[i], "description": d.describe(i), "dependencies": before, "tool": d.r.tools[s.tool].Name, "args": args,
	}
}

// asWritten keeps a text of the goal from being read as a reference.
func asWritten(v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "$") && (strings.HasPrefix(v, "$$") || strings.HasPrefix(v, "$results.")) {
			return "$" + v
		}
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = asWritten(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[name] = asWritten(item)
		}
		return object
	}
	return v
}

// tree returns the plan below one root. The root joins the results, which is the client's work, because no tool does that. If
// only one other step needs the result of a step, the step is a child of that one, as far as max_depth allows.
func (d *draft) tree(limit int) string {
	deepest := d.r.limit("max_depth", usualDepth)
	if deepest < 2 || limit < 3 || len(d.steps) < 2 {
		d.fit(limit)
		return planJSON(d.rows(d.names(nil, nil)), nil)
	}
	d.fit(limit - 1)
	ids := d.names(nil, map[string]bool{rootID: true})
	parents := d.parents(deepest)
	rows := d.rows(ids)
	for i, parent := range parents {
		row := rows[i].(map[string]any)
		row["parent"] = rootID
		if parent >= 0 {
			row["parent"] = ids[parent]
			above := rows[parent].(map[string]any)
			above["dependencies"] = slices.DeleteFunc(above["dependencies"].([]any), func(id any) bool { return id == ids[i] })
		}
	}
	root := map[string]any{
		"id": rootID, "tool": planning.CallerExecutor, "dependencies": []any{}, "args": map[string]any{},
		"description": joinResults(strings.TrimRight(line(d.r.goal.Text, 600), " ?!")),
	}
	return planJSON(append(rows, root), nil)
}

const rootID = "answer"

// parents are the steps that take the result of a step and of which no other takes it, -1 where there is none.
func (d *draft) parents(deepest int) []int {
	parents := make([]int, len(d.steps))
	depth := make([]int, len(d.steps))
	for i := len(d.steps) - 1; i >= 0; i-- {
		parents[i], depth[i] = -1, 2
		if k := d.onlyTaker(i); k >= 0 && depth[k] < deepest && d.takesAlone(k) {
			parents[i], depth[i] = k, depth[k]+1
		}
	}
	return parents
}

// onlyTaker is the one step that waits for the i-th and takes its result, or -1.
func (d *draft) onlyTaker(i int) int {
	only := -1
	for k := range d.steps {
		if !slices.Contains(d.waitsFor(k), i) {
			continue
		}
		if only >= 0 || !d.steps[k].takesFrom(i) {
			return -1
		}
		only = k
	}
	return only
}

// takesAlone reports whether all that the i-th step waits for is there for it alone. Else what it waits for besides would
// hold up its children as well.
func (d *draft) takesAlone(i int) bool {
	return !slices.ContainsFunc(d.waitsFor(i), func(k int) bool { return d.onlyTaker(k) != i })
}

// round is the next few steps of the whole plan, by what is done.
func (d *draft) round(limit int) string {
	d.fit(limit)
	past := historyOf(d.r.payload)
	known := map[int]string{}
	for i := range d.steps {
		if id, ok := past.take(idOf(d.r.tools[d.steps[i].tool].Name), d.describe(i)); ok {
			known[i] = id
		}
	}
	ids, gone := d.names(known, past.used), d.skipped(known, past)
	room := max(0, min(perRound, limit-len(past.used)))
	rows, left := []any{}, 0
	for i := range d.steps {
		_, done := known[i]
		switch {
		case done || gone[i]:
		case len(rows) == room:
			left++
		default:
			rows = append(rows, d.row(i, ids))
		}
	}
	complete := left == 0 || room == 0
	return planJSON(rows, &complete)
}

// skipped are the steps that an earlier round held and gave up, and those that wait for one of them.
func (d *draft) skipped(known map[int]string, past history) []bool {
	gone := make([]bool, len(d.steps))
	for i, id := range d.names(known, nil) {
		_, done := known[i]
		gone[i] = !done && past.used[id] && !past.done[id] || slices.ContainsFunc(d.waitsFor(i), func(k int) bool { return gone[k] })
	}
	return gone
}

// history is what earlier rounds of a plan did.
type history struct {
	ids  map[string][]string // of what is done, by description
	done map[string]bool     // by id
	used map[string]bool
}

func historyOf(payload map[string]any) history {
	h := history{ids: map[string][]string{}, done: map[string]bool{}, used: map[string]bool{}}
	rows, _ := payload["completed"].([]any)
	for _, row := range rows {
		o, _ := row.(map[string]any)
		if id := textOf(o["id"]); id != "" {
			h.used[id], h.done[id] = true, true
			h.ids[textOf(o["description"])] = append(h.ids[textOf(o["description"])], id)
		}
	}
	for _, id := range textsOf(payload["used_ids"]) {
		h.used[id] = true
	}
	return h
}

// take is the id under which a step was done, by its description, once.
func (h history) take(base, description string) (string, bool) {
	for at, id := range h.ids[description] {
		if strings.HasPrefix(id, base) {
			h.ids[description] = slices.Delete(h.ids[description], at, at+1)
			return id, true
		}
	}
	return "", false
}

// resultsTold are the results of a plan's subtasks as sentences, in the order of their ids, item_2 before item_10.
func resultsTold(results map[string]any, said map[string]bool) []string {
	ids := slices.SortedFunc(maps.Keys(results), byNumberedName)
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = observed(id, results[id], said)
	}
	return parts
}

func byNumberedName(a, b string) int {
	name := func(id string) string { return strings.TrimRight(id, "0123456789") }
	return cmp.Or(strings.Compare(name(a), name(b)), cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
