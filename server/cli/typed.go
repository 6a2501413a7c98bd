package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"patterngate/gateway"
	"patterngate/server/cli/console"
)

// suggest makes errors about a command's words end with the nearest name, and with the command's own help.
func suggest(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		suggest(sub)
	}
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if _, own := errors.AsType[*console.Error](err); own || err == nil {
			return err
		}
		if len(args) > 0 && cmd.HasAvailableSubCommands() {
			err = nearestOf(err, nearCommand(cmd, args[0]))
		}
		return console.Usage("patterngate", err, cmd.CommandPath()+" --help")
	}
}

// nearCommand returns the command that a person meant who typed name after cmd, as it is typed after "patterngate".
func nearCommand(cmd *cobra.Command, name string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	near := gateway.NearTyped(name, names)
	if near == "" {
		return ""
	}
	return cmd.CommandPath() + " " + near
}

// flagFault returns the error of a command's flags. A flag that is unknown has the nearest one.
func flagFault(cmd *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := gateway.NearTyped(unknown.GetSpecifiedName(), names); near != "" {
			err = nearestOf(err, "--"+near)
		}
	}
	return console.Usage(cmd.CommandPath(), err, cmd.CommandPath()+" --help")
}

// nearestOf adds the name that was meant to an error; "" adds nothing.
func nearestOf(err error, near string) error {
	if near == "" {
		return err
	}
	return errors.New(didYouMean(err.Error(), near))
}
