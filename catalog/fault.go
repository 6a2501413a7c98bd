package catalog

import (
	"fmt"
	"time"
)

// FaultKind says what is known about a call that gave no observation. The zero kind is [Declined].
type FaultKind int

// The kinds of a [Fault].
const (
	Declined   FaultKind = iota // the tool answered that it did not do it: it certainly did nothing
	NotSent                     // nothing reached the tool: it is held, its server cannot be reached, a secret is missing
	TimedOut                    // it was sent, and no answer came in time: nobody knows whether it acted
	NoAnswer                    // it was sent, and the answer was lost or says nothing (5xx): nobody knows
	Unreadable                  // it answered what is no result: too long, another content type, cut, no JSON. It may have acted
)

// String returns declined, not_sent, timed_out, no_answer or unreadable.
func (k FaultKind) String() string {
	names := [...]string{"declined", "not_sent", "timed_out", "no_answer", "unreadable"}
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("FaultKind(%d)", int(k))
	}
	return names[k]
}

// Fault is what a [Func] returns where a call gave no observation, and it knows more than that. Any other error is one of
// kind [Declined].
type Fault struct {
	Kind FaultKind
	// Again says that the same call may succeed a moment later: a refused connection, 429, 503, 5xx, a time-out. Whether it
	// is made again the tool's Effect and Retry say. After is how long the tool asked to wait (Retry-After); 0: it did not.
	Again bool
	After time.Duration
	Cause error // for the log only; never nil
}

// Error words kind and cause.
func (f *Fault) Error() string { return f.Kind.String() + ": " + f.Cause.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Told is what a [Func] returns in place of a result where the tool answers in words of its own that its output schema does not
// describe: that it failed, or that there is none. The observation is Value; it carries an error (spec/config.md section 4).
type Told struct{ Value map[string]any }
