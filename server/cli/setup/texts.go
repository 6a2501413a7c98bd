package setup

import (
	"fmt"
	"strings"

	"patterngate/server/cli/console"
)

// noClient says that no client has this name. meant is the client that was meant, or "".
func noClient(word, meant, clients string) string {
	if meant != "" {
		return fmt.Sprintf("no client %q (did you mean %s?); have %s", word, meant, clients)
	}
	return fmt.Sprintf("no client %q; have %s", word, clients)
}

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
