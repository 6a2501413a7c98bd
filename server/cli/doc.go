// Package cli is the program: it reads flags, the environment and signals, runs one command, and returns the exit code.
//
//	Main ──▶ root command ──▶ commands of the packages below, each with what it needs: console, state file, server
//	             └──▶ serve: one server over stdio or HTTP, its approval page, its reloads
//
// The commands serve and version are here; the others are in packages below this one. app.go makes all of them. service.go opens a
// server in this process for the commands that need one. Tests run the whole program, also from examples/*.txtar. Read app.go first,
// then serve.go.
package cli
