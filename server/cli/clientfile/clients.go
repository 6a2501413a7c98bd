package clientfile

import (
	"fmt"
	"strings"

	"patterngate/server/cli/console"
)

// Client is what is known of one client. docs/clients.md names the sources.
type Client struct {
	Name, Title string
	Format      Format
	Path        func(Host) (string, error)
	strict      bool // it refuses comments and trailing commas
	Sources     []string
	// add is the client's own command for it; nil where there is none.
	Add func(goos string, e Entry) string
	// checks say how to see that it works; file is where the entry was put.
	Checks func(goos, file string, e Entry) []string
}

// Holds is the format of the client's file and the key under which the servers stand.
func (c Client) Holds() (format, key string) {
	if f, ok := c.Format.(JSONServers); ok {
		return "json", f.Member
	}
	return "toml", tomlKey
}

// Refuses is the place of the first thing in a text that setup reads and the client does not.
func (c Client) Refuses(text []byte) (line, column int, loose bool) {
	f, ok := c.Format.(JSONServers)
	at := f.loose(text)
	if !ok || !c.strict || at < 0 {
		return 0, 0, false
	}
	line, column = position(text, at)
	return line, column, true
}

// Clients are those that setup knows, in the order in which it lists them.
func Clients() []Client {
	return []Client{
		{
			Name: "claude-desktop", Title: "Claude Desktop", Format: JSONServers{Member: "mcpServers"}, Path: desktopPath, strict: true,
			Sources: []string{"https://modelcontextprotocol.io/docs/develop/connect-local-servers", "https://github.com/anthropics/claude-code/issues/26073"},
			Checks:  desktopChecks,
		},
		{
			Name: "claude-code", Title: "Claude Code", Format: JSONServers{Member: "mcpServers", Typed: true}, Path: codePath, strict: true,
			Sources: []string{"https://code.claude.com/docs/en/mcp", "https://code.claude.com/docs/en/env-vars"},
			Add: func(goos string, e Entry) string {
				return "claude mcp add --scope user " + e.Name + " -- " + CommandLine(goos, e)
			},
			Checks: func(_, _ string, e Entry) []string {
				return []string{
					"claude mcp get " + e.Name + " says Connected; in a session /mcp lists it",
					"close Claude Code while its file is edited: a running session writes it anew",
				}
			},
		},
		{
			Name: "vscode", Title: "VS Code", Format: JSONServers{Member: "servers", Typed: true}, Path: vscodePath,
			Sources: []string{"https://code.visualstudio.com/docs/agents/reference/mcp-configuration", "https://code.visualstudio.com/docs/agent-customization/mcp-servers"},
			Add: func(goos string, e Entry) string {
				if goos == "windows" { // whose shells disagree about quotes in quotes
					return ""
				}
				add := jsonStyle{}.render([]jsonField{{"name", e.Name}, {"command", e.Command}, {"args", e.Args}}, "")
				return "code --add-mcp " + console.ShellWord(goos, add)
			},
			Checks: func(_, _ string, e Entry) []string {
				return []string{
					"the command MCP: List Servers shows " + e.Name + "; start it there, then open the tools picker of a chat in agent mode",
					"Insiders and other profiles have a mcp.json of their own (MCP: Open User Configuration): name it by --file",
				}
			},
		},
		{
			Name: "cursor", Title: "Cursor", Format: JSONServers{Member: "mcpServers", Typed: true}, Path: cursorPath,
			Sources: []string{"https://cursor.com/docs/mcp", "https://cursor.com/docs/cli/mcp"},
			Checks: func(_, _ string, e Entry) []string {
				return []string{"restart Cursor: Customize > MCPs lists " + e.Name + " with its tools", "or in a terminal: agent mcp list-tools " + e.Name}
			},
		},
		{
			Name: "codex", Title: "Codex", Format: TOMLServers{}, Path: codexPath,
			Sources: []string{"https://developers.openai.com/codex/mcp", "https://developers.openai.com/codex/config-reference"},
			Add: func(goos string, e Entry) string {
				return "codex mcp add " + e.Name + " -- " + CommandLine(goos, e)
			},
			Checks: func(_, _ string, e Entry) []string {
				return []string{"codex mcp get " + e.Name + " shows it enabled; in a session /mcp lists its tools"}
			},
		},
		{
			Name: "inspector", Title: "MCP Inspector", Format: JSONServers{Member: "mcpServers", Typed: true}, Path: inspectorPath, strict: true,
			Sources: []string{"https://github.com/modelcontextprotocol/inspector/blob/main/docs/mcp-server-configuration.md"},
			Checks: func(goos, file string, e Entry) []string {
				return []string{fmt.Sprintf("npx @modelcontextprotocol/inspector --cli --config %s --server %s --method tools/list", console.ShellWord(goos, file), e.Name)}
			},
		},
	}
}

func desktopChecks(goos, _ string, e Entry) []string {
	checks := []string{"quit Claude Desktop wholly and start it again: Settings > Developer shows " + e.Name + " as running"}
	switch goos {
	case "windows":
		checks = append(checks, `what it says on standard error is in %APPDATA%\Claude\logs\mcp-server-`+e.Name+".log")
	case "darwin":
		checks = append(checks, "what it says on standard error is in ~/Library/Logs/Claude/mcp-server-"+e.Name+".log")
	}
	return checks
}

// Names are the names of the clients.
func Names() []string {
	var names []string
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// Find is the client of that name.
func Find(name string) (Client, bool) {
	for _, c := range Clients() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// CommandLine is how a shell starts an entry.
func CommandLine(goos string, e Entry) string {
	words := []string{console.ShellWord(goos, e.Command)}
	for _, arg := range e.Args {
		words = append(words, console.ShellWord(goos, arg))
	}
	return strings.Join(words, " ")
}
