package record_test

import (
	"encoding/json"
	"testing"
	"time"

	"patterngate/patterns"
	"patterngate/patterns/record"
)

// A run that rests with its child run waits, and the time is counted as such; the row of the call tells which run it began.
func TestStoryOfAParent(t *testing.T) {
	type event struct {
		after time.Duration
		kind  patterns.EventKind
		key   string
		body  string
	}
	began := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	told := func(list ...event) record.Story {
		var events []patterns.Event
		var head []byte
		for i, e := range list {
			sealed := patterns.Event{Seq: int64(i + 1), At: began.Add(e.after).UnixMicro(), Kind: e.kind, Key: e.key, Body: json.RawMessage(e.body)}
			sealed.Seal("run_0123456789abcdef", head)
			events, head = append(events, sealed), sealed.Hash
		}
		return record.Read(events)
	}
	until := []event{
		{0, patterns.StartEvent, "", `{"arguments":{},"config":"c","parent":{"key":"hall#1","run_id":"run_00000000000000aa"},"pattern":"desk","pattern_kind":"routing","principal":"local:1","run_id":"run_0123456789abcdef"}`},
		{time.Second, patterns.IntentEvent, "pay#1", `{"effect":"write","effect_kind":"tool","input":{},"name":"pay"}`},
		{2 * time.Second, patterns.NoteEvent, "", `{"channel":"engine","what":"rest"}`},
	}
	if s := told(until...); s.Status != "waiting" || s.Parent == nil || s.Parent.RunID != "run_00000000000000aa" || s.Receipt().Parent != "run_00000000000000aa" {
		t.Errorf("while it rests: %s, begun by %+v", s.Status, s.Parent)
	}
	s := told(append(until,
		event{62 * time.Second, patterns.NoteEvent, "", `{"channel":"engine","what":"wake"}`},
		event{63 * time.Second, patterns.OutcomeEvent, "pay#1", `{"calls":1,"child_run_id":"run_00000000000000bb","output":{"status":"ok"},"state":"ok"}`},
		event{64 * time.Second, patterns.EndEvent, "", `{"status":"ok","stop_reason":"success"}`})...)
	if s.Status != "ok" || s.Waited != 60 || s.Took != 64 {
		t.Errorf("%s, it waited %v of %v", s.Status, s.Waited, s.Took)
	}
	if row := s.Rows[0]; row.Child != "run_00000000000000bb" || row.State != "ok" {
		t.Errorf("the call is %+v", row)
	}
	for _, what := range []string{"rest", "wake"} {
		if record.NoteWord(what) == "" {
			t.Errorf("%s has no words", what)
		}
	}
}
