// Package httptool makes tools of HTTP requests (spec/config.md section 4, request).
//
//	arguments ──Check──▶ URL, query, body ──Client──▶ judged address ──▶ reply ──▶ observation
//	                                                                         └───▶ *catalog.Fault: what is known of the call
//
// A [Config] defines a [Tool] with templates. The tool first splits the URL and then inserts the arguments,
// percent-encoded. So no argument can move a request to another host, path depth or query name. All tools share one
// [Client]. It checks every address after name resolution and dials exactly the checked address.
//
// The package never guesses what a call did. A fault tells whether a byte of the request was written. A request that
// must not be repeated uses its own connection, so that nothing below this package sends it twice.
package httptool
