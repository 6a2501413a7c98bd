package operations

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
)

// StateCommand returns the command "state".
func (a *Commands) StateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Copy the file in which runs are recorded",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the state into a new file, also while it is in use",
		Long: "Copies the state into a new file as it is at one moment; servers may go on meanwhile. A copy of the file by other means can\n" +
			"be torn. FILE must not be there yet. Give the copy to a server by --state FILE only when no other goes on with the\n" +
			"original: both would carry on the same runs.",
		Args: console.One("state backup", "file", "patterngate state backup FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Lstat(args[0]); err == nil {
				return console.Usage("state backup", errors.New(printable.Text(args[0])+" is there already"), "another name")
			}
			engine, err := a.OpenEngine()
			if err != nil {
				return console.Wrap("state backup", err)
			}
			defer engine.Close()
			if err := engine.Backup(cmd.Context(), args[0]); err != nil {
				return console.Fault("state backup", err)
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"backup": args[0]})
			}
			return a.Print("copied to " + printable.Text(args[0]) + "\n")
		},
	})
	return cmd
}
