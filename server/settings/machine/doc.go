// Package machine answers what the program asks of the machine on which it runs: the variables of its environment, the user's directories,
// where a program is, and who may read or write a file. It changes nothing.
//
//	NAME=value pairs ──Lookup, HomeDir, ConfigDir──► texts and directories
//	a PATH ──FindProgram──► the path of a program
//	a path ──ReadTrusted──► the text of a file that only its owner can have written, or a fault
//
// Read trusted.go first.
package machine
