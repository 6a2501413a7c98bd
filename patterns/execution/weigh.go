package execution

import (
	"runtime"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/windows"
)

// What earlier runs did is read twice. The first time is when a call is judged, and that is recorded. The second time is in the
// transaction that records the call's intent, where the policy must still allow it. Another run may have spent the same money in
// between.

// weighs is Do for a [patterns.JudgeAct]. The branch keeps the baton.
func (b *branch) weighs(e patterns.Effect, a patterns.JudgeAct) patterns.Outcome {
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
	now := b.Backing.Now()
	var seen map[string]gateway.Seen
	weighing, read := a.Weighing.At(b.clock.latest), windows.Look{}
	own := b.ownCalls(weighing, now)
	err := b.Backing.Calls(func(t windows.Table) (err error) {
		seen, err = read.Windows(t, weighing, own, now)
		return err
	})
	b.read = read
	if err != nil {
		b.unwind(err)
	}
	body := weighedBody(e, weighing, seen)
	b.Record.Append(patterns.JudgedEvent, key, now, body)
	return patterns.Outcome{State: patterns.OK, Output: map[string]any(body), Recorded: patterns.Recorded{Key: key}}
}

// weighedBody returns the judgment in its recorded form.
func weighedBody(e patterns.Effect, w gateway.Weighing, seen map[string]gateway.Seen) journal.JudgedBody {
	body := w.Judge(seen).Value(w.Args())
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
	again, err := journal.DecodeTrusted(ijson.Canonical(body)) // in the form in which it is read back
	if obj, ok := again.(map[string]any); ok && err == nil {
		return obj
	}
	return journal.JudgedBody{}
}

// ownCalls returns the run's own calls, with the times when they were recorded.
func (b *branch) ownCalls(w gateway.Weighing, now time.Time) []gateway.Entry {
	var list []gateway.Entry
	for _, e := range w.Effects() {
		if e.RunID != b.RunID {
			continue // the record knows the calls of earlier runs
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

// holding returns the check that refuses a call's intent if the policy no longer allows the call; nil: there is nothing to check.
func (b *branch) holding(e patterns.Effect, now time.Time) holds {
	call, _ := callOf(e)
	w, windowed := call.Permit.Weighing()
	if !windowed {
		return nil
	}
	w = w.At(b.clock.latest)
	own, read := b.ownCalls(w, now), b.read
	if b.read = nil; read == nil { // from now on the writer of the file uses it
		read = windows.Look{}
	}
	return func(t windows.Table) error {
		seen, err := read.Windows(t, w, own, now)
		if err == nil && !w.Holds(seen) {
			err = ErrUnspent
		}
		return err
	}
}
