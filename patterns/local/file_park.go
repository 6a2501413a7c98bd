package local

import (
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
	"patterngate/patterns/store"
)

func (f *file) park(l *life, rest patterns.Ended) error {
	w, n := rest.Waiting, l.record.file.n
	summary := ""
	if l.job.Present != nil {
		summary = l.record.public(ijson.Cut(l.job.Present(rest, nil).Summary, maxSummary))
	}
	if len(l.onChildren) > 0 {
		l.record.append(patterns.NoteEvent, "", f.journal.Now(), journal.NoteBody{What: noteRest, Note: patterns.Note{Channel: "engine", Reason: w.Child}})
	}
	step := store.Park{N: n, Kind: string(w.Kind), Turn: w.Turn, Key: w.Key, Phase: w.Phase, Summary: summary, Children: l.onChildren}
	if until := l.earliest(true); !until.IsZero() {
		step.Wake = until.UnixMicro()
	}
	if until := l.earliest(false); !until.IsZero() {
		step.Expires = until.UnixMicro()
	}
	for _, p := range l.parked {
		if ap, ok := journal.ApprovalNumber(p.Approval); ok && p.Kind == patterns.ForApproval {
			step.Questions = append(step.Questions, ap)
		}
	}
	err := l.record.rest(false, func(head store.Head) []store.Step {
		step.Head = head
		return []store.Step{step}
	})
	if err != nil {
		return err
	}
	f.rests(l, patterns.Parked, rest)
	f.scheduler.nudge()
	return nil
}

// earliest returns the first time limit of what a run waits for. If own is set, it leaves out what the child runs wait for: the
// parent continues when they do. The zero time means that there is no limit.
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
