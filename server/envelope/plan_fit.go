package envelope

import (
	"maps"
	"slices"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/sentence"
)

// A planning result that exceeds the size limit is cut in the order of spec/planning-reference.md section 15. Results
// are cut first, then the oldest rows of trace and history, then levels, then the last subtasks. After that come the
// other parts that grow with the plan. If it is still too long, it is squeezed like any other result.

// maxShownResult is the size in bytes up to which one result is shown whole. Of longer results only the beginning is
// shown.
const maxShownResult = 8 << 10

// fitting is a planning result while it is cut. It changes only its own copy of the envelope.
type fitting struct {
	Envelope
	results []ownResult
	space   *Scratch
	limit   int
}

// ownResult is a value that a subtask returned or receives, at one place of the envelope.
type ownResult struct {
	value any
	size  int // bytes as JSON
	head  int // 0: whole
	set   func(any)
}

// planned reports whether a result belongs to planning.
func (e *Envelope) planned() bool {
	_, waits := e.WaitingFor.(*PlanWait)
	return waits || e.PlanStatus != nil || e.planOf() != nil || e.Results != nil || e.Preserved != nil
}

// Fitted returns the envelope cut to the limit, as far as this is possible by cutting the parts that grow with a plan.
func (e Envelope) Fitted(space *Scratch, limit int) (Envelope, error) {
	if !e.planned() {
		return e, nil
	}
	f := &fitting{Envelope: e, space: space, limit: limit}
	over, err := f.over()
	if err != nil || over <= maxShownResult-limit { // no single result can be longer than that
		return e, err
	}
	f.collect()
	for i := range f.results {
		if f.results[i].size > maxShownResult {
			f.cutTo(&f.results[i], firstHead)
		}
	}
	steps := []func(over int) bool{
		f.cutLongest, f.shortenHeads, f.dropRuns, f.dropLevels, f.dropSubtasks, f.dropReady, f.dropResults, f.shortenRevisions, f.dropIDs,
	}
	if f.CursorAt != nil { // the caller asked for the rows
		steps = []func(over int) bool{
			f.cutLongest, f.shortenHeads, f.dropRuns, f.dropReady, f.dropLater, f.shortenRevisions, f.dropIDs, f.dropSubtasks,
		}
	}
	for len(steps) > 0 {
		if over, err = f.over(); err != nil || over <= 0 {
			break
		}
		if !steps[0](over) {
			steps = steps[1:]
		}
	}
	return f.Envelope, err
}

// over returns by how many bytes the longer channel exceeds the limit.
func (f *fitting) over() (int, error) {
	v, err := newView(f.Envelope, f.space)
	if err != nil {
		return 0, err
	}
	structured, text, err := v.channels()
	return v.over(structured, text, f.limit), err
}

// collect finds all results that are shown.
func (f *fitting) collect() {
	f.History = slices.Clone(f.History)
	for i, row := range f.History {
		if row, ok := row.(patterns.SubtaskDone); ok {
			f.add(row.Result, func(v any) { row.Result = v; f.History[i] = row })
		}
	}
	f.Results = maps.Clone(f.Results)
	for _, id := range slices.Sorted(maps.Keys(f.Results)) {
		f.add(f.Results[id], func(v any) { f.Results[id] = v })
	}
	f.Subtasks = slices.Clone(f.Subtasks)
	for i, row := range f.Subtasks {
		if row.Result != nil {
			f.add(*row.Result, func(v any) { f.Subtasks[i].Result = &v })
		}
	}
	if w, ok := f.WaitingFor.(*PlanWait); ok {
		own := *w
		own.Ready = slices.Clone(w.Ready)
		f.WaitingFor = &own
		f.collectReady(own.Ready)
	}
}

func (f *fitting) collectReady(ready []patterns.ReadySubtask) {
	for i, r := range ready {
		ready[i].Inputs = maps.Clone(r.Inputs)
		for _, id := range slices.Sorted(maps.Keys(r.Inputs)) {
			f.add(r.Inputs[id], func(v any) { ready[i].Inputs[id] = v })
		}
		if r.Args != nil {
			f.add(r.Args, func(v any) { ready[i].Args, _ = v.(map[string]any) })
		}
	}
}

func (f *fitting) add(v any, set func(any)) {
	r := ownResult{value: v, size: len(ijson.Canonical(v)), set: set}
	if _, _, isCut := CutBefore(v); isCut {
		r.head = firstHead
	}
	f.results = append(f.results, r)
}

// cutTo shows only the beginning of a result and returns how many bytes that saves.
func (f *fitting) cutTo(r *ownResult, head int) int {
	short := cutOf(r.value, head)
	n := len(ijson.Canonical(short))
	if n >= r.size {
		return 0
	}
	saved := r.size - n
	r.set(short)
	r.size, r.head = n, head
	return saved
}

// cutLongest cuts results to their first heads, the longest first, until enough is saved.
func (f *fitting) cutLongest(over int) bool {
	order := make([]int, 0, len(f.results))
	for i, r := range f.results {
		if r.head == 0 && r.size > firstHead {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return f.results[b].size - f.results[a].size })
	saved := 0
	for _, i := range order {
		if saved >= over {
			break
		}
		n := f.cutTo(&f.results[i], firstHead)
		saved += n
	}
	return saved > 0
}

// shortenHeads shortens all results to their last heads.
func (f *fitting) shortenHeads(int) bool {
	saved := 0
	for i := range f.results {
		if r := &f.results[i]; r.head != lastHead && r.size > lastHead {
			saved += f.cutTo(r, lastHead)
		}
	}
	return saved > 0
}

// dropRuns removes the oldest rows of trace and history.
func (f *fitting) dropRuns(over int) bool {
	v, err := newView(f.Envelope, NewScratch())
	if err != nil || !v.dropRows(over) {
		return false
	}
	f.Envelope = v.Envelope
	return true
}

func (f *fitting) dropLevels(int) bool {
	if len(f.Levels) == 0 {
		return false
	}
	f.LevelsOmitted += len(f.Levels)
	f.Levels = [][]string{}
	return true
}

// dropLater moves the last subtasks of a page to the next page. It keeps the first ones, up to half of the result
// limit: if these do not fit, other parts are too long.
func (f *fitting) dropLater(over int) bool {
	rows := f.subtaskRows()
	least, size := 0, 0
	for least < len(rows) && (least == 0 || size+sizeOf(rows[least]) <= f.limit/2) {
		size += sizeOf(rows[least])
		least++
	}
	return f.keepSubtasks(least, over)
}

// dropSubtasks removes the last subtasks. If they are paged, the next page begins with them. A subtask that does not
// fit even alone is left out, and the next page begins after it.
func (f *fitting) dropSubtasks(over int) bool { return f.keepSubtasks(0, over) }

// keepSubtasks removes the last subtasks until enough is saved or only least of them are left.
func (f *fitting) keepSubtasks(least, over int) bool {
	rows := f.subtaskRows()
	keep, saved := len(rows), 0
	for keep > least && saved < over {
		keep--
		saved += sizeOf(rows[keep])
	}
	if keep == len(rows) {
		return false
	}
	if plan := f.planOf(); plan != nil {
		own := *plan
		own.Subtasks = rows[:keep]
		f.Plan = &own
	} else {
		f.Subtasks = rows[:keep]
	}
	if f.CursorAt == nil {
		f.SubtasksOmitted += len(rows) - keep
		return true
	}
	from := keep
	if keep == 0 {
		f.SubtasksOmitted++
		from = 1
	}
	if from < len(rows) {
		f.NextCursor = f.CursorAt(f.RowPlaces[from])
	}
	return true
}

// sizeOf returns the length of a value as JSON, plus 1.
func sizeOf(v any) int {
	text, _ := AppendJSON(nil, v) // it was encoded before without an error
	return len(text) + 1
}

// dropReady removes the last of the caller's subtasks. They are ready again when the first ones are done.
func (f *fitting) dropReady(over int) bool {
	w, _ := f.WaitingFor.(*PlanWait)
	if w == nil || len(w.Ready) < 2 {
		return false
	}
	keep, saved := len(w.Ready), 0
	for keep > 1 && saved < over {
		keep--
		saved += sizeOf(w.Ready[keep])
	}
	own := *w
	own.Omitted, own.Ready = w.Omitted+len(w.Ready)-keep, w.Ready[:keep]
	f.WaitingFor = &own
	f.Next = f.Next.fewer(own.Ready)
	return true
}

// dropResults removes results in reverse order of their ids.
func (f *fitting) dropResults(over int) bool {
	ids, saved := slices.Sorted(maps.Keys(f.Results)), 0
	for len(ids) > 0 && saved < over {
		last := ids[len(ids)-1]
		saved += sizeOf(f.Results[last]) + len(last) + 3
		delete(f.Results, last)
		ids = ids[:len(ids)-1]
		f.ResultsOmitted++
	}
	return saved > 0
}

// These limit texts and the number of plan changes if the result is too long otherwise.
const (
	maxShownText = 256 // bytes
	maxRevisions = 20
)

// shortenRevisions keeps only the newest changes of the plan and shortens their texts.
func (f *fitting) shortenRevisions(int) bool {
	long := len(f.Revisions) > maxRevisions || len(f.Rationale) > maxShownText || len(f.Goal) > maxShownText
	f.Revisions = slices.Clone(f.Revisions[max(0, len(f.Revisions)-maxRevisions):])
	for i := range f.Revisions {
		r := &f.Revisions[i]
		long = long || len(r.Reason) > maxShownText || len(r.Rationale) > maxShownText
		r.Reason, r.Rationale = sentence.Short(r.Reason, maxShownText), sentence.Short(r.Rationale, maxShownText)
	}
	f.Rationale, f.Goal = sentence.Short(f.Rationale, maxShownText), sentence.Short(f.Goal, maxShownText)
	if plan := f.planOf(); plan != nil && (len(plan.Goal) > maxShownText || len(plan.Removed) > 0) {
		own := *plan
		own.Goal, own.Removed, long = sentence.Short(plan.Goal, maxShownText), []patterns.RemovedSubtask{}, true
		f.Plan = &own
	}
	return long
}

// dropIDs shortens all lists of ids to half of the longest. It returns false when all are empty.
func (f *fitting) dropIDs(int) bool {
	lists := []*[]string{
		&f.Ready, &f.RunningIDs, &f.WaitingIDs, &f.Failed, &f.Skipped, &f.Blocked, &f.InDoubt, &f.Preserved, &f.Added, &f.Removed, &f.Open,
	}
	for i := range f.Revisions {
		lists = append(lists, &f.Revisions[i].Added, &f.Revisions[i].Removed)
	}
	longest := 0
	for _, list := range lists {
		longest = max(longest, len(*list))
	}
	if longest == 0 {
		return false
	}
	for _, list := range lists {
		if n := len(*list) - longest/2; n > 0 {
			*list = (*list)[:longest/2]
			f.IDsOmitted += n
		}
	}
	return true
}

// PlansFit returns how many of the listed plans fit in both channels, at least one.
func (e *Envelope) PlansFit(most int) (int, error) {
	room := most - PageFrame - len(e.NextCursor)
	size, fits := 0, 0
	for _, row := range e.Plans {
		members, err := AppendJSON(nil, row)
		if err != nil {
			return 0, err
		}
		if size += max(len(members)+1, len(row.line())); size > room {
			break
		}
		fits++
	}
	return max(fits, min(1, len(e.Plans))), nil
}
