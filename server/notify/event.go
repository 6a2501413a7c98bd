package notify

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"patterngate/patterns"
)

// The bounds of an event: it stays under 64 KiB, whatever the names in it.
const (
	maxCalls = 20  // that are told one by one
	maxName  = 64  // bytes of a name as shown
	maxText  = 500 // bytes of any other text as shown
)

// The words of an event.
const (
	eventType       = "patterngate/notify/v1"
	approvalWaiting = "approval_waiting"
)

// Event is the document that a program gets.
type Event struct {
	Type  string `json:"type"`  // patterngate/notify/v1
	Event string `json:"event"` // approval_waiting
	Call         // the question; of several, the first
	// Asked is how many questions this event tells of, Waiting how many wait in all.
	Asked   int    `json:"asked"`
	Waiting int    `json:"waiting"`
	More    []Call `json:"more,omitempty"` // the next ones, at most 19
}

// Call is a question to a person: names, times and judged values, no text that a model wrote freely.
type Call struct {
	ApprovalID   string    `json:"approval_id"`
	RunID        string    `json:"run_id"`
	Pattern      string    `json:"pattern,omitempty"`
	Tool         string    `json:"tool"`
	Rule         string    `json:"rule,omitempty"`   // of the policy that wants a person
	Phrase       string    `json:"phrase,omitempty"` // the call in words
	MinAssurance string    `json:"min_assurance,omitempty"`
	Since        time.Time `json:"since,omitzero"`
	ExpiresAt    time.Time `json:"expires_at,omitzero"` // no answer until then means no
	URL          string    `json:"url,omitempty"`       // without a token
	Command      string    `json:"command"`             // shows the question in a terminal
}

// callOf makes the members of an event from a question.
func callOf(a patterns.Asked) Call {
	id := shown(a.ID, maxName)
	return Call{
		ApprovalID: id, RunID: shown(a.Question.Run, maxName), Pattern: shown(a.Pattern, maxName), Tool: shown(a.Question.Tool, maxName),
		Rule: shown(a.Rule, maxName), Phrase: shown(a.Phrase, maxText), MinAssurance: shown(string(a.Least), maxName),
		Since: a.Since.UTC().Truncate(time.Second), ExpiresAt: a.Question.Expires.UTC(),
		Command: runShow(id),
	}
}

// event encodes a batch as the event for a program.
func (b batch) event() ([]byte, error) {
	calls := make([]Call, len(b.calls))
	for i, c := range b.calls {
		if b.base != "" {
			c.URL = strings.TrimSuffix(shown(b.base, maxText), "/") + "/a/" + url.PathEscape(c.ApprovalID)
		}
		calls[i] = c
	}
	e := Event{Type: eventType, Event: approvalWaiting, Call: calls[0], Asked: b.asked, Waiting: b.waiting, More: calls[1:]}
	doc, err := json.Marshal(e)
	return append(doc, '\n'), err
}
