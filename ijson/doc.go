// Package ijson reads and writes the JSON that comes from outside and goes out: model replies, tool arguments, results of
// other servers, files.
//
//	text from outside ──Decode──▶ value ──Append──▶ canonical text ──▶ hash
//	        │                     │ ▲ ▲                  │
//	        │                Bind │ │ Of └─DecodeCanonical┘
//	        │                     ▼ │
//	        └───DecodeInto────▶ Go struct
//
// [Decode] is strict (RFC 7493, I-JSON): UTF-8, one document, no repeated member names, nothing that two readers could
// understand in two ways. What it refuses, it refuses with a [Fault] that says where and why.
//
// A decoded value is one of nil, bool, float64, string, []any and map[string]any, and nothing else. Decoding refuses the
// integers that a float64 cannot hold, so 1 and 1.0 are the same number and no digit of an integer is lost.
//
// [Append] writes a decoded value in its only canonical form (RFC 8785), so equal values have equal bytes and equal
// hashes. A [Pointer] names a place in a value (RFC 6901). [Words] and its relatives say what a blank is, the same for
// all who compare text. [Visible], [ShownName] and [Brief] return text from outside as people are shown it.
//
// All functions are safe for concurrent use, as long as nobody changes a value while it is read.
package ijson
