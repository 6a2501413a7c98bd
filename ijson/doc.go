// Package ijson reads and writes the JSON that Patterngate exchanges with others: model replies, tool arguments,
// results of other servers, files.
//
//	text from outside ──Decode──▶ value ──Append──▶ canonical text ──▶ hash
//	        │                     │ ▲ ▲                  │
//	        │                Bind │ │ Of └─DecodeCanonical┘
//	        │                     ▼ │
//	        └───DecodeInto────▶ Go struct
//
// [Decode] is strict (RFC 7493, I-JSON). It accepts one document in UTF-8 without repeated member names, so that all
// readers understand the text in the same way. When it rejects a text, its [Fault] gives the place and the reason.
//
// A decoded value is nil, a bool, float64, string, []any or map[string]any, and no other type. Decoding rejects
// integers that a float64 cannot hold. So 1 and 1.0 are the same number, and no integer loses a digit.
//
// [Append] writes a decoded value in its canonical form (RFC 8785), so equal values have equal bytes and equal hashes.
// A [Pointer] names a place in a value (RFC 6901). [Words], [Trim], [Blank] and [IsSpace] define white space for every
// comparison of text. Package ijson/printable writes text from outside for people.
//
// All functions are safe for concurrent use, as long as no goroutine changes a value while another one reads it.
package ijson
