// Package policycheck holds the command policy, which tests and explains policies and shows what a change of one does.
//
//	configuration ──▶ test: the tests in the policies         explain: what is decided about one call, and why
//	      │           coverage: rules that no test reaches    record: adds tests to the file
//	      ▼
//	recorded runs ──▶ backtest: recorded calls, judged again  diff: two files, over their tests and the recorded calls
//
// The commands call no tool. Only record changes a file. Read test.go first, then past.go.
package policycheck
