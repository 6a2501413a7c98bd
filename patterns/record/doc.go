// Package record tells people what the record of a run says: as a timeline of what was asked, called and waited for, and
// as a receipt on one page. It is made from events alone, so that it says of an export, of a run that goes on and of one
// that ended long ago the same thing in the same way:
//
//	[]patterns.Event ──Read──▶ Story ──┬── Rows, Branches: the timeline
//	                                   ├── Step: everything about one effect
//	                                   └── Receipt: who asked, what was judged by which rule, approved by whom, done
//
// Nothing here verifies a record ([patterns.VerifyChain] does), and nothing here fails: an event that cannot be read is
// a row that says so. Values hold outsiders' words as they were recorded; who shows them makes them visible and cuts them.
package record
