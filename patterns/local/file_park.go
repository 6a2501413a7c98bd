package local

import (
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

func (f *file) park(l *life, rest patterns.Ended) error {
	w, n := rest.Waiting, l.record.file.n
	summary := ""
	if l.job.Present != nil {
		summary = l.record.public(ijson.Cut(l.job.Present(rest, nil).Summary, maxSummary))
	}
	if len(l.onChildren) > 0 {
		l.record.append(patterns.NoteEvent, "", f.journal.now(), journal.NoteBody{What: noteRest, Note: patterns.Note{Channel: "engine", Reason: w.Child}})
	}
	var wake, expires any
	if until := l.earliest(true); !until.IsZero() {
		wake = until.UnixMicro()
	}
	if until := l.earliest(false); !until.IsZero() {
		expires = until.UnixMicro()
	}
	err := l.record.rest(false, func(s *session, head patterns.Head, newest int64) error {
		decided, err := isDecided(s, n, l.parked)
		if err != nil {
			return err
		}
		if !decided {
			decided, err = goesOn(s, l.onChildren)
		}
		if err != nil {
			return err
		}
		_, err = s.exec(updateParked, decided, wake, head.Events, head.Hash, newest, string(w.Kind), w.Turn, w.Key, expires, w.Phase, summary, n)
		return err
	})
	if err != nil {
		return err
	}
	f.rests(l, patterns.Parked, rest)
	f.nudge()
	return nil
}

// earliest is when the first of what a run waits for lapses, or of what it asked for itself alone: with what its child runs wait for
// it goes on when they do.
func (l *life) earliest(own bool) time.Time {
	var first time.Time
	for _, w := range l.parked {
		if w.Until.IsZero() || own && w.Child != "" {
			continue
		}
		if first.IsZero() || w.Until.Before(first) {
			first = w.Until
		}
	}
	return first
}
