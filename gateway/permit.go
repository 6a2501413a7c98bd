package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"time"

	"patterngate/catalog"
	"patterngate/gateway/document"
	"patterngate/ijson"
)

// maxRecorded is how many bytes of an observation are recorded and passed on (spec/surface.md section 1, "Cutting").
const maxRecorded = 64 << 10

// maxErrorText is how many bytes of an observation's own error a trace row shows.
const maxErrorText = 512

// DoneState says how a performed call ended.
type DoneState string

// How a call ended. The zero state is not one of them.
const (
	DoneOK        DoneState = "ok"
	DoneError     DoneState = "error"      // the tool reported a fault
	DonePanic     DoneState = "panic"      // the tool panicked; it is unknown whether it acted
	DoneBadResult DoneState = "bad_result" // it acted, and its result does not fit its schema
	// DoneUnavailable: nothing was sent. DoneTimeout: no answer came in time. DoneLost: the call was sent, but the
	// answer was lost or cannot be read. It is unknown whether the call acted.
	DoneUnavailable DoneState = "unavailable"
	DoneTimeout     DoneState = "timeout"
	DoneLost        DoneState = "lost"
	DoneRefused     DoneState = "refused" // nothing was called
)

// Done is the outcome of a performed call.
type Done struct {
	State DoneState
	Value any   // the observation, bounded; nil unless State is ok, or bad_result and valid JSON
	Bytes int   // size of the whole observation as compact text
	Cause error // for the log only
	// Again says that the same call may succeed a moment later. After is how long the tool asked to wait; see
	// [catalog.Fault].
	Again bool
	After time.Duration
}

// Perform makes the call. It recovers from the tool's panics, checks the whole result against the output schema, and
// bounds what it returns. It returns when the tool does: the engine enforces the timeouts.
func (p Permit) Perform(ctx context.Context, key string) (done Done) {
	call := p.judged
	if call == nil {
		return Done{State: DoneRefused, Cause: ErrNoPermit}
	}
	defer func() {
		if r := recover(); r != nil {
			done = Done{State: DonePanic, Cause: fmt.Errorf("%s panicked: %v\n%s", call.tool.Name, r, debug.Stack())}
		}
	}()
	if call.tool.Do == nil { // only the engine can run a pattern
		return Done{State: DoneRefused, Cause: ErrNoPermit}
	}
	v, err := call.tool.Do(ctx, catalog.Call{Args: owned(call.args), Key: key, Attempt: call.attempt})
	if err != nil {
		return call.ended(err)
	}
	return call.judge(v)
}

// ended returns what an error of the tool means. A failed read only lacks an answer. For other tools, the state says
// whether the call may have acted.
func (c *judged) ended(err error) Done {
	done := Done{State: DoneError, Cause: fmt.Errorf("%s: %w", c.tool.Name, err)}
	fault, ok := errors.AsType[*catalog.Fault](err)
	if !ok {
		return done
	}
	done.Again, done.After = fault.Again, max(0, fault.After)
	reads := c.tool.Effect == catalog.Read
	switch fault.Kind {
	case catalog.NotSent:
		done.State = DoneUnavailable
	case catalog.TimedOut:
		done.State = DoneTimeout
	case catalog.NoAnswer:
		if !reads {
			done.State = DoneLost
		}
	case catalog.Unreadable:
		if done.State = DoneBadResult; !reads {
			done.State = DoneLost
		}
	case catalog.Declined:
	default: // an unknown kind does not say whether the call acted
		if !reads {
			done.State = DoneLost
		}
	}
	return done
}

// judge checks a result that comes from outside: first that it is valid JSON, then its schema. It also bounds the size.
// A [catalog.Told] does not have to fit the schema.
func (c *judged) judge(v any) Done {
	told, unlike := v.(catalog.Told)
	if unlike {
		v = told.Value
	}
	text, err := ijson.AppendChecked(nil, v)
	if err != nil {
		return Done{State: DoneBadResult, Cause: fmt.Errorf("%s: %w", c.tool.Name, err)}
	}
	limit := cmp.Or(c.tool.MaxResult, maxRecorded)
	done := Done{State: DoneOK, Value: Bounded(v, text, limit, max(limit-1024, limit/2)), Bytes: len(text)}
	if len(text) > limit {
		done.Value = stillReported(done.Value, v, limit)
	}
	if unlike {
		return done
	}
	if wrong := c.tool.Output.Check(v); len(wrong) > 0 {
		done.State = DoneBadResult
		done.Cause = fmt.Errorf("%s: result %s: want %s", c.tool.Name, wrong[0].Pointer, wrong[0].Want)
	}
	return done
}

// stillReported adds the error of a value to its cut form. So a long result with an error does not look like a success.
func stillReported(cut, v any, limit int) any {
	said, failed := Reported(v)
	head, ok := cut.(map[string]any)
	if !failed || !ok {
		return cut
	}
	head["error"] = ijson.Cut(said, limit/4)
	for text, _ := head["head"].(string); len(ijson.Canonical(head)) > limit && text != ""; text, _ = head["head"].(string) {
		head["head"] = ijson.Cut(text, len(text)/2)
	}
	return head
}

// Bounded returns v, or its marked beginning if its compact text is longer than limit bytes.
func Bounded(v any, text []byte, limit, head int) any {
	if len(text) <= limit {
		return v
	}
	// The head is escaped again when it is written, so halve it until the whole fits.
	for ; ; head /= 2 {
		cut := map[string]any{"truncated": true, "bytes": float64(len(text)), "head": ijson.Cut(string(text), head)}
		if len(ijson.Canonical(cut)) <= limit || head == 0 {
			return cut
		}
	}
}

// Reported returns the error that an observation carries: a member error at its top level or in result, or
// status "error" (spec/patterns.md section 0).
func Reported(observation any) (string, bool) {
	obj, ok := observation.(map[string]any)
	if !ok {
		return "", false
	}
	inner, _ := obj["result"].(map[string]any)
	for _, o := range []map[string]any{obj, inner} {
		if e, there := o["error"]; there && e != nil {
			return errorText(e), true
		}
	}
	if obj["status"] == "error" {
		return "error", true
	}
	return "", false
}

// errorText returns the text of an error. It is never blank, so that an error without words still shows.
func errorText(e any) string {
	s, ok := e.(string)
	switch {
	case !ok:
		s = string(ijson.Canonical(e))
	case ijson.Blank(s):
		s = "error"
	}
	return ijson.Cut(s, maxErrorText)
}

var errNoKey = errors.New("gateway: the business key could not be made")

// made makes the business key with the tool's function. A panic of the function is an error.
func (c *judged) made() (key string, err error) {
	defer func() {
		if r := recover(); r != nil {
			key, err = "", errNoKey
		}
	}()
	return c.tool.Once(owned(c.args))
}

// contained turns a panic into an error.
func contained(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("gateway: a declaration panicked: %v", r)
	}
}

// onceKey is the form of a business key (spec/config.md section 6).
var onceKey = regexp.MustCompile(`^[A-Za-z0-9._~:-]{1,128}$`)

// key makes the call's business key from all its arguments. It returns false if no valid key can be made. got is then
// what was made, as a problem shows it.
func (c *judged) key() (got any, ok bool) {
	if c.tool.Once == nil {
		return nil, true
	}
	key, err := c.made()
	switch {
	case err != nil:
		return document.Missing, false
	case !onceKey.MatchString(key):
		return ijson.Cut(key, document.MaxNamed), false
	}
	c.once = key
	return nil, true
}
