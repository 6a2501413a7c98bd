package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"patterngate/ijson"
)

// What stands in a record is read back here, by who checks it. Nothing is taken that is not byte for byte what would have
// been written: what was digested or signed are those bytes.

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

// maxAct bounds an act's text in bytes.
const maxAct = 16 << 10

// PinnedRing is a ring of keys that a person vouches for by giving them, as who checks a record elsewhere does: only what
// they signed counts. What has no key in it is left out.
func PinnedRing(keys []PublicKey) Ring {
	r := Ring{}
	for _, k := range keys {
		if k.ID == KeyID(k.Public) {
			r.keys = append(r.keys, k)
		}
	}
	return r
}
