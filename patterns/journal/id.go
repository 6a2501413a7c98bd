package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// RunID returns the id of the run with a number: run_ and 16 hexadecimal digits. Stores key runs by their numbers.
func RunID(n int64) string { return idOf("run_", n) }

// RunNumber returns the number in a run's id. It returns false for a text that is not such an id.
func RunNumber(id string) (int64, bool) { return numberOf("run_", id) }

// ApprovalID returns the id of the approval with a number: ap_ and 16 hexadecimal digits.
func ApprovalID(n int64) string { return idOf("ap_", n) }

// ApprovalNumber returns the number in an approval's id. It returns false for a text that is not such an id.
func ApprovalNumber(id string) (int64, bool) { return numberOf("ap_", id) }

// PlanID returns the id of a stored plan.
func PlanID(n int64) string { return idOf("plan_", n) }

// PlanNumber returns the number of a stored plan. It returns false if the text is no id.
func PlanNumber(id string) (int64, bool) { return numberOf("plan_", id) }

// QuestionID returns the id of the question that a run puts to a person at a place in its code. It cannot be guessed, because the id of
// the run cannot be guessed. It is the same in each replay.
func QuestionID(run, key string) string {
	sum := sha256.Sum256([]byte("approval/" + run + "/" + key))
	return ApprovalID(int64(binary.BigEndian.Uint64(sum[:8])))
}

func idOf(prefix string, n int64) string { return fmt.Sprintf("%s%016x", prefix, uint64(n)) }

func numberOf(prefix, id string) (int64, bool) {
	digits, ok := strings.CutPrefix(id, prefix)
	if !ok || len(digits) != 16 || strings.ToLower(digits) != digits {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return int64(n), err == nil
}

// Bounds returns the first and the last number whose 16 digits begin so. It returns false for fewer than 4 digits.
func Bounds(digits string) (low, high int64, ok bool) {
	if len(digits) < 4 || len(digits) > 16 {
		return 0, 0, false
	}
	pad := 16 - len(digits)
	first, err := strconv.ParseUint(digits+strings.Repeat("0", pad), 16, 64)
	if err != nil {
		return 0, 0, false
	}
	last, _ := strconv.ParseUint(digits+strings.Repeat("f", pad), 16, 64)
	return int64(first), int64(last), true
}

// AmbiguousError is returned for the beginning of an id that several runs or questions have.
type AmbiguousError struct{ IDs []string }

// Error tells how many there are.
func (a *AmbiguousError) Error() string { return fmt.Sprintf("%d runs begin so", len(a.IDs)) }
