package inspect

import (
	"fmt"

	"github.com/spf13/cobra"

	"patterngate/catalog/upstream"
	"patterngate/server"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

// Commands are the commands that show and check a configuration, and what it offers to clients.
type Commands struct {
	*console.Console
	Load    func() (settings.Document, error) // returns the configuration in force
	Sources func() settings.Sources           // returns where the configuration is looked for
	Path    *string                           // value of --config
	Listed  func() ([]upstream.Tool, error)   // returns the tools that a client sees
	Offered func() ([]server.Pattern, error)  // returns the patterns of the configuration in force
	Loaded  func(assembly.Loaded)             // notes a file in this directory that is not in use; nil: no notes
	Fault   func(error) error                 // returns the error of a command whose configuration cannot be found or read
}

// Config returns the command "config".
func (a *Commands) Config() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration in force, the default one, or the file's path",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	origin := false
	show := &cobra.Command{
		Use:   "show",
		Short: "Print the configuration in force, without secrets",
		Long: "Prints the configuration in force as a file that you can load again. A secret is shown as a reference to its " +
			"place, never as its value.\n\n" +
			"With --origin each value says where it comes from: a flag, a variable, FILE:LINE or default.",
		Example: "  patterngate config show\n  patterngate config show --origin\n  patterngate config show --origin --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.showConfig(origin) },
	}
	show.Flags().BoolVar(&origin, "origin", false, "show where each value comes from")
	cmd.AddCommand(show, &cobra.Command{
		Use:   "default",
		Short: "Print the default configuration, with comments",
		Long: "Prints the configuration that is built into this program: the built-in patterns and every default. Your own " +
			"file replaces only the keys that it sets.",
		Example: "  patterngate config default",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Out.Write(settings.Default)
			return err
		},
	}, &cobra.Command{
		Use:   "path",
		Short: "Print the path of the configuration file",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, named, err := settings.Path(a.Sources())
			if err != nil {
				return a.Fault(err)
			}
			if a.JSON {
				return console.WriteJSON(a.Out, map[string]any{"path": path, "named": named})
			}
			_, err = fmt.Fprintln(a.Out, path)
			return err
		},
	})
	return cmd
}

func (a *Commands) showConfig(origin bool) error {
	loaded, err := a.Load()
	if err != nil {
		return err
	}
	switch {
	case origin && a.JSON:
		return console.WriteJSON(a.Out, loaded.Origins())
	case origin:
		_, err = a.Out.Write(loaded.OriginYAML())
	case a.JSON:
		_, err = a.Out.Write(loaded.JSON())
	default:
		_, err = a.Out.Write(loaded.YAML())
	}
	return err
}
