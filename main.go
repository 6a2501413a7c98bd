// Patterngate is an MCP server whose tools are whole agent patterns, each run policy-gated from end to end.
package main

import (
	"os"

	"patterngate/server/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
