package approver

import (
	"encoding/hex"
	"fmt"
	"time"

	"patterngate/gateway"
)

// Enrolment is the public half of a key as it is handed in, vouched for by a key that counts: the first one by itself. Its
// error says that the file is damaged.
func Enrolment(f File, by gateway.Signer, now time.Time) (gateway.PublicKey, error) {
	public, err := f.PublicKey()
	if err != nil {
		return gateway.PublicKey{}, fmt.Errorf("%w of %.40q", err, f.ID)
	}
	k := gateway.PublicKey{ID: gateway.KeyID(public), Name: f.Name, Public: public, Enrolled: second(now)}
	k.Vouched = Sign(gateway.ActEnroll, k.EnrolSubject(), by, now)
	return k, nil
}

// Sign is an act that is done now, signed, with a nonce of its own: it can be done once. The subject holds decoded values.
func Sign(act string, subject map[string]any, by gateway.Signer, now time.Time) gateway.SignedAct {
	const nonceBytes = 16
	a := gateway.Act{Act: act, Subject: subject, At: second(now), Nonce: hex.EncodeToString(random(nonceBytes)), Key: by.KeyID()}
	return gateway.SignedAct{Act: a, Signature: by.Sign(a.Message())}
}

// Decide makes an answer the key's own: it names the key, and the signature is over all of it.
func Decide(a gateway.Answer, by gateway.Signer) (signed gateway.Answer, signature string) {
	a.Key, a.By, a.At = by.KeyID(), "key:"+by.KeyID(), second(a.At)
	return a, by.Sign(a.Message())
}

// second is a time as it is signed: in whole seconds.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
