// Package doctor holds the command doctor, which starts this program as MCP clients do and reports what does not work.
//
//	client's file ──▶ our entry ──▶ its configuration and state file, checked here
//	      │               └───────▶ the program, started with the client's environment ──▶ its answers and tools, checked
//	      │               └───────▶ the servers of the configuration, started there too ──▶ what each offers
//	      └──▶ other servers ──▶ [Bypass]: a server of the catalog that the client also starts directly
//
// Each check is a row; a failed one has a fix. Package clientfile finds and reads the files, and package importer reads their entries.
// The command serve logs a [Bypass] too. Read doctor.go first, then entry.go.
package doctor
