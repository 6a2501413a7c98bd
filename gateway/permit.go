package gateway

import (
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

// ErrNoPermit is what performing the zero Permit gives.
var ErrNoPermit = errors.New("gateway: no permit")

// Permit is proof that one call was judged and may be made. Only a [Gate] makes one; the zero Permit permits
// nothing. It holds what was judged, and exactly that is sent.
type Permit struct{ judged *judged } // small: permits go by value through many frames that wait

// judged is a call that was judged. It never changes.
type judged struct {
	tool    catalog.Tool
	args    map[string]any
	hash    string
	attempt int
	verdict Judgment
	// approval is the one by which a person decided about the call, see [Permit.Approval]; share is of a plan, see
	// [Permit.Share].
	approval, share string
	once            string
}

// Valid reports whether p permits anything.
func (p Permit) Valid() bool { return p.judged != nil }

// Tool is the tool's name; the zero Permit has none, nor anything else.
func (p Permit) Tool() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Name
}

// Effect is the tool's declared effect.
func (p Permit) Effect() catalog.Effect {
	if p.judged == nil {
		return ""
	}
	return p.judged.tool.Effect
}

// Repeatable reports whether the call may be made again when nobody knows whether it happened.
func (p Permit) Repeatable() bool { return p.judged != nil && p.judged.tool.Repeatable() }

// Hash is the args_hash of the arguments as proposed and revised, without what the pattern injected.
func (p Permit) Hash() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.hash
}

// Verdict is who let the call through and how, for the record; that of the zero Permit blocks.
func (p Permit) Verdict() Judgment {
	if p.judged == nil {
		return Judgment{}
	}
	return p.judged.verdict
}

// Approval is the id of the decision of a person that the call spends, ap_ and 16 hex digits; "" where no person decided,
// and the engine has nothing to check.
func (p Permit) Approval() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.approval
}

// Share is the step that the call is of a plan which was approved whole: the call spends that step's share of the approval,
// and the approval as a whole stays. "" where the approval is of this call alone, or there is none.
func (p Permit) Share() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.share
}

// Question is the call as a person is asked about it, but for what the engine adds: the run, the step and the expiry.
func (p Permit) Question() Question {
	if p.judged == nil {
		return Question{}
	}
	return Question{Tool: p.judged.tool.Name, Schema: p.judged.tool.Input.Hash(), Args: p.judged.args, Policy: p.judged.verdict.Policy}
}

// Args are the arguments as they are sent. They must not be changed.
func (p Permit) Args() map[string]any {
	if p.judged == nil {
		return nil
	}
	return p.judged.args
}

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

// Timeout bounds one attempt of the call; 0: the pattern's deadline alone does.
func (p Permit) Timeout() time.Duration {
	if p.judged == nil {
		return 0
	}
	return p.judged.tool.Timeout
}

// Retry says how often the call is made again.
func (p Permit) Retry() catalog.Retry {
	if p.judged == nil {
		return catalog.Retry{}
	}
	return p.judged.tool.Retry
}

// Once is the business key of the call, under which it acts once over all runs; "" where the tool has none.
func (p Permit) Once() string {
	if p.judged == nil {
		return ""
	}
	return p.judged.once
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
	v, err := call.tool.Do(ctx, catalog.Call{Args: owned(call.args), Key: key, Attempt: call.attempt})
	if err != nil {
		return faulted(fmt.Errorf("%s: %w", call.tool.Name, err))
	}
	return call.judge(v)
}

// faulted is what became of a call that gave an error.
func faulted(err error) Done {
	done := Done{State: DoneError, Cause: err}
	var fault *catalog.Fault
	if !errors.As(err, &fault) {
		return done
	}
	done.Again, done.After = fault.Again, fault.After
	switch fault.Kind {
	case catalog.NotSent:
		done.State = DoneUnavailable
	case catalog.TimedOut:
		done.State = DoneTimeout
	case catalog.NoAnswer, catalog.Unreadable:
		done.State = DoneLost
	}
	return done
}

// judge checks a result that comes from outside: its shape whatever it is, then its schema, then its size.
func (c *judged) judge(v any) Done {
	text, err := ijson.AppendChecked(nil, v)
	if err != nil {
		return Done{State: DoneBadResult, Cause: fmt.Errorf("%s: %w", c.tool.Name, err)}
	}
	done := Done{State: DoneOK, Value: Bounded(v, text, maxRecorded, maxRecorded-1024), Bytes: len(text)}
	if wrong := c.tool.Output.Check(v); len(wrong) > 0 {
		done.State = DoneBadResult
		done.Cause = fmt.Errorf("%s: result %s: want %s", c.tool.Name, wrong[0].Pointer, wrong[0].Want)
	}
	return done
}

// Bounded is v, or its marked beginning where its compact text is longer than limit bytes.
func Bounded(v any, text []byte, limit, head int) any {
	if len(text) <= limit {
		return v
	}
	// A head holds escapes of its own when it is written again; halve it until the whole fits.
	for ; ; head /= 2 {
		cut := map[string]any{"truncated": true, "bytes": float64(len(text)), "head": ijson.Cut(string(text), head)}
		if len(ijson.Canonical(cut)) <= limit || head < 128 {
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
