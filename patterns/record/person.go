package record

import (
	"encoding/json"
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Person is the part of a row about a question to a person, an attempt to answer one, or a signed act. The zero Person is empty.
type Person struct {
	Approval  string `json:"approval_id,omitempty"` // known once the question is decided
	ExpiresAt string `json:"expires_at,omitempty"`  // the deadline of an answer
	Digest    string `json:"digest,omitempty"`      // of the question
	DecidedAt string `json:"decided_at,omitempty"`
	KeyID     string `json:"key_id,omitempty"` // of the key that is named as the signer; [Check] says whether it signed
	KeyName   string `json:"key_name,omitempty"`
	Edits     []Edit `json:"edits,omitempty"`    // the arguments that the person changed
	Compared  *bool  `json:"compared,omitempty"` // false: the digest was not compared with what a person saw
	SpentBy   string `json:"spent_by,omitempty"` // the key of the first call that used the approval

	args  json.RawMessage // the arguments of the call in question
	about string          // the key of the effect that a signed act is about
}

// Edit is an argument that a person changed.
type Edit struct {
	Name string          `json:"argument"`
	From json.RawMessage `json:"from,omitempty"` // nil: it was absent before
	To   json.RawMessage `json:"to,omitempty"`   // nil: it is absent now
}

// editsOf returns the differences between two sets of arguments, by name.
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

// asked fills the row with the question.
func (r *Row) asked(b patterns.IntentBody) {
	var object struct {
		Args    json.RawMessage `json:"args"`
		Expires string          `json:"expires"`
	}
	readKnown(b.Object, &object)
	r.Digest, r.ExpiresAt, r.args = b.Digest, object.Expires, object.Args
}

// attempted fills the row with a refused attempt to answer a question.
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

// AskedArgs returns the arguments of the call that a person was asked about; nil if the question is not about a call or no person was
// asked.
func (r Row) AskedArgs() json.RawMessage { return r.args }

// RefusedAnswer reports whether the row is a refused attempt to answer a question.
func (r Row) RefusedAnswer() bool { return r.Kind == Judged && r.Approval != "" }

// acted fills the row with the signed act of a note.
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

// spent notes for each approval the first call that used it.
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

// Naming returns the story with the names of the keys in it.
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

// BlockedAfter returns the row of the policy that blocked a call after a person had approved it under this approval, with or without
// changes. ok is false if there is none.
func (s Story) BlockedAfter(approval string) (row Row, ok bool) {
	at := slices.IndexFunc(s.Rows, func(r Row) bool {
		return r.Kind == string(patterns.HumanEffect) && r.Approval == approval && r.Decision != string(gateway.ChooseReject)
	})
	if at < 0 || approval == "" {
		return Row{}, false
	}
	tool, _ := s.Rows[at].About()
	for _, r := range s.Rows[at+1:] {
		switch {
		case r.Grant == approval:
			return Row{}, false
		case r.Branch() == s.Rows[at].Branch() && r.Kind == Judged && !r.RefusedAnswer() && r.Name == tool:
			return r, r.Decision == gateway.Block.String()
		}
	}
	return Row{}, false
}

// refusedCall reports whether the row is a call that was refused because of its approval.
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

// awaitsPerson reports whether a person's answer is still missing.
func (r Row) awaitsPerson() bool { return r.State == Open && r.ExpiresAt != "" }

// unanswered reports whether a person was asked about a call and no answer counts.
func (r Row) unanswered() bool {
	_, effect := r.About()
	return r.Kind == string(patterns.HumanEffect) && effect == "" && r.State == string(patterns.Failed)
}
