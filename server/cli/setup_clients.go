package cli

import (
	"fmt"
	"strings"

	"patterngate/server/cli/console"
)

// setupClient is what is known of one client. docs/clients.md names the sources.
type setupClient struct {
	name, title string
	format      setupFormat
	path        func(setupHost) (string, error)
	strict      bool // it refuses comments and trailing commas
	sources     []string
	// add is the client's own command for it; nil where there is none.
	add func(goos string, e setupEntry) string
	// checks say how to see that it works; file is where the entry was put.
	checks func(goos, file string, e setupEntry) []string
}

// holds is the format of the client's file and the key under which the servers stand.
func (c setupClient) holds() (format, key string) {
	if f, ok := c.format.(jsonServers); ok {
		return "json", f.member
	}
	return "toml", tomlKey
}

// refuses is the place of the first thing in a text that setup reads and the client does not.
func (c setupClient) refuses(text []byte) (line, column int, loose bool) {
	f, ok := c.format.(jsonServers)
	at := f.loose(text)
	if !ok || !c.strict || at < 0 {
		return 0, 0, false
	}
	line, column = position(text, at)
	return line, column, true
}

// setupClients are those that setup knows, in the order in which it lists them.
func setupClients() []setupClient {
	return []setupClient{
		{
			name: "claude-desktop", title: "Claude Desktop", format: jsonServers{member: "mcpServers"}, path: desktopPath, strict: true,
			sources: []string{"https://modelcontextprotocol.io/docs/develop/connect-local-servers", "https://github.com/anthropics/claude-code/issues/26073"},
			checks:  desktopChecks,
		},
		{
			name: "claude-code", title: "Claude Code", format: jsonServers{member: "mcpServers", typed: true}, path: codePath, strict: true,
			sources: []string{"https://code.claude.com/docs/en/mcp", "https://code.claude.com/docs/en/env-vars"},
			add: func(goos string, e setupEntry) string {
				return "claude mcp add --scope user " + e.Name + " -- " + commandLine(goos, e)
			},
			checks: func(_, _ string, e setupEntry) []string {
				return []string{
					"claude mcp get " + e.Name + " says Connected; in a session /mcp lists it",
					"close Claude Code while its file is edited: a running session writes it anew",
				}
			},
		},
		{
			name: "vscode", title: "VS Code", format: jsonServers{member: "servers", typed: true}, path: vscodePath,
			sources: []string{"https://code.visualstudio.com/docs/agents/reference/mcp-configuration", "https://code.visualstudio.com/docs/agent-customization/mcp-servers"},
			add: func(goos string, e setupEntry) string {
				if goos == "windows" { // whose shells disagree about quotes in quotes
					return ""
				}
				add := jsonStyle{}.render([]jsonField{{"name", e.Name}, {"command", e.Command}, {"args", e.Args}}, "")
				return "code --add-mcp " + console.ShellWord(goos, add)
			},
			checks: func(_, _ string, e setupEntry) []string {
				return []string{
					"the command MCP: List Servers shows " + e.Name + "; start it there, then open the tools picker of a chat in agent mode",
					"Insiders and other profiles have a mcp.json of their own (MCP: Open User Configuration): name it by --file",
				}
			},
		},
		{
			name: "cursor", title: "Cursor", format: jsonServers{member: "mcpServers", typed: true}, path: cursorPath,
			sources: []string{"https://cursor.com/docs/mcp", "https://cursor.com/docs/cli/mcp"},
			checks: func(_, _ string, e setupEntry) []string {
				return []string{"restart Cursor: Customize > MCPs lists " + e.Name + " with its tools", "or in a terminal: agent mcp list-tools " + e.Name}
			},
		},
		{
			name: "codex", title: "Codex", format: tomlServers{}, path: codexPath,
			sources: []string{"https://developers.openai.com/codex/mcp", "https://developers.openai.com/codex/config-reference"},
			add: func(goos string, e setupEntry) string {
				return "codex mcp add " + e.Name + " -- " + commandLine(goos, e)
			},
			checks: func(_, _ string, e setupEntry) []string {
				return []string{"codex mcp get " + e.Name + " shows it enabled; in a session /mcp lists its tools"}
			},
		},
		{
			name: "inspector", title: "MCP Inspector", format: jsonServers{member: "mcpServers", typed: true}, path: inspectorPath, strict: true,
			sources: []string{"https://github.com/modelcontextprotocol/inspector/blob/main/docs/mcp-server-configuration.md"},
			checks: func(goos, file string, e setupEntry) []string {
				return []string{fmt.Sprintf("npx @modelcontextprotocol/inspector --cli --config %s --server %s --method tools/list", console.ShellWord(goos, file), e.Name)}
			},
		},
	}
}

func desktopChecks(goos, _ string, e setupEntry) []string {
	checks := []string{"quit Claude Desktop wholly and start it again: Settings > Developer shows " + e.Name + " as running"}
	switch goos {
	case "windows":
		checks = append(checks, `what it says on standard error is in %APPDATA%\Claude\logs\mcp-server-`+e.Name+".log")
	case "darwin":
		checks = append(checks, "what it says on standard error is in ~/Library/Logs/Claude/mcp-server-"+e.Name+".log")
	}
	return checks
}

// clientNames are the names of the clients.
func clientNames() []string {
	var names []string
	for _, c := range setupClients() {
		names = append(names, c.name)
	}
	return names
}

// findClient is the client of that name.
func findClient(name string) (setupClient, bool) {
	for _, c := range setupClients() {
		if c.name == name {
			return c, true
		}
	}
	return setupClient{}, false
}

// commandLine is how a shell starts an entry.
func commandLine(goos string, e setupEntry) string {
	words := []string{console.ShellWord(goos, e.Command)}
	for _, arg := range e.Args {
		words = append(words, console.ShellWord(goos, arg))
	}
	return strings.Join(words, " ")
}
