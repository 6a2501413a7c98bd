package catalog

import (
	"fmt"
	"time"
)

// FaultKind is what is known about a call that returned no observation. The zero kind is [Declined].
type FaultKind int

// The kinds of a [Fault].
const (
	Declined   FaultKind = iota // the tool answered that it did not act: it certainly did nothing
	NotSent                     // nothing reached the tool: it is held, its server cannot be reached, a secret is missing
	TimedOut                    // it was sent, and no answer came in time: outcome unknown
	NoAnswer                    // it was sent, and the answer was lost or says nothing (5xx): outcome unknown
	Unreadable                  // the answer is not a result: too long, another content type, cut, not JSON; the tool may have acted
)

// String returns declined, not_sent, timed_out, no_answer or unreadable.
func (k FaultKind) String() string {
	names := [...]string{"declined", "not_sent", "timed_out", "no_answer", "unreadable"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("FaultKind(%d)", int(k))
	}
	return names[k]
}

// Fault is the error that a [Func] returns if a call returned no observation and the Func knows why. Any other error
// counts as [Declined].
type Fault struct {
	Kind FaultKind
	// Again reports that the same call may succeed soon: a refused connection, 429, 503, 5xx, a time-out. The tool's
	// Effect and Retry decide whether the call is made again. After is the pause that the tool asked for (Retry-After);
	// 0: it did not ask.
	Again bool
	After time.Duration
	Cause error // for the log only; never nil
}

// Error returns kind and cause.
func (f *Fault) Error() string { return f.Kind.String() + ": " + f.Cause.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Told is what a [Func] returns in place of a result when the tool answers with its own text, which its output schema
// does not describe. Such a text says that the tool failed, or that it returned nothing. Value becomes the observation
// and contains an error (spec/config.md section 4).
type Told struct{ Value map[string]any }
