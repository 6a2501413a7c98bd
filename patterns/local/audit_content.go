package local

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"patterngate/patterns/journal"
)

// sums are the rows that are known by a hash of their own content.
func sums(s *session) (found []Damage, err error) {
	err = s.each(func(row func(...any) error) error {
		var id int64
		var sum, body []byte
		err := row(&id, &sum, &body)
		if have := sha256.Sum256(body); !bytes.Equal(have[:], sum) {
			found = append(found, Damage{Reason: "a stored plan was altered: " + planID(id)})
		}
		return err
	}, selectPlanSums)
	if err != nil {
		return found, err
	}
	err = s.each(func(row func(...any) error) error {
		var hash string
		var body []byte
		err := row(&hash, &body)
		have := sha256.Sum256(body)
		if digits := strings.TrimPrefix(hash, "sha256:"); len(digits) == 2*sha256.Size && digits != hex.EncodeToString(have[:]) {
			found = append(found, Damage{Reason: "a stored configuration was altered: " + hash})
		}
		return err
	}, selectConfigSums)
	if err != nil {
		return found, err
	}
	err = s.each(func(row func(...any) error) error {
		var ap, n int64
		var key string
		err := row(&ap, &n, &key)
		if id := approvalID(journal.RunID(n), key); id != journal.ApprovalID(ap) {
			found = append(found, Damage{journal.RunID(n), "a request for approval has another id than " + id + ": " + journal.ApprovalID(ap)})
		}
		return err
	}, selectAskedKeys)
	return found[:min(len(found), maxDamages)], err
}
