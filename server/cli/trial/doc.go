// Package trial holds the commands that show Patterngate at work and check what it promises: demo and prove, and the processes that they
// start.
//
//	demo ──starts──▶ serve, a child ──calls──▶ one line for each act
//	prove ─starts──▶ prove-life, a child that kills itself, again and again ──▶ how each run ended
//	  both ──start──▶ ledger, a child that is not killed: it counts payments and mails
//
// The children are this program with other arguments. A trial uses a directory of its own, and no state of the user. Read demo.go first,
// then prove.go and trial.go.
package trial
