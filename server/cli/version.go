package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"patterngate/server/buildinfo"
	"patterngate/server/cli/console"
	"patterngate/server/cli/invocation"
)

// versionCommands is the command that prints the version.
type versionCommands struct {
	*invocation.Invocation
}

func (a *versionCommands) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the supported MCP revisions",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.JSON {
				return console.WriteJSON(a.Out, buildinfo.Read())
			}
			_, err := fmt.Fprintln(a.Out, buildinfo.Read().Line())
			return err
		},
	}
}
