package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"patterngate/catalog"
	"patterngate/ijson"
)

// maxRecorded is how much of an observation is recorded and handed on (spec/surface.md section 1, "Cutting").
const maxRecorded = 64 << 10

// maxErrorText is how much of an observation's own error a trace row shows.
const maxErrorText = 512

// DoneState says how a performed call ended.
type DoneState string

// How a call ended. The zero state is not one of them.
const (
	DoneOK        DoneState = "ok"
	DoneError     DoneState = "error"      // the tool reported a fault
	DonePanic     DoneState = "panic"      // the tool broke: whether it acted, nobody knows
	DoneBadResult DoneState = "bad_result" // it acted, and answered what its schema does not allow
	// DoneUnavailable: nothing was sent. DoneTimeout: no answer came in time. DoneLost: it was sent, and the answer was lost
	// or cannot be read, so that nobody knows whether it acted.
	DoneUnavailable DoneState = "unavailable"
	DoneTimeout     DoneState = "timeout"
	DoneLost        DoneState = "lost"
	DoneRefused     DoneState = "refused" // nothing was called
)

// Done is what became of a performed call.
type Done struct {
	State DoneState
	Value any   // the observation, bounded; nil unless State is ok, or bad_result and JSON at all
	Bytes int   // of the whole observation's compact text
	Cause error // for the log only
	// Again says that the same call may succeed a moment later, After how long the tool asked to wait; see [catalog.Fault].
	Again bool
	After time.Duration
}

// Perform makes the call. It contains the tool's panics, checks the whole result against the output schema and
// bounds what is handed on. It returns when the tool does: cutting is the engine's part.
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
	if call.tool.Do == nil { // a pattern is the engine's to run
		return Done{State: DoneRefused, Cause: ErrNoPermit}
	}
	v, err := call.tool.Do(ctx, catalog.Call{Args: owned(call.args), Key: key, Attempt: call.attempt})
	if err != nil {
		return call.ended(err)
	}
	return call.judge(v)
}

// ended is what an error of the tool means: of a read it costs nothing but the answer, of all else it is told whether the call
// may have acted.
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
	default: // a kind that is not known here says nothing of what was done
		if !reads {
			done.State = DoneLost
		}
	}
	return done
}

// judge checks a result that comes from outside: its shape whatever it is, then its schema, then its size.
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

// stillReported is the marked beginning of a value that carries an error, with the error: however long a result is, it does not
// look like one that went well.
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

// Bounded is v, or its marked beginning where its compact text is longer than limit bytes.
func Bounded(v any, text []byte, limit, head int) any {
	if len(text) <= limit {
		return v
	}
	// A head holds escapes of its own when it is written again; halve it until the whole fits.
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

// errorText is never blank, so that an error without words still shows.
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

// made asks the tool's declaration; its panic is as good as an error.
func (c *judged) made() (key string, err error) {
	defer func() {
		if r := recover(); r != nil {
			key, err = "", errNoKey
		}
	}()
	return c.tool.Once(owned(c.args))
}

// contained makes an error of a panic.
func contained(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("gateway: a declaration panicked: %v", r)
	}
}
