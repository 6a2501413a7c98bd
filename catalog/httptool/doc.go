// Package httptool makes tools of HTTP requests (spec/config.md section 4, request).
//
//	arguments ──Check──▶ URL, query, body ──Client──▶ judged address ──▶ reply ──▶ observation
//	                                                                         └───▶ *catalog.Fault: what is known of the call
//
// A [Tool] is written down as a [Config]: templates into which arguments are put, percent-encoded, after the URL was taken
// apart, so that no argument can move a request to another host, path depth or query name. All tools share one [Client],
// which judges every address after it was resolved and dials just that one.
//
// What a call did is never guessed. A fault says whether a byte of the request was written, and a request that may not be
// repeated goes over a connection of its own, so that nothing below this package sends it twice.
package httptool
