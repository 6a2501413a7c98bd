package gateway

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"patterngate/ijson"
)

const (
	actType   = "patterngate/act/v1"
	actPrefix = "patterngate act v1\n"
)

// actWindow is the maximum difference between the time of a signed act and the time of its check.
const actWindow = 300 * time.Second

// Why a signature does not count.
var (
	ErrSignature = errors.New(wrongSignature)
	ErrStaleAct  = errors.New(signatureTooOld)
)

// PublicKey is the public half of an approver key, as the state file stores it. The zero PublicKey verifies nothing.
type PublicKey struct {
	ID     string // first 16 hex digits of the SHA-256 of the key
	Name   string // chosen by the person
	Public ed25519.PublicKey
	// Enrolled is when the key begins to count, Removed when it ends, in whole seconds. A zero Removed means that the
	// key still counts.
	Enrolled, Removed time.Time
	// Vouched is the act that enrolled the key. A key that counted at that time signed it; the first key signs for
	// itself. Dropped is the act that removed the key.
	Vouched, Dropped SignedAct
}

// SignedAct is an act with its signature. The zero SignedAct is no act.
type SignedAct struct {
	Act
	Signature string
}

// The acts that need a signature if a key is enrolled (spec/surface.md section 8).
const (
	ActEnroll = "approvals.enroll" // subject: id, name, public (padded base64)
	ActRemove = "keys.remove"      // subject: id
	ActSettle = "runs.settle"      // subject: run, effect, happened, and result (hash of its text) if one is given
	ActSeize  = "runs.seize"       // subject: run
	// ActSwitchOff turns a kill switch off; subject: tool or pattern, or neither.
	ActSwitchOff = "kill-switch.off"
	ActReload    = "config.reload"  // subject: config (path), to (hash)
	ActAccept    = "catalog.accept" // subject: name (server/tool), sha256
)

// Ring holds the approver keys of a state file whose enrolment is validly signed. The zero Ring holds none.
//
// A ring is as trustworthy as its file. A person or program that can write the file can replace the whole ring. Only
// the ids of the keys show that.
type Ring struct {
	keys  []PublicKey
	stray bool // the file has keys or removals without a valid signature
}

// MaxKeys bounds a ring. More keys than this do not belong to people.
const MaxKeys = 256

// NewRing reads stored keys. A key that is enrolled while no key counts signs for itself. Each other enrolment and each
// removal needs the signature of a key of the ring that counted at that time. NewRing ignores entries without such a
// signature. If there are any, no unsigned decision counts.
func NewRing(stored []PublicKey) Ring {
	r := Ring{stray: len(stored) > MaxKeys}
	var changes []ringChange
	for _, k := range stored[:min(len(stored), MaxKeys)] {
		changes = append(changes, ringChange{k.Enrolled, k, false})
		if !k.Removed.IsZero() {
			changes = append(changes, ringChange{k.Removed, k, true})
		}
	}
	slices.SortStableFunc(changes, func(a, b ringChange) int { return a.at.Compare(b.at) })
	for len(changes) > 0 {
		later := slices.IndexFunc(changes, func(c ringChange) bool { return !c.at.Equal(changes[0].at) })
		if later < 0 {
			later = len(changes)
		}
		r.take(changes[:later])
		changes = changes[later:]
	}
	return r
}

// ringChange is one key that is enrolled or removed.
type ringChange struct {
	at      time.Time
	key     PublicKey
	removes bool
}

// take makes the changes of one second. Their order within the second is unknown, so it tries any order in which each
// change is validly signed.
func (r *Ring) take(changes []ringChange) {
	for open := len(changes); open > 0; open = len(changes) {
		changes = slices.DeleteFunc(changes, r.change)
		if len(changes) == open {
			r.stray = true
			return
		}
	}
}

// change makes one change if it is validly signed. It reports whether it did.
func (r *Ring) change(c ringChange) bool {
	k := c.key
	i := slices.IndexFunc(r.keys, func(have PublicKey) bool { return have.ID == k.ID })
	if c.removes {
		if i < 0 || !r.keys[i].Removed.IsZero() || !r.signed(k.Dropped, ActRemove, k.Removed, RemoveSubject(k.ID)) {
			return false
		}
		r.keys[i].Removed, r.keys[i].Dropped = k.Removed, k.Dropped
		return true
	}
	if i >= 0 || k.ID != KeyID(k.Public) || len(k.Public) != ed25519.PublicKeySize {
		return false
	}
	first := k.Vouched.Key == k.ID && !slices.ContainsFunc(r.keys, func(have PublicKey) bool { return have.Counts(k.Enrolled) })
	if !(first && k.signed(k.Vouched, ActEnroll, k.Enrolled, k.EnrolSubject())) && !r.signed(k.Vouched, ActEnroll, k.Enrolled, k.EnrolSubject()) {
		return false
	}
	k.Removed, k.Dropped = time.Time{}, SignedAct{}
	r.keys = append(r.keys, k)
	return true
}

// signed reports whether a key that counted at that time signed exactly this act. A key also counts in the second of
// its removal. Keys that are enrolled later are not in the ring yet.
func (r *Ring) signed(a SignedAct, act string, at time.Time, subject map[string]any) bool {
	k, known := r.Find(a.Key)
	return known && (k.Removed.IsZero() || !at.After(k.Removed)) && k.signed(a, act, at, subject)
}

func (k PublicKey) signed(a SignedAct, act string, at time.Time, subject map[string]any) bool {
	return a.Act.Act == act && a.Key == k.ID && a.At.Equal(at) && isNonce(a.Nonce) && ijson.Equal(a.Subject, subject) &&
		k.Verify(a.Message(), a.Signature) == nil
}

// EnrolSubject returns the subject that is signed when the key is enrolled.
func (k PublicKey) EnrolSubject() map[string]any {
	return map[string]any{"id": k.ID, "name": k.Name, "public": base64.StdEncoding.EncodeToString(k.Public)}
}

// RemoveSubject returns the subject that is signed when a key is removed.
func RemoveSubject(id string) map[string]any { return map[string]any{"id": id} }

// Stray reports whether the file has keys or removals without a valid signature. They were written into the file by
// other means, or there are more than [MaxKeys] keys.
func (r Ring) Stray() bool { return r.stray }

// Find returns the key with an id, also a removed one.
func (r Ring) Find(id string) (PublicKey, bool) {
	i := slices.IndexFunc(r.keys, func(k PublicKey) bool { return k.ID == id })
	if id == "" || i < 0 {
		return PublicKey{}, false
	}
	return r.keys[i], true
}

// Keys returns the keys, removed ones too, in the order of their enrolment.
func (r Ring) Keys() []PublicKey { return slices.Clone(r.keys) }

// Counts reports whether only signed decisions count at a time. This is so if a key is enrolled then, or if
// [Ring.Stray] is true.
func (r Ring) Counts(at time.Time) bool {
	return r.stray || slices.ContainsFunc(r.keys, func(k PublicKey) bool { return k.Counts(at) })
}

// KeyID returns the id of a public key.
func KeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:8])
}

// Counts reports whether the key was enrolled and not removed at a time.
func (k PublicKey) Counts(at time.Time) bool {
	return k.ID != "" && k.ID == KeyID(k.Public) && !at.Before(k.Enrolled.Truncate(time.Second)) && (k.Removed.IsZero() || at.Before(k.Removed))
}

// Verify checks a signature: padded base64 of Ed25519 over the message. The error is [ErrSignature].
func (k PublicKey) Verify(message []byte, signature string) error {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || base64.StdEncoding.EncodeToString(raw) != signature { // only one spelling is valid, without line breaks
		return ErrSignature
	}
	if len(k.Public) != ed25519.PublicKeySize || !ed25519.Verify(k.Public, message, raw) {
		return ErrSignature
	}
	return nil
}

// Signer is an approver's private key, decrypted with its passphrase.
type Signer interface {
	// KeyID returns the id of the key's public half.
	KeyID() string
	// Sign returns the signature over a message, in the form that [PublicKey.Verify] expects.
	Sign(message []byte) string
}

// Act is an action of a person that needs a key, such as settling a call or enrolling a key. An answer to a question is
// not an Act.
type Act struct {
	Act     string         // one of the Act constants, such as [ActSettle]
	Subject map[string]any // what the act is about, as decoded values
	At      time.Time      // in whole seconds
	Nonce   string         // 32 hex digits in lower case; each act counts once
	Key     string         // id of the key that signs
}

// Message returns the bytes that are signed.
func (a Act) Message() []byte { return append([]byte(actPrefix), a.Object()...) }

// Object returns the act in canonical form, the form that is signed and recorded.
func (a Act) Object() []byte { return ijson.Canonical(a.Value()) }

// Value returns the act for signing and recording: a decoded value.
func (a Act) Value() map[string]any {
	return map[string]any{
		"type": actType, "act": a.Act, "subject": members(a.Subject), "at": clock(a.At), "nonce": a.Nonce, "key": a.Key,
	}
}

// Fresh checks that the act was signed at most 300 seconds before or after now. The error is [ErrStaleAct].
func (a Act) Fresh(now time.Time) error {
	if d := now.Sub(a.At); d > actWindow || d < -actWindow {
		return ErrStaleAct
	}
	return nil
}

// Check verifies that an act is done now with one of the ring's keys. The caller must check that this is the intended
// act, and that its nonce is new. The error is [ErrStaleAct] or [ErrSignature].
func (r Ring) Check(a SignedAct, now time.Time) error {
	if key, known := r.Find(a.Key); known && key.Counts(a.At) && key.Counts(now) && isNonce(a.Nonce) && a.Fresh(now) != nil {
		return ErrStaleAct
	}
	return r.Stands(a, now)
}

// Stands verifies an act of an earlier time, such as an acceptance that a file holds. Its key must have counted then
// and must count now. The error is [ErrSignature].
func (r Ring) Stands(a SignedAct, now time.Time) error {
	key, known := r.Find(a.Key)
	if !known || !key.Counts(a.At) || !key.Counts(now) || !isNonce(a.Nonce) {
		return ErrSignature
	}
	return key.Verify(a.Message(), a.Signature)
}

func isNonce(s string) bool { return isHex("", s, 32) }
