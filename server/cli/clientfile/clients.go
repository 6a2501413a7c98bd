package clientfile

import (
	"fmt"
	"strings"

	"patterngate/catalog"
	"patterngate/server/cli/console"
)

// Client describes one MCP client: its file, its format and how to check the result. docs/clients.md names the sources.
type Client struct {
	Name, Title string                     // the name for the command line, and the name for people
	Format      Format                     // edits the file
	Path        func(Host) (string, error) // returns the path of the file on a host; the file need not exist
	strict      bool                       // the client refuses comments and trailing commas
	Sources     []string                   // the web pages that document the client's file
	// Add returns the client's own shell command that adds the entry. It is nil if the client has none. It returns ""
	// if there is none for this system.
	Add func(goos string, e Entry) string
	// Checks returns instructions that show whether the entry works. The file is the one that holds the entry.
	Checks func(goos, file string, e Entry) []string
}

// Holds returns the format of the client's file, "json" or "toml", and the key that holds the servers.
func (c Client) Holds() (format, key string) {
	if f, ok := c.Format.(JSONServers); ok {
		return "json", f.Member
	}
	return "toml", tomlKey
}

// Refuses returns the position of the first comment or trailing comma in a text that the client may refuse. Setup reads
// both. Line and column count from 1. The result loose is false if there is none, or if the client reads them too.
func (c Client) Refuses(text []byte) (line, column int, loose bool) {
	f, ok := c.Format.(JSONServers)
	at := f.loose(text)
	if !ok || !c.strict || at < 0 {
		return 0, 0, false
	}
	line, column = position(text, at)
	return line, column, true
}

// Clients returns the clients that setup knows, in the order in which setup lists them.
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
					codeConnected(e.Name),
					codeClosed,
				}
			},
		},
		{
			Name: "vscode", Title: "VS Code", Format: JSONServers{Member: "servers", Typed: true}, Path: vscodePath,
			Sources: []string{"https://code.visualstudio.com/docs/agents/reference/mcp-configuration", "https://code.visualstudio.com/docs/agent-customization/mcp-servers"},
			Add: func(goos string, e Entry) string {
				if goos == "windows" { // the shells of Windows differ in how they read quotes inside quotes
					return ""
				}
				add := jsonStyle{}.render([]jsonField{{"name", e.Name}, {"command", e.Command}, {"args", e.Args}}, "")
				return "code --add-mcp " + console.ShellWord(goos, add)
			},
			Checks: func(_, _ string, e Entry) []string {
				return []string{
					vscodeLists(e.Name),
					vscodeProfiles,
				}
			},
		},
		{
			Name: "cursor", Title: "Cursor", Format: JSONServers{Member: "mcpServers", Typed: true}, Path: cursorPath,
			Sources: []string{"https://cursor.com/docs/mcp", "https://cursor.com/docs/cli/mcp"},
			Checks: func(_, _ string, e Entry) []string {
				return []string{cursorLists(e.Name), cursorTerminal(e.Name)}
			},
		},
		{
			Name: "codex", Title: "Codex", Format: TOMLServers{}, Path: codexPath,
			Sources: []string{"https://developers.openai.com/codex/mcp", "https://developers.openai.com/codex/config-reference"},
			Add: func(goos string, e Entry) string {
				return "codex mcp add " + e.Name + " -- " + CommandLine(goos, e)
			},
			Checks: func(_, _ string, e Entry) []string {
				return []string{codexEnabled(e.Name)}
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
	checks := []string{desktopRuns(e.Name)}
	switch goos {
	case "windows":
		checks = append(checks, standardError(`%APPDATA%\Claude\logs\mcp-server-`+e.Name))
	case "darwin":
		checks = append(checks, standardError("~/Library/Logs/Claude/mcp-server-"+e.Name))
	}
	return checks
}

// Names returns the names of the clients, in the order of [Clients].
func Names() []string {
	var names []string
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// Find returns the client with this name, and whether there is one.
func Find(name string) (Client, bool) {
	for _, c := range Clients() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// Meant returns the name of the client that a misspelt name means, or "".
func Meant(name string) string { return catalog.Near(name, Names()) }

// CommandLine returns the command of an entry as one line for the shell of a system. The value of goos is as in runtime.GOOS.
func CommandLine(goos string, e Entry) string {
	words := []string{console.ShellWord(goos, e.Command)}
	for _, arg := range e.Args {
		words = append(words, console.ShellWord(goos, arg))
	}
	return strings.Join(words, " ")
}
