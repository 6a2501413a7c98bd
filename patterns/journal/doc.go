// Package journal holds what a run's record consists of: the events, the bodies of the events, and their stored form.
//
//	patterns.Effect, patterns.Outcome ──IntentOf, OutcomeOf──► body ──Encode──► canonical JSON ──Seal──► stored event
//	                                                            ▲                                            │
//	                                                            └────────────────── Decode ◄─────────────────┘
//
// Every stored event holds the hash of the event before it, so a record that was changed does not verify.
// Records that earlier builds wrote decode too: members that they lack have zero values.
//
// The package knows no engine and no database. Read body.go first.
package journal
