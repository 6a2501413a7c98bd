package record

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// A record is checked from its beginning on, and the first thing that does not fit ends it:
//
//	chain, length, kept head ──▶ each event ─┬─ question: its digest is recomputed
//	                                         ├─ answer: to this question, in time, by a key that counted then
//	                                         ├─ call with a grant: exactly what was approved, once
//	                                         └─ settle, seize: signed where a key was enrolled

// Evidence is a record and what it is checked against. RunID and Events are needed.
type Evidence struct {
	RunID  string
	Events []patterns.Event
	Length int64          // as it was kept beside the run at its last rest; 0: it is not known
	Row    patterns.Kept  // what the state file keeps of the run; zero: it is not known
	Kept   *patterns.Head // as it was kept elsewhere; nil: none was
	// Ring are the approver keys: the state file's, or those of an export.
	Ring gateway.Ring
	// Only are public keys that are known from elsewhere: then nothing counts that none of them signed. Nil: those of Ring
	// are believed.
	Only []ed25519.PublicKey
}

// Report is what a check of a record found. The zero Report has found nothing right.
type Report struct {
	OK     bool          `json:"ok"`
	Events int64         `json:"events"`
	Head   patterns.Head `json:"-"`
	// Broken is the first thing that does not fit; nil: all does.
	Broken *patterns.BrokenRecord `json:"-"`

	Decisions  int         `json:"decisions"`            // of people, about calls
	Signed     int         `json:"signed"`               // of these by a key, whose signature holds
	Spent      int         `json:"spent"`                // by calls that they let through
	Signatures []Signature `json:"signatures,omitempty"` // by key, in the order of their first one
	// Unchecked are places that could not be checked: values of them were redacted, or are of a newer version.
	Unchecked []Unchecked `json:"not_checked,omitempty"`
}

// Signature counts what one key signed in a record: decisions, settlements, seizures.
type Signature struct {
	KeyID string `json:"key_id"`
	Name  string `json:"name,omitempty"` // a person's words
	Count int    `json:"count"`
}

// Unchecked is a place of a record that could not be checked, and why.
type Unchecked struct {
	Seq    int64  `json:"seq"`
	Reason string `json:"reason"`
}

// Lines say what was found in a line each, the first whether the record holds. Names and reasons are as they were recorded:
// who shows them makes them visible.
func (r Report) Lines() []string {
	if !r.OK {
		reason := "nothing was checked"
		if r.Broken != nil {
			reason = r.Broken.Error()
		}
		return []string{"broken: " + reason}
	}
	lines := []string{"ok: " + counted(int(r.Events), "event")}
	if r.Decisions > 0 {
		lines = append(lines, fmt.Sprintf("approvals: %d decided, %d of them signed, %d spent", r.Decisions, r.Signed, r.Spent))
	}
	for _, s := range r.Signatures {
		line := fmt.Sprintf("signatures: %d by key %s", s.Count, s.KeyID)
		if s.Name != "" {
			line += " (" + s.Name + ")"
		}
		lines = append(lines, line)
	}
	for _, u := range r.Unchecked {
		lines = append(lines, fmt.Sprintf("not checked: event %d: %s", u.Seq, u.Reason))
	}
	return lines
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Why a place of a record cannot be checked.
const (
	redactedReason = "redacted"
	unreadReason   = "this version cannot read it"
)

// Check proves what can be proved of a record (spec/surface.md section 7): its order and wholeness, every signature in it,
// and that each approval which a call spent is of exactly this call. It does not prove that nobody wrote all of it anew:
// for that Kept or Only is needed.
func Check(e Evidence) Report {
	c := checker{evidence: e, ring: e.counting(), asked: map[string]*question{}, given: map[string]*answer{}, steps: map[string]bool{}}
	c.report.Events, c.report.Head = int64(len(e.Events)), patterns.HeadOf(e.Events)
	if c.report.Broken = e.whole(); c.report.Broken == nil {
		for _, event := range e.Events {
			if reason := c.event(event); reason != "" {
				c.report.Broken = &patterns.BrokenRecord{Seq: event.Seq, Reason: reason}
				break
			}
		}
	}
	if err := patterns.VerifyRow(e.Row, e.Events); err != nil && c.report.Broken == nil {
		c.report.Broken = brokenBy(err)
	}
	c.report.OK = c.report.Broken == nil
	return c.report
}

// whole checks the chain, and it against what was kept.
func (e Evidence) whole() *patterns.BrokenRecord {
	err := patterns.VerifyChain(e.RunID, e.Events, e.Length)
	if err == nil && e.Kept != nil {
		err = patterns.VerifyKept(e.Events, *e.Kept)
	}
	if err == nil {
		return nil
	}
	return brokenBy(err)
}

// brokenBy is what a check found.
func brokenBy(err error) *patterns.BrokenRecord {
	if broken, ok := errors.AsType[*patterns.BrokenRecord](err); ok {
		return broken
	}
	return &patterns.BrokenRecord{Reason: err.Error()}
}

// counting are the keys that count. A stored key that nobody vouches for is none: that it is there says nothing against
// what was decided before. Of the keys that are known from elsewhere the ring may know a name, and when they were removed.
func (e Evidence) counting() gateway.Ring {
	if e.Only == nil {
		return gateway.NewRing(e.Ring.Keys())
	}
	pinned := make([]gateway.PublicKey, len(e.Only))
	for i, public := range e.Only {
		pinned[i] = gateway.PublicKey{ID: gateway.KeyID(public), Public: public}
		if known, ok := e.Ring.Find(pinned[i].ID); ok {
			pinned[i].Name, pinned[i].Removed = known.Name, known.Removed
		}
	}
	return gateway.PinnedRing(pinned)
}

// checker goes through a record.
type checker struct {
	evidence Evidence
	ring     gateway.Ring
	report   Report
	asked    map[string]*question // by the key of the human effect
	given    map[string]*answer   // by the approval's id
	put      bool                 // a person was asked who takes their time
	steps    map[string]bool      // the keys of the calls that they were asked about
	whole    bool                 // they were asked about a whole plan: then what writes is approved
	acts     acts
}

// event checks one event. The reason says what does not fit.
func (c *checker) event(e patterns.Event) (reason string) {
	switch e.Kind {
	case patterns.IntentEvent, patterns.OutcomeEvent, patterns.NoteEvent:
	default:
		return ""
	}
	body, err := patterns.DecodeBody(e)
	if err != nil {
		c.unchecked(e.Seq, unreadReason) // perhaps of a newer version
		return ""
	}
	switch b := body.(type) {
	case *patterns.IntentBody:
		switch {
		case b.EffectKind == patterns.HumanEffect:
			return c.ask(e, *b)
		case b.EffectKind == patterns.ToolEffect:
			return c.called(e, *b)
		case b.Grant != "":
			return "spends an approval and is no call"
		}
	case *patterns.OutcomeBody:
		if q := c.asked[e.Key]; q != nil {
			delete(c.asked, e.Key) // one answer each
			return c.answer(e, q, *b)
		}
	case *patterns.NoteBody:
		return c.note(e, *b)
	}
	return ""
}

// unchecked notes that a place could not be checked.
func (c *checker) unchecked(seq int64, reason string) {
	if n := len(c.report.Unchecked); n == 0 || c.report.Unchecked[n-1].Seq != seq {
		c.report.Unchecked = append(c.report.Unchecked, Unchecked{seq, reason})
	}
}

// signed counts a signature that holds.
func (c *checker) signed(keyID string) {
	for i, s := range c.report.Signatures {
		if s.KeyID == keyID {
			c.report.Signatures[i].Count++
			return
		}
	}
	key, _ := c.ring.Find(keyID)
	c.report.Signatures = append(c.report.Signatures, Signature{keyID, key.Name, 1})
}

// knows says what is wrong with a key as the signer of something at a time; empty: nothing.
func (c *checker) knows(id string, at time.Time) string {
	key, known := c.ring.Find(id)
	switch {
	case !known && c.evidence.Only != nil:
		return fmt.Sprintf("was signed by key %.40q, which is not the one that was given", id)
	case !known:
		return fmt.Sprintf("was signed by key %.40q, which is none of the approver keys", id)
	case key.Counts(at), key.Counts(at.Add(-grain)): // what was signed before the key was removed, in the same second, counts
		return ""
	case !key.Removed.IsZero() && !at.Before(key.Removed):
		return fmt.Sprintf("was signed by key %s after that had been removed", id)
	}
	return fmt.Sprintf("was signed by key %s before that had been enrolled", id)
}

// unsigned says why a decision, or act, that nobody signed does not count; empty: it does.
func (c *checker) unsigned(at time.Time) string {
	switch {
	case c.evidence.Only != nil: // that it was removed says the ring, which who writes a record anew writes too
		return "was signed by nobody, and not by the key that was given"
	case !c.ring.Counts(at.Add(-grain)):
		return ""
	}
	return "was signed by nobody, though an approver key was enrolled then"
}

// grain is how far times of a record may be from those at which the engine judged: keys and expiries are in whole seconds.
const grain = time.Second

// momentOf is when an event was recorded.
func momentOf(e patterns.Event) time.Time { return time.UnixMicro(e.At) }

// hidden reports whether values of an event were redacted, so that what does not fit in it cannot be told from what was
// changed, and notes that.
func (c *checker) hidden(e patterns.Event) bool {
	if patterns.RedactedAsText(e.Body) == nil {
		return false
	}
	c.unchecked(e.Seq, redactedReason)
	return true
}

// readKnown stores what is known of a recorded value; what is of another shape stays zero.
func readKnown(text json.RawMessage, target any) { _ = ijson.DecodeKnown(text, target) }
