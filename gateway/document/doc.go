// Package document reads an untrusted document strictly: a plan, a route or an action that a language model wrote, or that the
// caller of a tool sent. It lists every problem with its place, and it offers a repair where only one is possible. It knows no
// pattern, tool or policy: package gateway and gateway/planning judge what a document says.
//
//	text or argument                                             members, one by one
//	      │                                                             │
//	  ReadReply ──▶ Intent ──Open──▶ Object ──Text, Name, Args, ID, Extra──▶ values
//	  FromCaller              │         │
//	  FromText                └─────────┴──▶ Faults ──Refusal──▶ stop reason, Problems, each with its Fix
//
// [Intent] is the decoded document. [Open] checks that it is an object of a known kind. A parser then reads the members of the
// [Object]; each member that is wrong becomes a [Problem] in [Faults]. A member under another name is a [Synonym].
//
// Read object.go first.
package document
