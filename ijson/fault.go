package ijson

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// The reasons of a [Fault] that [Decode] gives. They are stable: callers may compare and show them.
const (
	ReasonEmpty        = "empty"                   // nothing but white space
	ReasonTooLarge     = "too large"               // more bytes than the limit
	ReasonTooDeep      = "too deep"                // more than MaxDepth containers within one another
	ReasonNotJSON      = "not JSON"                // against the grammar (RFC 8259); also NaN, comments, trailing commas
	ReasonCut          = "ends too early"          // the text is the beginning of a document
	ReasonAfter        = "text after the document" // anything but white space after it
	ReasonNotUTF8      = "not UTF-8"               // a byte sequence that is no UTF-8
	ReasonBOM          = "byte order mark"         // U+FEFF before the document
	ReasonControl      = "raw control character"   // below U+0020, in a string, not escaped
	ReasonSurrogate    = "lone surrogate"          // \ud800 to \udfff without its other half
	ReasonRepeated     = "repeated member"         // the second of two equal names in one object
	ReasonIntegerRange = "integer out of range"    // no fraction, no exponent, beyond MaxInteger
	ReasonNumberRange  = "number out of range"     // beyond the finite doubles
	ReasonUnknown      = "unknown member"          // DecodeInto: the target has no such member
)

// Fault says why a text was refused. It is the only error of [Decode], [DecodeLimit] and [DecodeInto] that is about the
// text, and is always a *Fault.
type Fault struct {
	Pointer Pointer // the faulty value, or the repeated or unknown member; "" is the document
	Offset  int     // byte of the text at which the fault begins
	Reason  string  // few words, one of the Reason constants or, from DecodeInto, what was wanted
}

// Error returns one readable line: reason, place and byte. A long place is cut.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return fmt.Sprintf("%s (byte %d)", f.Reason, f.Offset)
	}
	return fmt.Sprintf("%s at %s (byte %d)", f.Reason, readable(string(f.Pointer)), f.Offset)
}

// readable returns text as one bounded line; text that is not plain is quoted.
func readable(text string) string {
	const longest = 120
	short := Cut(text, longest)
	if short != text {
		short += "..."
	}
	for _, r := range short {
		if !strconv.IsPrint(r) || r == utf8.RuneError {
			return strconv.Quote(short)
		}
	}
	return short
}
