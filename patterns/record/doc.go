// Package record shows people what the record of a run says: as a timeline of requests, calls and waits, and as a receipt on one page.
// It reads events alone. So its output has the same form for an export, for an active run, and for a run that ended long ago:
//
//	[]patterns.Event ──Read──▶ Story ──┬── Rows: the timeline
//	                                   ├── Step: everything about one effect
//	                                   └── Receipt: who asked, what was judged by which rule, approved by whom, done
//
// [Read] does not verify a record: [Check] does. It never fails: an event that cannot be read becomes a row that says so. Values hold
// outside text in its recorded form. The code that shows them must cut them and make hidden characters visible.
package record
