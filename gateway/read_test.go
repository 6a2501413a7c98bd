package gateway

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"
)

var readAt = time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)

func readQuestion() Question {
	return Question{
		Run: "run_00000000000000a1", Step: "issue_refund#1", Tool: "issue_refund", Args: map[string]any{"amount_usd": 1200.0, "note": "\u202e<b>"},
		Expires: readAt,
	}
}

func readAct() Act {
	return Act{Act: ActSettle, Subject: map[string]any{"run": "run_1", "happened": true}, At: readAt, Nonce: strings.Repeat("0a", 16), Key: "k"}
}

// What is read back is what was written, and its digest or signature that of the same bytes.
func TestReadBack(t *testing.T) {
	q, err := ReadQuestion(readQuestion().Object())
	if err != nil || q.Digest() != readQuestion().Digest() || q.Step != "issue_refund#1" || q.Args["amount_usd"] != 1200.0 || !q.Expires.Equal(readAt) {
		t.Errorf("ReadQuestion = %+v, %v", q, err)
	}
	a, err := ReadAct(readAct().Object())
	if err != nil || !bytes.Equal(a.Message(), readAct().Message()) || a.Act != ActSettle || !a.At.Equal(readAt) {
		t.Errorf("ReadAct = %+v, %v", a, err)
	}
}

// Anything that would not have been written so is refused.
func TestReadBackRefuses(t *testing.T) {
	question, act := string(readQuestion().Object()), string(readAct().Object())
	change := func(text, old, to string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%s has no %s", text, old)
		}
		return strings.Replace(text, old, to, 1)
	}
	for name, text := range map[string]string{
		"nothing": "", "a list": "[]", "null": "null", "a blank": change(question, `,"run"`, `, "run"`), "another type": change(question, "approval/v1", "approval/v2"),
		"another member": change(question, `{"args"`, `{"a":1,"args"`), "no member": change(question, `"step":"issue_refund#1",`, ``),
		"a member twice": change(question, `"run"`, `"run":"x","run"`), "a number": change(question, "1200", "1.2e3"), "no time": change(question, "09:30", "9:30"),
		"a fraction of a second": change(question, ":00Z", ":00.5Z"), "another zone": change(question, "Z\"", "+00:00\""), "an act": act,
	} {
		if q, err := ReadQuestion([]byte(text)); err == nil {
			t.Errorf("%s: ReadQuestion(%s) = %+v", name, text, q)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "a list": "[]", "a blank": change(act, `,"at"`, ` ,"at"`), "another type": change(act, "act/v1", "act/v2"),
		"another member": change(act, `"nonce"`, `"more":1,"nonce"`), "no member": change(act, `"key":"k",`, ``), "no time": change(act, "2026", "now"),
		"a huge one": change(act, "run_1", strings.Repeat("x", maxAct)), "a question": question,
	} {
		if a, err := ReadAct([]byte(text)); err == nil {
			t.Errorf("%s: ReadAct(%.200s) = %+v", name, text, a)
		}
	}
}

// A pinned key is one that its owner gave; a key under another's name is none.
func TestPinnedRing(t *testing.T) {
	public := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	r := PinnedRing([]PublicKey{{}, {ID: "0000000000000000", Public: public}, {ID: KeyID(public), Public: public}})
	if keys := r.Keys(); len(keys) != 1 || !keys[0].Counts(readAt) || !r.Counts(readAt) {
		t.Errorf("PinnedRing holds %+v", keys)
	}
	if PinnedRing(nil).Counts(readAt) {
		t.Error("an empty ring counts")
	}
}

func FuzzReadBack(f *testing.F) {
	f.Add(readQuestion().Object())
	f.Add(readAct().Object())
	f.Add(Answer{Approval: "ap_1", Choice: ChooseReject, At: readAt}.Object())
	f.Fuzz(func(t *testing.T, text []byte) {
		if q, err := ReadQuestion(text); err == nil && !bytes.Equal(q.Object(), text) {
			t.Errorf("%s was read as the question %s", text, q.Object())
		}
		if a, err := ReadAct(text); err == nil && !bytes.Equal(a.Object(), text) {
			t.Errorf("%s was read as the act %s", text, a.Object())
		}
		if a, err := ReadAnswer(text); err == nil && !bytes.Equal(a.Object(), text) {
			t.Errorf("%s was read as the answer %s", text, a.Object())
		}
	})
}
