// Package cli is the program: it reads flags, the environment and signals, runs one command, and returns the exit code.
//
//	Main ──▶ root command ──▶ commands of the packages below, each with what it needs: console, state file, server
//	             └──▶ serve: one server over stdio or HTTP, its approval page, its reloads
//
// The other commands are in packages below this one. app.go makes all of them; service.go opens a server in this process for the commands
// that need one. Sessions in the tests run the whole program. Read app.go first, then serve.go.
package cli
