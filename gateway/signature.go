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

// actWindow is how far the time of a signed act may be from the time at which it is taken.
const actWindow = 300 * time.Second

// Why a signature does not count.
var (
	ErrSignature = errors.New("gateway: the signature is not this key's over this")
	ErrStaleAct  = errors.New("gateway: the act was signed more than 300 seconds from now")
)

// PublicKey is the public half of an approver key, as the state file keeps it. The zero PublicKey verifies nothing.
type PublicKey struct {
	ID     string // first 16 hex digits of the SHA-256 of the key
	Name   string // the person's words
	Public ed25519.PublicKey
	// Enrolled is from when the key counts, Removed until when, in whole seconds; a zero Removed: it counts still.
	Enrolled, Removed time.Time
	// Vouched is the act by which it was enrolled, signed by a key that counted then, the first one by itself; Dropped the
	// one by which it was removed.
	Vouched, Dropped SignedAct
}

// SignedAct is an act with its signature. The zero SignedAct is none.
type SignedAct struct {
	Act
	Signature string
}

// The acts that need a key where one is enrolled (spec/surface.md section 8).
const (
	ActEnroll = "approvals.enroll" // subject: id, name, public (padded base64)
	ActRemove = "keys.remove"      // subject: id
	ActSettle = "runs.settle"      // subject: run, effect, happened, and result (hash of its text) where one is given
	ActSeize  = "runs.seize"       // subject: run
	// ActSwitchOff takes a kill switch off; subject: tool or pattern, or neither.
	ActSwitchOff = "kill-switch.off"
	ActReload    = "config.reload"  // subject: config (path), to (hash)
	ActAccept    = "catalog.accept" // subject: name (server/tool), sha256
)

// Ring is the approver keys of a state file: those that are vouched for. The zero Ring holds none.
//
// A ring is as good as the file it was read from: who may write there can put a ring of their own in its place, which shows
// only in the ids of its keys.
type Ring struct {
	keys  []PublicKey
	stray bool // there is what nobody vouches for
}

// MaxKeys bounds a ring: more keys than this are not people's.
const MaxKeys = 256

// NewRing reads stored keys. A key that comes while none counts signs for itself; each further one, and each removal, is
// signed by a key of the ring that counted then. What is not is no key, or no removal, and as long as there is such a thing
// no unsigned decision counts.
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

// ringChange is one key that comes or goes.
type ringChange struct {
	at      time.Time
	key     PublicKey
	removes bool
}

// take makes the changes of one second, in which nobody knows the order: whatever can come after another does.
func (r *Ring) take(changes []ringChange) {
	for open := len(changes); open > 0; open = len(changes) {
		changes = slices.DeleteFunc(changes, r.change)
		if len(changes) == open {
			r.stray = true
			return
		}
	}
}

// change makes one change, if it is signed by who may.
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

// signed reports whether a key that counted then, in its last second too, signed exactly this act. Keys that come later are
// not in the ring yet.
func (r *Ring) signed(a SignedAct, act string, at time.Time, subject map[string]any) bool {
	k, known := r.Find(a.Key)
	return known && (k.Removed.IsZero() || !at.After(k.Removed)) && k.signed(a, act, at, subject)
}

func (k PublicKey) signed(a SignedAct, act string, at time.Time, subject map[string]any) bool {
	return a.Act.Act == act && a.Key == k.ID && a.At.Equal(at) && isNonce(a.Nonce) && ijson.Equal(a.Subject, subject) &&
		k.Verify(a.Message(), a.Signature) == nil
}

// EnrolSubject is what is signed of a key that is enrolled.
func (k PublicKey) EnrolSubject() map[string]any {
	return map[string]any{"id": k.ID, "name": k.Name, "public": base64.StdEncoding.EncodeToString(k.Public)}
}

// RemoveSubject is what is signed when a key is removed.
func RemoveSubject(id string) map[string]any { return map[string]any{"id": id} }

// Stray reports whether there are keys or removals that nobody vouches for: somebody wrote them into the file.
func (r Ring) Stray() bool { return r.stray }

// Find is the key of an id, also a removed one.
func (r Ring) Find(id string) (PublicKey, bool) {
	i := slices.IndexFunc(r.keys, func(k PublicKey) bool { return k.ID == id })
	if id == "" || i < 0 {
		return PublicKey{}, false
	}
	return r.keys[i], true
}

// Keys lists the keys, removed ones too, in the order of their enrolment.
func (r Ring) Keys() []PublicKey { return slices.Clone(r.keys) }

// Counts reports whether only signed decisions count at a time: a key is enrolled then, or the keys are not what they
// should be.
func (r Ring) Counts(at time.Time) bool {
	return r.stray || slices.ContainsFunc(r.keys, func(k PublicKey) bool { return k.Counts(at) })
}

// KeyID is the id of a public key.
func KeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return hex.EncodeToString(sum[:8])
}

// Counts reports whether the key was enrolled and not removed at a time.
func (k PublicKey) Counts(at time.Time) bool {
	return k.ID != "" && k.ID == KeyID(k.Public) && !at.Before(k.Enrolled.Truncate(time.Second)) && (k.Removed.IsZero() || at.Before(k.Removed))
}

// Verify checks a signature: padded base64 of Ed25519 over the message. Its error is [ErrSignature].
func (k PublicKey) Verify(message []byte, signature string) error {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || base64.StdEncoding.EncodeToString(raw) != signature { // one spelling, without line breaks
		return ErrSignature
	}
	if len(k.Public) != ed25519.PublicKeySize || !ed25519.Verify(k.Public, message, raw) {
		return ErrSignature
	}
	return nil
}

// Signer is an approver's private key, opened by its passphrase.
type Signer interface {
	// KeyID is the id of its public half.
	KeyID() string
	// Sign is the signature over a message, as [PublicKey.Verify] takes it.
	Sign(message []byte) string
}

// Act is what a person does that needs a key, but is no answer to a question: settling, seizing, keys.
type Act struct {
	Act     string         // runs.settle, runs.seize, approvals.enroll, keys.remove
	Subject map[string]any // what it is done to, in decoded values
	At      time.Time      // in whole seconds
	Nonce   string         // 32 hex digits, in lower case: an act counts once
	Key     string         // id of the key that signs
}

// Message is what is signed.
func (a Act) Message() []byte { return append([]byte(actPrefix), a.Object()...) }

// Object is the act in canonical form, as it is signed and recorded.
func (a Act) Object() []byte { return ijson.Canonical(a.Value()) }

// Value is the act as it is signed and recorded: a decoded value.
func (a Act) Value() map[string]any {
	return map[string]any{
		"type": actType, "act": a.Act, "subject": members(a.Subject), "at": clock(a.At), "nonce": a.Nonce, "key": a.Key,
	}
}

// Fresh reports whether the act was signed about now. Its error is [ErrStaleAct].
func (a Act) Fresh(now time.Time) error {
	if d := now.Sub(a.At); d > actWindow || d < -actWindow {
		return ErrStaleAct
	}
	return nil
}

// Check verifies that an act is done now with one of the ring's keys. That it is the act which is about to be done, and the
// first with its nonce, the caller compares. Its error is [ErrStaleAct] or [ErrSignature].
func (r Ring) Check(a SignedAct, now time.Time) error {
	if key, known := r.Find(a.Key); known && key.Counts(a.At) && key.Counts(now) && isNonce(a.Nonce) && a.Fresh(now) != nil {
		return ErrStaleAct
	}
	return r.Stands(a, now)
}

// Stands verifies an act that was done at its time with a key that counted then and counts now, such as an acceptance that is
// kept in a file. Its error is [ErrSignature].
func (r Ring) Stands(a SignedAct, now time.Time) error {
	key, known := r.Find(a.Key)
	if !known || !key.Counts(a.At) || !key.Counts(now) || !isNonce(a.Nonce) {
		return ErrSignature
	}
	return key.Verify(a.Message(), a.Signature)
}

func isNonce(s string) bool { return isHex("", s, 32) }
