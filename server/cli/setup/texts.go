package setup

import (
	"strings"

	"patterngate/server/cli/console"
)

// restart returns the instruction to restart a client after its file changed.
func restart(client string) string { return "restart " + client }

// stayDirect returns the note about servers that the client starts without Patterngate. A line with the command follows it.
func stayDirect(servers []string) string {
	names := make([]string, len(servers))
	for i, s := range servers {
		names[i] = `"` + console.OtherName(s) + `"`
	}
	verb := " stay"
	if len(names) == 1 {
		verb = " stays"
	}
	return strings.Join(names, ", ") + verb + " reachable without your policy. To move what you allow behind Patterngate:"
}
