package arguments

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// maxKey is the maximum length of an idempotency key, in bytes.
const maxKey = 255

// Waits says how long the calls of a tool wait for their runs.
type Waits struct {
	Default time.Duration // of a call that names no time; below 0: not at all
	Max     time.Duration // the longest time that a call may name
}

// Row returns the argument by which a caller says how long the call waits for its run.
func (w Waits) Row() Row {
	return Row{Name: WaitName, Shape: Seconds, Most: int(w.Max / time.Second)}
}

// KeyRow returns the argument that names a run, so that the same call does not begin another one.
func KeyRow() Row { return Row{Name: KeyName, Shape: Key, Most: maxKey} }

// handlesOf adds dry_run to the arguments of one pattern's tool, except for planning. It returns those that [ofCall]
// keeps.
func handlesOf(spec patterns.Spec, table []Row) []Row {
	if spec.Kind != gateway.Planning {
		table = append(table[:len(table):len(table)], Row{Name: DryRunName, Shape: Flag})
	}
	return ofCall(spec, table)
}

// readSeconds reads a time to wait, in seconds. 0 is valid and means to return at once.
func (r *Request) readSeconds(a Row, v any) {
	n, isNumber := v.(float64)
	switch {
	case !isNumber:
		r.wrong(a, v, "number")
	case n < 0 || n > float64(a.Most):
		r.Add(OutOfLimit, a.Name, v, waitSeconds(a.Most))
	default:
		wait := time.Duration(n * float64(time.Second))
		r.Wait = &wait
	}
}

// readKey reads an idempotency key. An empty key is a problem, because it would make different calls equal.
func (r *Request) readKey(a Row, v any) {
	key, isText := v.(string)
	if !isText {
		r.wrong(a, v, "string")
		return
	}
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			r.Add(OutOfLimit, a.Name, v, a.Shape.want())
			return
		}
	}
	if key == "" || len(key) > a.Most {
		r.Add(OutOfLimit, a.Name, v, a.Shape.want())
		return
	}
	r.Key = key
}

// Of returns how long a call waits for its run, in the form of the engine: a value below 0 means not at all.
func (w Waits) Of(c Call) time.Duration {
	switch {
	case c.Wait == nil:
		return w.Default
	case *c.Wait == 0:
		return -1
	}
	return *c.Wait
}

// Fingerprint returns a hash of the tool and the arguments. Calls of one principal with the same hash are equal. The hash
// ignores the time to wait, dry_run if it is false, and absent arguments.
func Fingerprint(spec patterns.Spec, arguments map[string]any) string {
	asked := maps.Clone(arguments)
	single := spec.Kind == gateway.Call
	waits := !single || slices.Contains(FreeNames(spec), WaitName)
	dry := !single || slices.Contains(FreeNames(spec), DryRunName)
	maps.DeleteFunc(asked, func(name string, v any) bool {
		return name == WaitName && waits || v == nil && !single || name == DryRunName && v == false && dry
	})
	sum := sha256.Sum256(ijson.Canonical(map[string]any{"tool": spec.Name, "arguments": asked}))
	return hex.EncodeToString(sum[:])
}
