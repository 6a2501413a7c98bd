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
	// Enrolled is from when the key counts, Removed until when, in whole seconds; zero: it counts still.
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
)

// Ring is the approver keys of a state file: those that are vouched for. The zero Ring holds none.
type Ring struct {
	keys  []PublicKey
	stray bool // there are keys that nobody vouches for
}

// NewRing reads stored keys, in the order of their enrolment. Each but the first must be signed by one before it that
// counted then; a removal likewise. What is not is no key, and as long as there is such a thing no unsigned decision counts.
func NewRing(stored []PublicKey) Ring {
	var r Ring
	for _, k := range stored {
		signer, known := k, len(r.keys) == 0 && !r.stray
		if !known {
			signer, known = r.Find(k.Vouched.Key)
		}
		if !known || k.ID != KeyID(k.Public) || !signer.vouches(k) {
			r.stray = true
			continue
		}
		r.keys = append(r.keys, k)
	}
	for i, k := range r.keys {
		if k.Removed.IsZero() {
			continue
		}
		if signer, known := r.Find(k.Dropped.Key); !known || !signer.drops(k) {
			r.keys[i].Removed, r.stray = time.Time{}, true
		}
	}
	return r
}

// vouches reports whether k signed that another key, or itself, is enrolled.
func (k PublicKey) vouches(other PublicKey) bool {
	a := other.Vouched
	return a.Act.Act == ActEnroll && a.Key == k.ID && a.At.Equal(other.Enrolled) && k.counted(a.At) &&
		ijson.Equal(a.Subject, other.EnrolSubject()) && k.Verify(a.Message(), a.Signature) == nil
}

func (k PublicKey) drops(other PublicKey) bool {
	a := other.Dropped
	return a.Act.Act == ActRemove && a.Key == k.ID && a.At.Equal(other.Removed) && k.counted(a.At) &&
		ijson.Equal(a.Subject, map[string]any{"id": other.ID}) && k.Verify(a.Message(), a.Signature) == nil
}

// EnrolSubject is what is signed of a key that is enrolled.
func (k PublicKey) EnrolSubject() map[string]any {
	return map[string]any{"id": k.ID, "name": k.Name, "public": base64.StdEncoding.EncodeToString(k.Public)}
}

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

// counted is Counts for acts that were taken by who knew: a key may have signed in the second in which it was removed.
func (k PublicKey) counted(at time.Time) bool {
	return k.Counts(at) || k.ID == KeyID(k.Public) && !at.Before(k.Enrolled) && at.Equal(k.Removed)
}

// Verify checks a signature: padded base64 of Ed25519 over the message. Its error is [ErrSignature].
func (k PublicKey) Verify(message []byte, signature string) error {
	raw, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || len(k.Public) != ed25519.PublicKeySize || !ed25519.Verify(k.Public, message, raw) {
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
	Subject map[string]any // what it is done to
	At      time.Time      // in whole seconds
	Nonce   string         // 32 hex digits: an act counts once
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

// Check verifies an act that is done now with one of the ring's keys. Its error is [ErrStaleAct] or [ErrSignature].
func (r Ring) Check(a SignedAct, now time.Time) error {
	key, known := r.Find(a.Key)
	switch {
	case !known || !key.Counts(a.At) || !key.Counts(now) || !isNonce(a.Nonce):
		return ErrSignature
	case a.Fresh(now) != nil:
		return ErrStaleAct
	}
	return key.Verify(a.Message(), a.Signature)
}

func isNonce(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 16
}
