package patterns

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
)

// These are the limits for the keys in an export.
const (
	maxExportKeys = gateway.MaxKeys // each key may have vouched for the next
	maxKeyName    = 256             // bytes of a person's own text
)

// keyRow is a key in the first line of an export, as the state file keeps it (spec/surface.md section 8). It includes the nonces that
// its signatures cover. The members are sorted by name.
type keyRow struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Public    string   `json:"public"` // padded base64
	Enrolled  string   `json:"enrolled_at"`
	SignedBy  string   `json:"signed_by"`
	Nonce     string   `json:"nonce"`
	Signature string   `json:"signature"`
	Removed   string   `json:"removed_at"`
	Removal   *dropRow `json:"removal"` // with removed_at only
}

// dropRow is the act that removed a key.
type dropRow struct {
	SignedBy  string `json:"signed_by"`
	Nonce     string `json:"nonce"`
	Signature string `json:"signature"`
}

// appendKey appends a key as JSON.
func appendKey(dst []byte, k gateway.PublicKey) []byte {
	row := map[string]any{
		"id": k.ID, "name": k.Name, "public": base64.StdEncoding.EncodeToString(k.Public), "enrolled_at": keyTime(k.Enrolled),
		"signed_by": k.Vouched.Key, "nonce": k.Vouched.Nonce, "signature": k.Vouched.Signature,
	}
	if !k.Removed.IsZero() {
		row["removed_at"] = keyTime(k.Removed)
		row["removal"] = map[string]any{"signed_by": k.Dropped.Key, "nonce": k.Dropped.Nonce, "signature": k.Dropped.Signature}
	}
	return ijson.Append(dst, row)
}

func keyTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// readKey reads a key of an export. It does not check that another key vouches for this key: the ring made from all keys checks that.
// The check of the whole line covers the spelling.
func readKey(text []byte) (k gateway.PublicKey, reason string) {
	var row keyRow
	if err := ijson.DecodeInto(text, &row); err != nil {
		return k, "holds a key that is none: " + err.Error()
	}
	public, err := base64.StdEncoding.Strict().DecodeString(row.Public)
	enrolled, badTime := time.Parse(time.RFC3339, row.Enrolled)
	switch {
	case err != nil || len(public) != ed25519.PublicKeySize:
		return k, "holds a key whose public half is not padded base64 of 32 bytes"
	case badTime != nil:
		return k, "holds a key whose enrolled_at is not a time such as 2026-11-21T09:30:00Z"
	case len(row.Name) > maxKeyName:
		return k, fmt.Sprintf("holds a key whose name has %d bytes; at most %d are read", len(row.Name), maxKeyName)
	case (row.Removed == "") != (row.Removal == nil):
		return k, "holds a key with a removal or removed_at alone"
	}
	k = gateway.PublicKey{ID: row.ID, Name: row.Name, Public: public, Enrolled: enrolled}
	k.Vouched = gateway.SignedAct{Signature: row.Signature, Act: gateway.Act{
		Act: gateway.ActEnroll, Subject: k.EnrolSubject(), At: enrolled, Nonce: row.Nonce, Key: row.SignedBy,
	}}
	if row.Removal == nil {
		return k, ""
	}
	if k.Removed, badTime = time.Parse(time.RFC3339, row.Removed); badTime != nil {
		return k, "holds a key whose removed_at is not a time such as 2026-11-21T09:30:00Z"
	}
	k.Dropped = gateway.SignedAct{Signature: row.Removal.Signature, Act: gateway.Act{
		Act: gateway.ActRemove, Subject: gateway.RemoveSubject(k.ID), At: k.Removed, Nonce: row.Removal.Nonce, Key: row.Removal.SignedBy,
	}}
	return k, ""
}

// keysOf returns the keys that made a record's signatures, and the keys that vouch for them or removed them. The order is the ring's:
// the first enrolled key first.
func keysOf(events []Event, ring gateway.Ring) []gateway.PublicKey {
	needed := map[string]bool{}
	for _, e := range events {
		if id := signerOf(e); id != "" {
			needed[id] = true
		}
	}
	all := ring.Keys()
	for more := true; more; { // a key that vouches for a needed key, or removed it, is needed too
		more = false
		for _, k := range all {
			for _, by := range []string{k.Vouched.Key, k.Dropped.Key} {
				if needed[k.ID] && by != "" && !needed[by] {
					needed[by], more = true, true
				}
			}
		}
	}
	var keys []gateway.PublicKey
	for _, k := range all {
		if needed[k.ID] {
			keys = append(keys, k)
		}
	}
	return keys
}

// signerOf returns the id of the key that signed what an event records; "" for none.
func signerOf(e Event) string {
	if e.Kind != OutcomeEvent && e.Kind != NoteEvent {
		return ""
	}
	body, err := DecodeBody(e)
	if err != nil {
		return ""
	}
	var signed []byte
	switch b := body.(type) {
	case *OutcomeBody:
		signed = b.Decision
	case *NoteBody:
		signed = b.Act
	}
	var by struct {
		Key string `json:"key"`
	}
	if ijson.DecodeKnown(signed, &by) != nil {
		return ""
	}
	return by.Key
}
