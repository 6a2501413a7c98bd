package memory

import (
	"cmp"
	"maps"
	"slices"

	"patterngate/patterns"
	"patterngate/patterns/store"
)

var _ store.Reader = (*tables)(nil)

// row returns a copy of a row for a reader.
func (r *run) row() *store.Row {
	seen := r.Row
	return &seen
}

// Row implements [store.Reader].
func (t *tables) Row(n int64) (*store.Row, error) {
	if r := t.runs[n]; r != nil {
		return r.row(), nil
	}
	return nil, nil
}

// Record implements [store.Reader].
func (t *tables) Record(n int64) (*store.Row, []patterns.Event, error) {
	r := t.runs[n]
	if r == nil {
		return nil, nil, nil
	}
	return r.row(), r.stored(), nil
}

// Events implements [store.Reader].
func (t *tables) Events(n int64) ([]patterns.Event, error) {
	if r := t.runs[n]; r != nil {
		return r.stored(), nil
	}
	return nil, nil
}

// Event implements [store.Reader].
func (t *tables) Event(n, seq int64) ([]patterns.Event, error) {
	events, err := t.Events(n)
	if seq < 1 || seq > int64(len(events)) {
		return nil, err
	}
	return events[seq-1 : seq : seq], err
}

// Hidden implements [store.Reader].
func (t *tables) Hidden(n int64) ([]store.HiddenValue, error) {
	if r := t.runs[n]; r != nil {
		return slices.Clone(r.hidden), nil
	}
	return nil, nil
}

// Standing implements [store.Reader].
func (t *tables) Standing(n int64) (store.Standing, error) {
	is := store.Standing{N: n}
	if r := t.runs[n]; r != nil {
		is.State, is.Epoch = r.State, r.Epoch
	}
	return is, nil
}

// Stands implements [store.Reader].
func (t *tables) Stands(n int64) (store.RunIs, error) {
	is := store.RunIs{N: n}
	if r := t.runs[n]; r != nil {
		is.State, is.Kind, is.Key = r.State, r.WaitingKind, r.WaitsKey
	}
	return is, nil
}

// Mark implements [store.Reader].
func (t *tables) Mark(n int64) (m store.Mark, found bool, err error) {
	r := t.runs[n]
	if r == nil {
		return m, false, nil
	}
	return store.Mark{Principal: r.Principal, State: r.State, Epoch: r.Epoch, Turn: r.Turn, Key: r.WaitsKey}, true, nil
}

// newestOf returns the runs of a principal, newest first.
func (t *tables) newestOf(principal string) []*run {
	list := slices.Clone(t.byPrincipal[principal])
	slices.SortFunc(list, func(a, b *run) int { return cmp.Or(cmp.Compare(b.Began, a.Began), cmp.Compare(b.N, a.N)) })
	return list
}

// IDs implements [store.Reader].
func (t *tables) IDs(principal string) (list []int64, err error) {
	all := t.newestOf(principal)
	for _, r := range all[:min(200, len(all))] {
		list = append(list, r.N)
	}
	return list, nil
}

// Newest implements [store.Reader].
func (t *tables) Newest(principal string) (list []store.Standing, err error) {
	for _, r := range t.newestOf(principal) {
		if r.Parent == 0 && len(list) < 50 {
			list = append(list, store.Standing{N: r.N, State: r.State})
		}
	}
	return list, nil
}

// Page implements [store.Reader].
func (t *tables) Page(principal string, began, n int64, most int) (list []*store.Row, err error) {
	for _, r := range t.newestOf(principal) {
		if len(list) < most && (r.Began < began || r.Began == began && r.N < n) {
			list = append(list, r.row())
		}
	}
	return list, nil
}

// Between implements [store.Reader].
func (t *tables) Between(low, high int64) ([]int64, error) { return between(t.runs, low, high), nil }

func between[V any](of map[int64]V, low, high int64) (list []int64) {
	for n := range of {
		if n >= low && n <= high {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list[:min(20, len(list))]
}

// Below implements [store.Reader].
func (t *tables) Below(n int64) (list []int64, err error) {
	for _, child := range t.byParent[n] {
		list = append(list, child.N)
	}
	for _, child := range t.byParent[n] {
		below, _ := t.Below(child.N)
		list = append(list, below...)
	}
	return list, nil
}

// Principals implements [store.Reader].
func (t *tables) Principals() ([]string, error) {
	return slices.Sorted(maps.Keys(t.byPrincipal)), nil
}

// Old implements [store.Reader].
func (t *tables) Old(before int64) (list []*store.Row, err error) {
	for _, r := range t.runs {
		if r.State == "ended" && r.Ended < before && !t.isNeeded(r) {
			list = append(list, r.row())
		}
	}
	return list, nil
}

// isNeeded reports whether a run above this one is unfinished.
func (t *tables) isNeeded(r *run) bool {
	above := t.runs[r.Parent]
	return r.Parent != 0 && above != nil && (isUnfinished(above.State) || t.isNeeded(above))
}

// Tombstones implements [store.Reader].
func (t *tables) Tombstones() ([]store.Bury, error) {
	list := slices.Clone(t.tombstones)
	slices.SortFunc(list, func(a, b store.Bury) int { return cmp.Compare(b.Began, a.Began) })
	return list, nil
}

// Ready implements [store.Reader].
func (t *tables) Ready(now int64, keep func(*store.Row) bool) (next int64, err error) {
	enough := false
	for _, r := range t.unfinished {
		switch due := r.State == "parked" && r.Wake != 0; {
		case due && r.Wake > now && (next == 0 || r.Wake < next):
			next = r.Wake
		case !enough && (r.State == "ready" || due && r.Wake <= now):
			enough = !keep(r.row())
		}
	}
	return next, nil
}

// Owners implements [store.Reader].
func (t *tables) Owners(but string) (list []string, err error) {
	for _, r := range t.unfinished {
		if r.State == "running" && r.Owner != but && !slices.Contains(list, r.Owner) {
			list = append(list, r.Owner)
		}
	}
	return list, nil
}

// Owned implements [store.Reader].
func (t *tables) Owned(owner string) (map[int64]int64, error) {
	epochs := map[int64]int64{}
	for _, r := range t.unfinished {
		if r.State == "running" && r.Owner == owner {
			epochs[r.N] = r.Epoch
		}
	}
	return epochs, nil
}

// Canceled implements [store.Reader].
func (t *tables) Canceled(owner string) (list []int64, err error) {
	for _, r := range t.unfinished {
		if r.State == "running" && r.Owner == owner && r.Canceled {
			list = append(list, r.N)
		}
	}
	return list, nil
}

// Config implements [store.Reader].
func (t *tables) Config(hash string) ([]byte, bool, error) {
	body, found := t.configs[hash]
	return body, found, nil
}

// Switches implements [store.Reader].
func (t *tables) Switches() ([]patterns.Switch, error) {
	list := slices.Clone(t.switches)
	slices.SortFunc(list, func(a, b patterns.Switch) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Pattern, b.Pattern))
	})
	return list, nil
}

// NewestReload implements [store.Reader].
func (t *tables) NewestReload() (int64, error) { return int64(len(t.reloads)), nil }

// Reloads implements [store.Reader].
func (t *tables) Reloads(after int64, most int) (list []store.Reload, err error) {
	for _, r := range t.reloads {
		if r.N > after && r.asked && len(list) < most {
			list = append(list, r.Reload)
		}
	}
	return list, nil
}

// ReloadAnswers implements [store.Reader].
func (t *tables) ReloadAnswers(n int64) ([]store.ReloadAnswer, error) {
	list := slices.Clone(t.answers[n])
	slices.SortFunc(list, func(a, b store.ReloadAnswer) int { return cmp.Compare(a.Owner, b.Owner) })
	return list, nil
}

// ID implements [store.Reader].
func (t *tables) ID() (string, error) { return t.id, nil }

// asked returns a question with the fields of its run; nil: there is no such run.
func (t *tables) asked(q *question) *store.Asked {
	r := t.runs[q.Run]
	if r == nil {
		return nil
	}
	seen := q.Asked
	seen.RunState, seen.Pattern, seen.Principal, seen.Canceled, seen.Parent = r.State, r.Pattern, r.Principal, r.Canceled, r.Parent
	return &seen
}

// Question implements [store.Reader].
func (t *tables) Question(ap int64) (*store.Asked, error) {
	if q := t.questions[ap]; q != nil {
		return t.asked(q), nil
	}
	return nil, nil
}

// isOpen reports whether a question can be answered now.
func isOpen(a *store.Asked, now int64) bool {
	return a.State == "open" && a.Expires > now && isUnfinished(a.RunState) && !a.Canceled
}

// Questions implements [store.Reader].
func (t *tables) Questions(page store.QuestionPage, keep func(*store.Asked) bool) error {
	var list []*store.Asked
	for _, q := range t.questions {
		a := t.asked(q)
		before := q.Since < page.Since || q.Since == page.Since && q.Approval < page.Approval
		if a != nil && before && (page.All || isOpen(a, page.Now)) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *store.Asked) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), cmp.Compare(b.Approval, a.Approval))
	})
	for _, a := range list {
		if !keep(a) {
			break
		}
	}
	return nil
}

// QuestionsBetween implements [store.Reader].
func (t *tables) QuestionsBetween(low, high int64) ([]int64, error) {
	return between(t.questions, low, high), nil
}

// CountOpen implements [store.Reader].
func (t *tables) CountOpen(now int64) (n int, err error) {
	for _, q := range t.questions {
		if a := t.asked(q); a != nil && isOpen(a, now) {
			n++
		}
	}
	return n, nil
}

// QuestionSchema implements [store.Reader].
func (t *tables) QuestionSchema(ap int64) ([]byte, error) {
	if q := t.questions[ap]; q != nil {
		return q.schema, nil
	}
	return nil, nil
}

// Answered implements [store.Reader].
func (t *tables) Answered(run int64) (list []store.Answered, err error) {
	for _, q := range t.questions {
		if q.Run == run && q.State == "answered" {
			list = append(list, store.Answered{Approval: q.Approval, Answer: q.Answer, Args: q.Args, Signature: q.Signature, Channel: q.Channel})
		}
	}
	return list, nil
}

// Grant implements [store.Reader].
func (t *tables) Grant(ap, run int64) (g store.Grant, found bool, err error) {
	q := t.questions[ap]
	if q == nil || q.Run != run || q.State != "taken" {
		return g, false, nil
	}
	return store.Grant{Answer: q.Answer, Signature: q.Signature, Consumed: q.Consumed}, true, nil
}

// Share implements [store.Reader].
func (t *tables) Share(ap int64, of string) (string, error) { return t.shares[share{ap, of}], nil }
