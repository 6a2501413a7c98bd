package call

import (
	"slices"
	"strings"

	"patterngate/catalog/upstream"

	"github.com/spf13/cobra"

	"patterngate/server/cli/toolargs"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
)

// complete offers the tools of Patterngate's own server, then the arguments that are not given yet. It offers nothing for
// another server, which it would have to start or call.
func (c *toolCall) complete(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const fail = cobra.ShellCompDirectiveNoFileComp
	if c.command != "" || c.url != "" || !cmd.Flags().Changed("url") && machine.Lookup(c.Environ, settings.UrlVariable) != "" {
		return nil, fail
	}
	offered, err := c.Offered()
	if err != nil {
		return nil, fail
	}
	other := func(offered cobra.Completion) bool { return !strings.HasPrefix(offered, begun) }
	if len(words) > 0 {
		return slices.DeleteFunc(keysLeft(offered, words), other), fail | cobra.ShellCompDirectiveNoSpace
	}
	var tools []cobra.Completion
	for _, t := range offered {
		tools = append(tools, cobra.CompletionWithDesc(t.Name, t.Title))
	}
	return slices.DeleteFunc(tools, other), fail
}

// keysLeft returns the arguments of the tool that no word gives.
func keysLeft(offered []upstream.Tool, words []string) []cobra.Completion {
	var keys []cobra.Completion
	for _, t := range offered {
		if t.Name != words[0] {
			continue
		}
		for _, name := range toolargs.ReadTypes(t.Input).Names() {
			given := slices.ContainsFunc(words[1:], func(w string) bool {
				return strings.HasPrefix(w, name+"=") || strings.HasPrefix(w, name+":=")
			})
			if !given {
				keys = append(keys, name+"=")
			}
		}
	}
	return keys
}
