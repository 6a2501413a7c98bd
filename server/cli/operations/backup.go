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
		Short: "Back up the state file, which records all runs",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the state into a new file, also while servers use it",
		Long: "Copies the state of one moment into FILE. Servers can continue during the copy. FILE must not exist yet. Do " +
			"not copy the state file by other means: the copy can be damaged.\n\n" +
			"Do not start a server on the copy (--state FILE) while another one uses the original. Both would continue the " +
			"same runs.",
		Example: "  patterngate state backup copy.db",
		Args:    console.One("state backup", "file", "patterngate state backup FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Lstat(args[0]); err == nil {
				return console.Usage("state backup", errors.New(printable.Text(args[0])+" already exists"), "use another name")
			}
			engine, err := a.OpenEngine()
			if err != nil {
				return console.Wrap("state backup", err)
			}
			defer engine.Close()
			progress := a.StateFile.Spin("copying the state")
			err = engine.Backup(cmd.Context(), args[0])
			progress.Stop()
			if err != nil {
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
