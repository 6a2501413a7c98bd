package console

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of commands (spec/surface.md section 5).
const (
	ExitDone        = 0
	ExitFault       = 1 // a failure of Patterngate, or a check that found something
	ExitUsage       = 2 // a wrong argument, an unknown name, a configuration that does not load
	ExitRefused     = 3 // a person, or the state of the run, refused it
	ExitInterrupted = 130
)

// Error is the failure of a command.
type Error struct {
	Code  int    // exit code
	What  string // what was tried; "" if the cause says where it happened
	Cause error
	Try   string // what to try instead; "" for nothing
}

func (e *Error) Error() string {
	if e.What == "" {
		return e.Cause.Error()
	}
	return e.What + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Fault returns a failure of Patterngate itself, with the exit code [ExitFault].
func Fault(what string, cause error) error {
	return &Error{Code: ExitFault, What: what, Cause: cause}
}

// Usage returns a failure of what the user typed, with the exit code [ExitUsage] and what to type instead.
func Usage(what string, cause error, try string) error {
	return &Error{Code: ExitUsage, What: what, Cause: cause, Try: try}
}

// Refused returns a failure because a person or the state of a run refused it, with the exit code [ExitRefused].
func Refused(what, cause, try string) error {
	return &Error{Code: ExitRefused, What: what, Cause: errors.New(cause), Try: try}
}

// Wrap returns a failure of Patterngate itself, or err unchanged if it is an [Error] that says what failed.
func Wrap(what string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return Fault(what, err)
}

// ExitCode is an error that ends the program with a code and prints nothing more.
type ExitCode int

// Error implements error. The text is never shown.
func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// PortText returns the text of an error of package patterns without the name of that package.
func PortText(err error) string { return strings.TrimPrefix(err.Error(), "patterns: ") }
