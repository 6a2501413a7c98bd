package approver

import (
	"encoding/hex"
	"fmt"
	"time"

	"patterngate/gateway"
)

// Enrolment returns the public half of a key with the signed act that enrols it. A key that counts must sign the act;
// the first key signs for itself. The error says that the file's public key is damaged.
func Enrolment(f File, by gateway.Signer, now time.Time) (gateway.PublicKey, error) {
	public, err := f.PublicKey()
	if err != nil {
		return gateway.PublicKey{}, fmt.Errorf("%w of %.40q", err, f.ID)
	}
	k := gateway.PublicKey{ID: gateway.KeyID(public), Name: f.Name, Public: public, Enrolled: second(now)}
	k.Vouched = Sign(gateway.ActEnroll, k.EnrolSubject(), by, now)
	return k, nil
}

// Sign returns a signed act with the time now and a new nonce, so the act counts once. The subject holds decoded
// values.
func Sign(act string, subject map[string]any, by gateway.Signer, now time.Time) gateway.SignedAct {
	const nonceBytes = 16
	a := gateway.Act{Act: act, Subject: subject, At: second(now), Nonce: hex.EncodeToString(random(nonceBytes)), Key: by.KeyID()}
	return gateway.SignedAct{Act: a, Signature: by.Sign(a.Message())}
}

// Decide signs an answer with a key. It sets the answer's Key and By, and shortens At to whole seconds. The signature
// is over the whole answer.
func Decide(a gateway.Answer, by gateway.Signer) (signed gateway.Answer, signature string) {
	a.Key, a.By, a.At = by.KeyID(), "key:"+by.KeyID(), second(a.At)
	return a, by.Sign(a.Message())
}

// second returns a time in UTC and whole seconds, as signatures need it.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
