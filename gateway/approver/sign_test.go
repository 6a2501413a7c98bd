package approver

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"patterngate/gateway"
)

// keyOf is an opened key that no passphrase sealed, and its file.
func keyOf(seed byte, name string) (*Key, File) {
	s := make([]byte, ed25519.SeedSize)
	s[0] = seed
	private := ed25519.NewKeyFromSeed(s)
	public := private.Public().(ed25519.PublicKey)
	id := gateway.KeyID(public)
	return hold(private), File{Type: fileType, ID: id, Name: name, Public: base64.StdEncoding.EncodeToString(public)}
}

func TestEnrolment(t *testing.T) {
	ada, adaFile := keyOf(1, "Ada")
	bob, bobFile := keyOf(2, "Bob")
	first, err := Enrolment(adaFile, ada, start)
	if err != nil {
		t.Fatal(err)
	}
	further, err := Enrolment(bobFile, ada, start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	ring := gateway.NewRing([]gateway.PublicKey{first, further})
	for _, want := range []gateway.PublicKey{first, further} {
		if got, ok := ring.Find(want.ID); !ok || got.Name != want.Name || !got.Counts(want.Enrolled) || got.Counts(want.Enrolled.Add(-time.Second)) {
			t.Errorf("Find(%s) = %+v, %v; want %s, from its enrolment", want.ID, got, ok, want.Name)
		}
	}
	itself, err := Enrolment(bobFile, bob, start.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := gateway.NewRing([]gateway.PublicKey{first, itself}).Find(itself.ID); ok {
		t.Error("a further key that only vouches for itself is in the ring")
	}
	if _, err := Enrolment(File{ID: "x", Public: "AAAA"}, ada, start); err == nil {
		t.Error("Enrolment(a damaged file) = no error")
	}
}

func TestSignHasFreshNonces(t *testing.T) {
	ada, file := keyOf(1, "Ada")
	first, err := Enrolment(file, ada, start)
	if err != nil {
		t.Fatal(err)
	}
	ring := gateway.NewRing([]gateway.PublicKey{first})
	subject := map[string]any{"run": "run_0123456789abcdef"}
	a, b := Sign(gateway.ActSeize, subject, ada, start), Sign(gateway.ActSeize, subject, ada, start)
	if a.Nonce == b.Nonce || a.Signature == b.Signature || len(a.Nonce) != 32 {
		t.Errorf("Sign twice: nonces %q and %q, want two of 32 digits", a.Nonce, b.Nonce)
	}
	if err := ring.Check(a, start); err != nil {
		t.Errorf("Check(a signed act) = %v", err)
	}
	a.Subject = map[string]any{"run": "run_0123456789abcdee"}
	if err := ring.Check(a, start); !errors.Is(err, gateway.ErrSignature) {
		t.Errorf("Check(its signature for another run) = %v, want ErrSignature", err)
	}
}

func TestDecide(t *testing.T) {
	ada, file := keyOf(1, "Ada")
	public, err := Enrolment(file, ada, start)
	if err != nil {
		t.Fatal(err)
	}
	q := gateway.Question{Run: "run_0123456789abcdef", Step: "step#1", Tool: "pay", Expires: start.Add(time.Hour)}
	a := gateway.Answered("ap_0123456789abcdef", q, gateway.ChooseApprove, nil)
	a.At, a.By = start, "local:1000"
	signed, signature := Decide(a, ada)
	if signed.Key != ada.KeyID() || signed.By != "key:"+ada.KeyID() || signed.At.Nanosecond() != 0 || signed.Executes != a.Executes {
		t.Errorf("Decide = %+v", signed)
	}
	if err := public.Verify(signed.Message(), signature); err != nil {
		t.Errorf("Verify = %v", err)
	}
	if err := public.Verify(a.Message(), signature); !errors.Is(err, gateway.ErrSignature) {
		t.Errorf("Verify(the answer before it was made the key's) = %v, want ErrSignature", err)
	}
}
