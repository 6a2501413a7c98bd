package patterns

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// markOf is the mark of a question's payload: of the run's id, which nobody can guess, by hash, so that a replay makes the same.
// Who has learned it meanwhile gains nothing: a payload that holds the mark has another one.
func markOf(run string, payload []byte) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(run + "/mark/" + strconv.Itoa(n)))
		mark := hex.EncodeToString(sum[:8])
		if !bytes.Contains(payload, []byte(mark)) {
			return mark
		}
	}
}
