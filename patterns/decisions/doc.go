// Package decisions lets people read the questions that runs ask, and approve, edit or reject them. It also enrols the keys with which
// people sign.
//
//	a run asks ──► question in the store ──ListApprovals, Approval──► person ──Decide──► answer in the store ──► the run is ready
//	Keys, Enroll, RemoveKey ──► ring of approver keys ──Signer──► acts that count only when a key signed them
//
// An answer is checked twice: when it is given (decide.go), and when the run takes it up (answers.go). Only the record of the run is
// believed, because other programs can write the rows.
//
// Read approvals.go first.
package decisions
