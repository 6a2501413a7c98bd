package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"patterngate/ijson"
)

// These functions read back what a record holds, for code that checks a record. They accept a text only if it is byte
// for byte what would have been written. The reason is that digests and signatures are over those bytes.

// ReadQuestion reads a question back from its canonical form, see [Question.Object]. Its error says what is wrong.
func ReadQuestion(text []byte) (Question, error) {
	var v struct {
		Type    string         `json:"type"`
		Run     string         `json:"run"`
		Step    string         `json:"step"`
		Tool    string         `json:"tool"`
		Schema  string         `json:"schema"`
		Args    map[string]any `json:"args"`
		Policy  string         `json:"policy"`
		Expires string         `json:"expires"`
		Least   Assurance      `json:"assurance"`
	}
	if err := ijson.DecodeInto(text, &v); err != nil {
		return Question{}, fmt.Errorf("gateway: no question: %w", err)
	}
	expires, err := time.Parse(time.RFC3339, v.Expires)
	if err != nil {
		return Question{}, fmt.Errorf("gateway: no question: %w", err)
	}
	q := Question{v.Run, v.Step, v.Tool, v.Schema, v.Args, v.Policy, expires, v.Least}
	if !bytes.Equal(q.Object(), text) {
		return Question{}, errors.New("gateway: the question is not in canonical form")
	}
	return q, nil
}

// ReadAct reads an act back from its canonical form, see [Act.Object]. Its error says what is wrong.
func ReadAct(text []byte) (Act, error) {
	var v struct {
		Type    string         `json:"type"`
		Act     string         `json:"act"`
		Subject map[string]any `json:"subject"`
		At      string         `json:"at"`
		Nonce   string         `json:"nonce"`
		Key     string         `json:"key"`
	}
	if len(text) > maxAct {
		return Act{}, fmt.Errorf("gateway: an act of %d bytes", len(text))
	}
	if err := ijson.DecodeInto(text, &v); err != nil {
		return Act{}, fmt.Errorf("gateway: no act: %w", err)
	}
	at, err := time.Parse(time.RFC3339, v.At)
	if err != nil {
		return Act{}, fmt.Errorf("gateway: no act: %w", err)
	}
	a := Act{v.Act, v.Subject, at, v.Nonce, v.Key}
	if !bytes.Equal(a.Object(), text) {
		return Act{}, errors.New("gateway: the act is not in canonical form")
	}
	return a, nil
}

// maxAct is the maximum size of an act's text in bytes.
const maxAct = 16 << 10

// PinnedRing returns a ring of keys that a person gives, for example to check a record on another machine. Only what
// these keys signed counts. It leaves out entries whose id does not match the key.
func PinnedRing(keys []PublicKey) Ring {
	r := Ring{}
	for _, k := range keys {
		if k.ID == KeyID(k.Public) {
			r.keys = append(r.keys, k)
		}
	}
	return r
}
