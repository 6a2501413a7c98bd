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

// Check reads a record from its beginning and stops at the first event that does not fit:
//
//	chain, length, kept head ──▶ each event ─┬─ question: its digest is recomputed
//	                                         ├─ answer: to this question, in time, by a key that counted then
//	                                         ├─ call with a grant: exactly what was approved, once
//	                                         └─ settle, seize: signed if a key was enrolled

// Evidence is a record and the data to check it against. RunID and Events are needed.
type Evidence struct {
	RunID  string
	Events []patterns.Event
	Length int64          // as kept beside the run when it last waited or ended; 0: not known
	Row    patterns.Kept  // the run's row in the state file; zero: not known
	Kept   *patterns.Head // the head as kept elsewhere; nil: none
	// Ring holds the approver keys: those of the state file or of an export.
	Ring gateway.Ring
	// Only holds public keys that are known from elsewhere. Then only their signatures count. Nil: the keys of Ring are trusted.
	Only []ed25519.PublicKey
}

// Report is the result of a check of a record. The zero Report confirms nothing.
type Report struct {
	OK     bool          `json:"ok"`
	Events int64         `json:"events"`
	Head   patterns.Head `json:"-"`
	// Broken is the first place that does not fit; nil: there is none.
	Broken *patterns.BrokenRecord `json:"-"`

	Decisions  int         `json:"decisions"`            // by people, about calls
	Signed     int         `json:"signed"`               // those with a valid signature of a key
	Spent      int         `json:"spent"`                // those that a call used
	Signatures []Signature `json:"signatures,omitempty"` // by key, in the order of each key's first signature
	// Unchecked lists places that could not be checked, because values were redacted or are of a newer version.
	Unchecked []Unchecked `json:"not_checked,omitempty"`
}

// Signature counts what one key signed in a record: decisions, settlements, seizures.
type Signature struct {
	KeyID string `json:"key_id"`
	Name  string `json:"name,omitempty"` // a person's own text
	Count int    `json:"count"`
}

// Unchecked is a place of a record that could not be checked, and the reason.
type Unchecked struct {
	Seq    int64  `json:"seq"`
	Reason string `json:"reason"`
}

// Lines returns the results, one a line. The first line says whether the record is valid. Names and reasons are as they were recorded:
// the caller must make hidden characters visible.
func (r Report) Lines() []string {
	if !r.OK {
		reason := nothingChecked
		if r.Broken != nil {
			reason = r.Broken.Error()
		}
		return []string{broken + reason}
	}
	lines := []string{whole + counted(int(r.Events), "event")}
	if r.Decisions > 0 {
		lines = append(lines, fmt.Sprintf(decidedLine, r.Decisions, r.Signed, r.Spent))
	}
	for _, s := range r.Signatures {
		line := fmt.Sprintf(signatureLine, s.Count, s.KeyID)
		if s.Name != "" {
			line += " (" + s.Name + ")"
		}
		lines = append(lines, line)
	}
	for _, u := range r.Unchecked {
		lines = append(lines, fmt.Sprintf(uncheckedLine, u.Seq, u.Reason))
	}
	return lines
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Check proves what a record can prove (spec/surface.md section 7): its order and completeness, every signature in it, and that each
// approval was used by exactly the approved call. It cannot prove that the record was not rewritten as a whole: for that, Kept or Only
// is needed.
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

// whole checks the chain, and compares it with the kept length and head.
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

// brokenBy returns the error of a check as a BrokenRecord.
func brokenBy(err error) *patterns.BrokenRecord {
	if broken, ok := errors.AsType[*patterns.BrokenRecord](err); ok {
		return broken
	}
	return &patterns.BrokenRecord{Reason: err.Error()}
}

// counting returns the ring of the keys that count. A stored key without a voucher does not count, and it does not invalidate earlier
// decisions. For keys in Only, the ring adds the name and the time of removal, if it has them.
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

// checker checks the events of a record in order.
type checker struct {
	evidence Evidence
	ring     gateway.Ring
	report   Report
	asked    map[string]*question // by the key of the human effect
	given    map[string]*answer   // by the approval's id
	put      bool                 // a person was asked, not the simulated approver
	steps    map[string]bool      // the keys of the calls that a person was asked about
	whole    bool                 // a person was asked about a whole plan: then its writes need the approval
	acts     acts
}

// event checks one event. reason says what does not fit; "" if all fits.
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
			return spendsForNoCall
		}
	case *patterns.OutcomeBody:
		if q := c.asked[e.Key]; q != nil {
			delete(c.asked, e.Key) // one answer per question
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

// signed counts a valid signature.
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

// knows says why a key cannot be the signer of something at a time; "" if it can.
func (c *checker) knows(id string, at time.Time) string {
	key, known := c.ring.Find(id)
	switch {
	case !known && c.evidence.Only != nil:
		return fmt.Sprintf(keyNotGiven, id)
	case !known:
		return fmt.Sprintf(keyUnknown, id)
	case key.Counts(at), key.Counts(at.Add(-grain)): // a signature in the same second as the key's removal counts
		return ""
	case !key.Removed.IsZero() && !at.Before(key.Removed):
		return fmt.Sprintf(keyRemoved, id)
	}
	return fmt.Sprintf(keyNotEnrolled, id)
}

// unsigned says why a decision or act without a signature does not count; "" if it does.
func (c *checker) unsigned(at time.Time) string {
	switch {
	case c.evidence.Only != nil: // only the ring has the removal, and a person who rewrites a record writes the ring too
		return unsignedGiven
	case !c.ring.Counts(at.Add(-grain)):
		return ""
	}
	return unsigned
}

// grain is how much the times of a record may differ from those at which the engine judged: keys and expiries are in whole seconds.
const grain = time.Second

// momentOf returns when an event was recorded.
func momentOf(e patterns.Event) time.Time { return time.UnixMicro(e.At) }

// hidden reports whether values of an event were redacted, and notes that. A mismatch in such an event may come from the redaction.
func (c *checker) hidden(e patterns.Event) bool {
	if patterns.RedactedAsText(e.Body) == nil {
		return false
	}
	c.unchecked(e.Seq, redactedReason)
	return true
}

// readKnown decodes a recorded value into target. Values of another form stay zero.
func readKnown(text json.RawMessage, target any) { _ = ijson.DecodeKnown(text, target) }
