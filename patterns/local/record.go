package local

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"patterngate/patterns"
)

// EventKind is the kind of an event of a run's record (spec/surface.md section 7).
type EventKind string

// The kinds of events.
const (
	StartEvent   EventKind = "start"
	IntentEvent  EventKind = "intent"  // recorded before the act
	OutcomeEvent EventKind = "outcome" // recorded after it, or instead of it where nothing was tried
	LateEvent    EventKind = "late"    // an outcome after the outcome; evidence, never replayed
	EndEvent     EventKind = "end"
)

// Event is one entry of a run's record.
type Event struct {
	Seq  int       // from 1
	At   time.Time // whole microseconds, never falling
	Kind EventKind
	Key  string // the effect's path; "" for start and end
	Body any    // StartBody, IntentBody, OutcomeBody or EndBody
}

// StartBody says what was asked for.
type StartBody struct {
	RunID     string `json:"run_id"`
	Pattern   string `json:"pattern"`
	Kind      string `json:"pattern_kind"`
	Principal string `json:"principal,omitempty"`
	Client    string `json:"client,omitempty"`
}

// IntentBody is an effect before it is performed.
type IntentBody struct {
	Kind  patterns.EffectKind `json:"effect_kind"`
	Name  string              `json:"name"`
	Input json.RawMessage     `json:"input"`
	Once  string              `json:"idempotency_key,omitempty"` // of a tool effect
}

// OutcomeBody is what became of an effect; also of a late one.
type OutcomeBody struct {
	State  patterns.State `json:"state"`
	Output any            `json:"output,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Bytes  int            `json:"bytes,omitempty"` // of the whole output, where it was cut
	Usage  patterns.Usage `json:"usage,omitzero"`
}

// EndBody says how the run ended.
type EndBody struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason"`
	Phase      string `json:"phase,omitempty"`
}

// Record is what a run leaves behind. It is safe for concurrent use: late results may come after the end.
type Record struct {
	mu     sync.Mutex
	events []Event
}

// Events lists the record so far. The list is the caller's own.
func (r *Record) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// append adds an event and returns it with its place and time.
func (r *Record) append(kind EventKind, key string, at time.Time, body any) Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	at = at.Truncate(time.Microsecond)
	if n := len(r.events); n > 0 && at.Before(r.events[n-1].At) {
		at = r.events[n-1].At
	}
	e := Event{Seq: len(r.events) + 1, At: at, Kind: kind, Key: key, Body: body}
	r.events = append(r.events, e)
	return e
}

// keys counts the effects of one branch by name, so that an effect's key is a path that depends on the code alone:
// "task#2/payments_worker#1".
type keys struct {
	path string
	seen map[string]int
}

func newKeys(path string) *keys { return &keys{path, map[string]int{}} }

func (k *keys) next(name string) string {
	k.seen[name]++
	return k.path + name + "#" + strconv.Itoa(k.seen[name])
}
