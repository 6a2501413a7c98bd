// Package describe lists the tools behind the gate: the tool describe_catalog and the resource patterngate://catalog.
// With it a caller can write a plan, a route or actions by hand. It runs nothing.
//
//	tools/call ─▶ take ─▶ search ─▶ directory.part ─▶ page ─▶ both channels of the answer
//	                                    ▲
//	        patterns, catalog ──────────┘ encoded once, at the first use
//
// The package knows the server by [Host] only. Pages of a catalog without states are kept, because encoding is most of
// an answer's cost.
//
// Read tool.go first.
package describe
