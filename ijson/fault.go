package ijson

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// These are the reasons of a [Fault]. They are stable: callers may compare and show them.
const (
	ReasonEmpty        = "empty"                   // only white space
	ReasonTooLarge     = "too large"               // more bytes than the limit
	ReasonTooDeep      = "too deep"                // more than MaxDepth nested containers
	ReasonNotJSON      = "not JSON"                // violates the grammar (RFC 8259); also NaN, comments, trailing commas
	ReasonCut          = "ends too early"          // the text is the beginning of a document
	ReasonAfter        = "text after the document" // anything except white space after it
	ReasonNotUTF8      = "not UTF-8"               // an invalid byte sequence
	ReasonBOM          = "byte order mark"         // U+FEFF before the document
	ReasonControl      = "raw control character"   // below U+0020, in a string, not escaped
	ReasonSurrogate    = "lone surrogate"          // \ud800 to \udfff without its other half
	ReasonRepeated     = "repeated member"         // the second of two equal names in one object
	ReasonIntegerRange = "integer out of range"    // no fraction, no exponent, beyond MaxInteger
	ReasonNumberRange  = "number out of range"     // beyond the finite doubles
	ReasonUnknown      = "unknown member"          // DecodeInto: the target has no such member
)

// Fault reports why a text was rejected. [Decode], [DecodeLimit] and [DecodeInto] report every error in the text as a
// *Fault.
type Fault struct {
	Pointer Pointer // the faulty value, or the repeated or unknown member; "" is the document
	Offset  int     // byte of the text at which the fault begins
	Reason  string  // a few words: one of the Reason constants or, from DecodeInto, the expected value
}

// Error returns one readable line with the reason, the place and the byte. It cuts a long place.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return fmt.Sprintf("%s (byte %d)", f.Reason, f.Offset)
	}
	return faultIn(f.Reason, readable(string(f.Pointer)), f.Offset)
}

// readable returns text as one line of limited length. Text with characters that are not printable is quoted.
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
