// Package decisions is what people do about the questions that runs put to them: read, approve, edit or reject, and enrol the keys they
// sign with.
//
//	a run asks ──► question in the store ──ListApprovals, Approval──► person ──Decide──► answer in the store ──► the run is ready
//	Keys, Enroll, RemoveKey ──► ring of approver keys ──Signer──► acts that count only when a key signed them
//
// An answer is judged twice: when it is given (decide.go), and when the run takes it up (answers.go). Only what the record of the run says
// is believed, because somebody else may have written the rows.
//
// Read approvals.go first.
package decisions
