// Package runs holds the commands about recorded runs: list, show, trace, verify, export, cancel, settle, resume and the others below
// "patterngate runs".
//
//	RUN ──find──▶ id ──Record──▶ events ──record.Read──▶ Story ──recordtext──▶ show, receipt
//	                                    └──────────────────────▶ trace, head, export, verify
//
// The commands read and change runs by [statefile.Runs]. They continue no run; only resume does. Read runs.go first.
package runs
