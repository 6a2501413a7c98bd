package record

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Person is what a row says of a question to a person who takes their time, of an attempt to answer one, or of an act that
// somebody signed. The zero Person says nothing.
type Person struct {
	Approval  string `json:"approval_id,omitempty"` // known when it is decided
	ExpiresAt string `json:"expires_at,omitempty"`  // until when an answer counts
	Digest    string `json:"digest,omitempty"`      // of what was asked
	DecidedAt string `json:"decided_at,omitempty"`
	KeyID     string `json:"key_id,omitempty"` // of the key that is said to have signed; [Check] says whether it did
	KeyName   string `json:"key_name,omitempty"`
	Edits     []Edit `json:"edits,omitempty"`    // what they changed
	Compared  *bool  `json:"compared,omitempty"` // false: the digest was not compared with what a person saw
	SpentBy   string `json:"spent_by,omitempty"` // the key of the first call that the approval let through

	args  json.RawMessage // that were asked about
	about string          // the key of the effect that a signed act is about
}

// Edit is an argument that a person changed.
type Edit struct {
	Name string          `json:"argument"`
	From json.RawMessage `json:"from,omitempty"` // nil: it was not there
	To   json.RawMessage `json:"to,omitempty"`   // nil: it is not there any more
}

// editsOf is what differs between arguments, by their names.
func editsOf(from, to json.RawMessage) []Edit {
	var before, after map[string]json.RawMessage
	if ijson.DecodeKnown(from, &before) != nil || ijson.DecodeKnown(to, &after) != nil {
		return nil
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	var list []Edit
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if string(before[name]) != string(after[name]) {
			list = append(list, Edit{name, before[name], after[name]})
		}
	}
	return list
}

// asked enters the question itself.
func (r *Row) asked(b patterns.IntentBody) {
	var object struct {
		Args    json.RawMessage `json:"args"`
		Expires string          `json:"expires"`
	}
	readKnown(b.Object, &object)
	r.Digest, r.ExpiresAt, r.args = b.Digest, object.Expires, object.Args
}

// attempted enters an attempt to answer a question, which was refused.
func (r *Row) attempted(proposal json.RawMessage) {
	if r.Phase != patterns.PhaseHuman || r.Decision != "refused" {
		return
	}
	var p struct {
		Approval string `json:"approval"`
		Digest   string `json:"digest"`
		By       string `json:"by"`
		Channel  string `json:"channel"`
		Key      string `json:"key"`
	}
	readKnown(proposal, &p)
	r.Approval, r.Digest, r.By, r.Channel, r.KeyID = p.Approval, p.Digest, p.By, p.Channel, p.Key
}

// AskedArgs are the arguments of the call that a person was asked about; nil where they were not asked about one, or nobody's
// time was taken.
func (r Row) AskedArgs() json.RawMessage { return r.args }

// RefusedAnswer reports whether the row is an attempt to answer a question, which was refused.
func (r Row) RefusedAnswer() bool { return r.Kind == Judged && r.Approval != "" }

// acted enters what was signed of an act from outside.
func (r *Row) acted(b patterns.NoteBody) {
	var act struct {
		Key     string `json:"key"`
		Subject struct {
			Effect   string `json:"effect"`
			Happened *bool  `json:"happened"`
		} `json:"subject"`
	}
	readKnown(b.Act, &act)
	if act.Key == "" {
		return
	}
	r.KeyID, r.about, r.Sure = act.Key, act.Subject.Effect, string(gateway.SignedAssurance)
	if happened := act.Subject.Happened; happened != nil {
		r.Decision = map[bool]string{true: "happened", false: "did_not_happen"}[*happened]
	}
}

// spent notes by which call each approval was spent first.
func (s *Story) spent() {
	by := map[string]string{}
	for _, r := range s.Rows {
		if r.Grant != "" && by[r.Grant] == "" {
			by[r.Grant] = r.Key
		}
	}
	for i, r := range s.Rows {
		if r.Kind == string(patterns.HumanEffect) && r.Approval != "" {
			s.Rows[i].SpentBy = by[r.Approval]
		}
	}
}

// Naming is the story with the names of the keys in it.
func (s Story) Naming(ring gateway.Ring) Story {
	s.Rows = slices.Clone(s.Rows)
	for i, r := range s.Rows {
		if key, known := ring.Find(r.KeyID); known {
			s.Rows[i].KeyName = key.Name
		}
	}
	return s
}

// Calling returns the story with the name that named gives for each person in it. Records and JSON keep the ids.
func (s Story) Calling(named func(id string) string) Story {
	if named == nil {
		return s
	}
	s.Principal, s.Rows = named(s.Principal), slices.Clone(s.Rows)
	for i, r := range s.Rows {
		s.Rows[i].By = named(r.By)
	}
	return s
}

// refusedCall reports whether the row is a call that its approval did not let through.
func (r Row) refusedCall() bool {
	if r.State != string(patterns.Canceled) {
		return false
	}
	switch r.Reason {
	case gateway.ApprovalExpired, gateway.ApprovalConsumed, gateway.ApprovalInvalid:
		return true
	}
	return false
}

// awaitsPerson reports whether a person is still to answer.
func (r Row) awaitsPerson() bool { return r.State == Open && r.ExpiresAt != "" }

// unanswered reports whether a person was asked about a call, and gave no answer that counts.
func (r Row) unanswered() bool {
	_, effect := r.About()
	return r.Kind == string(patterns.HumanEffect) && effect == "" && r.State == string(patterns.Failed)
}
