package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the effective configuration, or where it is looked for",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "show",
		Short: "Print the effective configuration, secrets masked",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, err := a.load()
			if err != nil {
				return err
			}
			text := loaded.YAML()
			if a.json {
				text = loaded.JSON()
			}
			_, err = a.out.Write(text)
			return err
		},
	}, &cobra.Command{
		Use:   "path",
		Short: "Print the path of the configuration file",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, named, err := ConfigPath(ConfigSources{Path: a.config, Environ: a.environ})
			if err != nil {
				return a.configFault(err)
			}
			if a.json {
				return printJSON(a.out, map[string]any{"path": path, "named": named})
			}
			_, err = fmt.Fprintln(a.out, path)
			return err
		},
	})
	return cmd
}

// configFault is a configuration that does not load: every fault by place, then the exit code of usage.
func (a *app) configFault(err error) error {
	faults, ok := errors.AsType[*ConfigError](err)
	if !ok {
		return fault("config", err)
	}
	if a.json {
		if err := printJSON(a.out, faults.Faults); err != nil {
			return err
		}
	}
	return &commandError{code: exitUsage, cause: faults}
}
