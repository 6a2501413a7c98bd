package local

import (
	"errors"
	"runtime"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
	"patterngate/patterns/windows"
)

// What earlier runs did is read twice: when a call is judged, which is recorded, and in the transaction that records its intent,
// where the policy must still let it through. In between another run may have spent the same money.

// weighs is Do for a [patterns.JudgeEffect]. It keeps the baton.
func (b *branch) weighs(e patterns.Effect) patterns.Outcome {
	b.alive()
	b.stay()
	key := b.keys.next(e.Name)
	m := b.past[key]
	known := m != nil && m.outcome.State != ""
	switch {
	case known && b.dry != nil:
		if fault := m.fits(key, e); fault != nil {
			b.unwind(fault)
		}
		return m.outcome
	case known:
		return m.outcome
	case b.dry != nil:
		b.dry.open = append(b.dry.open, pending{key, e, m})
		runtime.Goexit()
	}
	now := b.engine.now()
	var seen map[string]gateway.Seen
	weighing, read := e.Weighing.At(b.latest), windows.Look{}
	own := b.ownCalls(weighing, now)
	err := b.engine.looked(func(t windows.Table) (err error) {
		seen, err = read.Windows(t, weighing, own, now)
		return err
	})
	b.read = read
	if err != nil {
		b.unwind(err)
	}
	body := weighedBody(e, weighing.Judge(seen), seen)
	b.record.append(patterns.JudgedEvent, key, now, body)
	return patterns.Outcome{State: patterns.OK, Output: map[string]any(body), Key: key}
}

// weighedBody is the judgment as it is recorded.
func weighedBody(e patterns.Effect, r gateway.Ruling, seen map[string]gateway.Seen) journal.JudgedBody {
	body := r.Value(e.Weighing.Args())
	windows := map[string]any{}
	for name, s := range seen {
		of := map[string]any{"since": s.Since.UTC().Format(time.RFC3339), "effects": float64(len(s.Effects))}
		if s.Err != nil {
			of["error"] = true
		}
		windows[name] = of
	}
	body["phase"], body[journal.WindowsMember] = e.Phase, windows
	body["proposal"], _ = ijson.Decode(e.Input)
	again, err := journal.DecodeTrusted(ijson.Canonical(body)) // as it is read back
	if obj, ok := again.(map[string]any); ok && err == nil {
		return obj
	}
	return journal.JudgedBody{}
}

// ownCalls are the run's own calls as its code knows them, at the times when they were recorded.
func (b *branch) ownCalls(w gateway.Weighing, now time.Time) []gateway.Entry {
	var list []gateway.Entry
	for _, e := range w.Effects() {
		if e.RunID != b.id {
			continue // of the runs before this one the record knows
		}
		switch m := b.past[e.Key]; {
		case e.Key == "":
			e.At = now
		case m != nil && m.intent != nil:
			e.At = m.began
		case !b.sent[e.Key].IsZero():
			e.At = b.sent[e.Key]
		}
		list = append(list, e)
	}
	return list
}

// looked sees the state's table of calls; f reads it only.
func (e *Engine) looked(f func(windows.Table) error) error {
	if e.file != nil {
		return e.file.journal.View(func(s store.Reader) error { return f(windows.Stored{Calls: s, Rules: e.file.hiding()}) })
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return f(&e.calls)
}

// judges is what a call was let through by, as the state file asks it in the transaction of the intent.
func (b *branch) judges(holds func(windows.Table) error) func(store.Calls) (bool, error) {
	hiding := b.engine.file.hiding()
	return func(calls store.Calls) (bool, error) {
		err := holds(windows.Stored{Calls: calls, Rules: hiding})
		if errors.Is(err, errUnspent) {
			return false, nil
		}
		return true, err
	}
}

// holding has a call's intent refused where what it was let through by does not hold any more; nil: nothing has to.
func (b *branch) holding(e patterns.Effect, now time.Time) func(windows.Table) error {
	w, windowed := e.Permit.Weighing()
	if e.Kind != patterns.ToolEffect || !windowed {
		return nil
	}
	w = w.At(b.latest)
	own, read := b.ownCalls(w, now), b.read
	if b.read = nil; read == nil { // from now on it is read by who writes the file
		read = windows.Look{}
	}
	return func(t windows.Table) error {
		seen, err := read.Windows(t, w, own, now)
		if err == nil && !w.Holds(seen) {
			err = errUnspent
		}
		return err
	}
}

// isStale reports whether what a call was let through by does not hold any more, as far as is known; its intent is sure of it.
func (b *branch) isStale(holds func(windows.Table) error) bool {
	if holds == nil || b.engine.file == nil {
		return false // in memory the intent alone tells
	}
	err := b.engine.looked(holds)
	if err != nil && !errors.Is(err, errUnspent) {
		b.unwind(err)
	}
	return err != nil
}

// giveBack returns the quotas of an effect that is not begun after all.
func (l *life) giveBack(quotas []patterns.Quota) {
	for _, q := range quotas {
		l.quotas[q.Name]--
	}
}
