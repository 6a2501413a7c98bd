package execution

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// History is what a record says. The life that continues the run begins with it.
type History struct {
	Start    journal.StartBody
	Began    time.Time
	past     map[string]*memory
	quotas   map[string]int    // that recorded effects used; known after a rehearsal
	Phase    string            // likewise
	order    int               // intents
	Calls    int               // of tools, among them
	Answered int               // of these, those with an outcome
	Asked    int               // requests to the model
	idle     time.Duration     // time in which no process ran it
	waited   waited            // for its caller and for people
	Noted    bool              // it says who canceled the run
	wrote    bool              // a call that changes something was begun
	Canceled bool              // its cancellation was requested
	Rests    bool              // its notes say that the run now rests with a child run
	granted  map[string]string // approvals that were spent, by the idempotency key of their call
	held     map[int64]bool    // plans that it has claimed and not released, by their numbers
	End      *journal.EndBody
	last     time.Time // time of the newest event
	latest   time.Time // time of the newest outcome; before the first one, of the start
}

// memory is what the record says about one key. The times of its outcome are those that pattern code sees.
type memory struct {
	intent  *journal.IntentBody
	began   time.Time     // of the intent, as recorded
	idle    time.Duration // the run's idle time before the intent
	outcome patterns.Outcome
	seq     int // of the outcome's event
	tries   int // how often the run was interrupted since the intent
	visited bool
}

// Remember reads a record into a history.
func Remember(events []journal.Event) *History {
	h := &History{past: map[string]*memory{}, quotas: map[string]int{}, granted: map[string]string{}, held: map[int64]bool{}}
	var open []*memory // intents without outcome
	leftInOrder := false
	for _, e := range events {
		switch body := e.Body.(type) {
		case journal.StartBody:
			h.Start, h.Began, h.latest = body, e.At, e.At
		case journal.IntentBody:
			m := h.at(e.Key)
			h.intend(m, body, e.At)
			open = append(open, m)
		case journal.OutcomeBody:
			if e.Kind != patterns.OutcomeEvent {
				break
			}
			m := h.at(e.Key)
			h.learn(m, e, body)
			open = slices.DeleteFunc(open, func(o *memory) bool { return o == m })
		case journal.JudgedBody:
			if body.Weighed() {
				m := h.at(e.Key)
				m.seq, m.outcome = e.Seq, patterns.Outcome{State: patterns.OK, Output: map[string]any(body), Recorded: patterns.Recorded{Key: e.Key}}
			}
		case journal.NoteBody:
			leftInOrder = leftInOrder || body.What == NoteDetach || body.What == NoteRest
			h.Rests = body.What == NoteRest || h.Rests && body.What != NoteWake && body.What != NoteTakeover
			h.Noted = h.Noted || body.What == NoteCancel
			if body.What == NoteTakeover || body.What == NoteSeize || body.What == NoteWake {
				h.idle += e.At.Sub(h.last)
				h.waited.skip(e.At.Sub(h.last))
			}
			if body.What == NoteTakeover || body.What == NoteWake {
				for _, m := range open {
					if !leftInOrder {
						m.tries++
					}
				}
				leftInOrder = false
			}
		case journal.EndBody:
			h.End = &body
		}
		h.last = e.At
	}
	return h
}

// Values of What in the notes of the engine.
const (
	NoteTakeover = "takeover" // another life continues the run, which no process ran since the event before
	NoteDetach   = "detach"   // its process left it in order: none of its effects is the cause
	NoteCancel   = "cancel"
	NoteSeize    = "seize"
	NoteSettle   = "settle"
	NoteRest     = "rest" // the run rests with a child run that waits
	NoteWake     = "wake" // it continues after that rest
)

func (h *History) at(key string) *memory {
	m := h.past[key]
	if m == nil {
		m = &memory{}
		h.past[key] = m
	}
	return m
}

func (h *History) intend(m *memory, body journal.IntentBody, at time.Time) {
	h.order++
	if body.Kind == patterns.ToolEffect {
		h.Calls++
		h.wrote = h.wrote || body.Effect != "read"
		if body.Grant != "" {
			h.granted[body.Once] = grantOf(body.Grant, body.Share)
		}
	}
	if isWait(body.Kind, body.Name) {
		h.waited.begin(at)
	}
	m.intent, m.began, m.idle = &body, at, h.idle
	m.outcome.Order, m.outcome.Began, m.outcome.Once, m.outcome.Idle = h.order, at.Add(-h.idle), body.Once, h.idle
}

func (h *History) learn(m *memory, e journal.Event, body journal.OutcomeBody) {
	o := body.Outcome()
	o.Recorded = m.outcome.Recorded
	m.seq, h.latest = e.Seq, e.At
	o.Key, o.At, o.Down = e.Key, e.At.Add(-h.idle), h.idle-m.idle
	if m.intent == nil {
		o.Down, o.Idle = 0, h.idle
	}
	m.outcome = o
	h.Asked += body.Usage.Requests
	if m.intent != nil && m.intent.Kind == patterns.ToolEffect {
		h.Answered++
	}
	if m.intent != nil && isWait(m.intent.Kind, m.intent.Name) {
		h.waited.end(e.At)
	}
	h.holding(m)
}

// Rested returns how long the run waited for its caller and for people, or was carried out by no process.
func (h *History) Rested() time.Duration { return h.waited.sum + h.idle }

// With returns the history of the same record with more events, and with what a rehearsal found out.
func (h *History) With(events []journal.Event, canceled bool) *History {
	next := Remember(events)
	next.quotas, next.Phase, next.Canceled = h.quotas, h.Phase, canceled
	return next
}

// fits compares an effect with the intent that is recorded under its key. A difference is [ErrMismatch].
func (m *memory) fits(key string, e patterns.Effect) error {
	if m.intent != nil && (m.intent.Kind != e.Kind() || !bytes.Equal(m.intent.Input, e.Input)) {
		return fmt.Errorf(recordedAs, ErrMismatch, key, m.intent.Input, e.Input)
	}
	if does[patterns.JudgeAct](e) {
		body, _ := m.outcome.Output.(map[string]any)
		if recorded := ijson.Canonical(body["proposal"]); !journal.JudgedBody(body).Weighed() || !bytes.Equal(recorded, e.Input) {
			return fmt.Errorf(judgedOf, ErrMismatch, key, recorded, e.Input)
		}
	}
	m.visited = true
	return nil
}

// answeredBy names what answered a run's questions, for its result: the caller, a person or a model.
func answeredBy(job patterns.Job, r patterns.Result) string {
	if !r.Asked && (job.Task.Caller != nil || len(r.Proposed) > 0) {
		return cmp.Or(r.Answerers(""), "caller")
	}
	return r.Answerers(ModelOf(job))
}

// ModelOf returns the name of a run's model; "": it has none.
func ModelOf(job patterns.Job) string {
	if job.Model == nil {
		return ""
	}
	return job.Model.Name()
}

// Ledger returns the calls of a record, for runs whose code no longer fits the record. All attempts at one act count as one call,
// which has the key of the first attempt.
func (h *History) Ledger() []gateway.Entry {
	var list []gateway.Entry
	act := map[string]string{} // by key
	for key, m := range h.past {
		if m.intent == nil || m.intent.Kind != patterns.ToolEffect {
			continue
		}
		e := gateway.Entry{Key: key, Tool: m.intent.Name, Effect: catalog.Effect(m.intent.Effect), Order: m.outcome.Order, Observation: m.outcome.Output}
		e.Duplicate = m.outcome.Duplicate
		if args, err := ijson.Decode(m.intent.Input); err == nil {
			e.Args, _ = args.(map[string]any)
			e.Hash = ijson.ArgsHash(e.Args)
		}
		switch m.outcome.State {
		case patterns.OK:
			e.Status = gateway.Finished
		case patterns.Failed, patterns.Canceled:
			e.Status = gateway.Failed
		default:
			e.Status = gateway.InDoubt
		}
		if e.Effect != catalog.Read && !e.Duplicate && m.intent.Once != "" {
			act[key] = e.Tool + " " + m.intent.Once
		}
		list = append(list, e)
	}
	sortLedger(list)
	var acts []gateway.Entry
	for _, e := range list {
		first := slices.IndexFunc(acts, func(o gateway.Entry) bool { return act[e.Key] != "" && act[o.Key] == act[e.Key] })
		if first < 0 {
			acts = append(acts, e)
			continue
		}
		acts[first].Status, acts[first].Observation = e.Status, e.Observation
	}
	return acts
}

func sortLedger(list []gateway.Entry) {
	slices.SortFunc(list, func(a, b gateway.Entry) int { return cmp.Compare(a.Order, b.Order) })
}

// Doubt returns the key of the open question about a call whose outcome is unknown; "": there is none.
func (h *History) Doubt(effect string) string {
	for key, m := range h.past {
		if m.intent == nil || m.intent.Kind != patterns.HumanEffect || m.intent.Name != "settle" || m.outcome.State != "" {
			continue
		}
		v, err := ijson.Decode(m.intent.Input)
		if about, ok := v.(map[string]any); err == nil && ok && about["effect"] == effect {
			return key
		}
	}
	return ""
}

// Decode decodes stored events.
func Decode(stored []patterns.Event) ([]journal.Event, error) {
	events := make([]journal.Event, len(stored))
	for i, e := range stored {
		body, err := journal.Decode(e.Kind, e.Body)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		events[i] = journal.Event{Seq: int(e.Seq), At: time.UnixMicro(e.At), Kind: e.Kind, Key: e.Key, Body: body}
	}
	return events, nil
}
