package clientfile

import (
	"errors"
	"strings"

	"patterngate/server/cli/console"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// Host describes the machine of the client: its system, its environment and its paths.
type Host struct {
	Goos    string                        // as in runtime.GOOS
	Environ []string                      // NAME=value pairs, as from os.Environ
	Exists  func(path string) bool        // reports whether a path exists
	Glob    func(pattern string) []string // returns the paths that match, as filepath.Glob does
}

// Variable returns the value of an environment variable, or "" if it is not set. On Windows, it ignores the case of the name.
func (h Host) Variable(name string) string {
	if h.Goos == "windows" {
		return machine.WindowsVariable(h.Environ, name)
	}
	return machine.Lookup(h.Environ, name)
}

// join joins a directory and names with the separator of the host's system.
func (h Host) join(dir string, names ...string) string {
	sep := "/"
	if h.Goos == "windows" {
		sep = `\`
	}
	return strings.TrimRight(dir, sep) + sep + strings.Join(names, sep)
}

// home returns a path below the home directory. It returns a usage error if the home directory is not known.
func (h Host) home(names ...string) (string, error) {
	dir := machine.HomeDir(h.Goos, h.Environ)
	if dir == "" {
		name := "HOME"
		if h.Goos == "windows" {
			name = "USERPROFILE"
		}
		return "", console.Usage("setup", errors.New(noHome(name)), "--file FILE")
	}
	return h.join(dir, names...), nil
}

// appData returns a path below the directory where desktop applications keep their data.
func (h Host) appData(names ...string) (string, error) {
	dir, relative := machine.ConfigDir(h.Goos, h.Environ)
	switch {
	case relative != "":
		return "", console.Usage("setup", errors.New(relativeConfig(yamldoc.Quoted(relative))), "--file FILE")
	case dir != "":
		return h.join(dir, names...), nil
	case h.Goos == "windows":
		return h.home(append([]string{"AppData", "Roaming"}, names...)...)
	}
	return h.home() // the error names the missing variable
}

const desktopFile = "claude_desktop_config.json"

// desktopPath returns the path of Claude Desktop's file. Since February 2026, its Windows installer packages the application.
// A packaged application has its own copy of the directory and never reads the plain one.
func desktopPath(h Host) (string, error) {
	if h.Goos != "windows" {
		return h.appData("Claude", desktopFile)
	}
	local := h.Variable("LOCALAPPDATA")
	if local == "" {
		return h.appData("Claude", desktopFile)
	}
	packages := h.Glob(h.join(local, "Packages", "Claude_*"))
	switch len(packages) {
	case 0:
		return h.appData("Claude", desktopFile)
	case 1:
		return h.join(packages[0], "LocalCache", "Roaming", "Claude", desktopFile), nil
	}
	return "", console.Usage("setup", errors.New(severalPackages(strings.Join(packages, ", "))),
		"--file "+h.join(packages[0], "LocalCache", "Roaming", "Claude", desktopFile))
}

// codePath returns the path of Claude Code's file. CLAUDE_CONFIG_DIR can move its configuration directory. If the directory
// holds the older .config.json, Claude Code still uses that file (tested with 2.1.330).
func codePath(h Host) (string, error) {
	moved := h.Variable("CLAUDE_CONFIG_DIR")
	dir, err := moved, error(nil)
	if moved == "" {
		if dir, err = h.home(".claude"); err != nil {
			return "", err
		}
	}
	if old := h.join(dir, ".config.json"); h.Exists(old) {
		return old, nil
	}
	if moved != "" {
		return h.join(moved, ".claude.json"), nil
	}
	return h.home(".claude.json")
}

// vscodePath returns the path of mcp.json in VS Code's user profile. It follows VS Code's getUserDataPath.
func vscodePath(h Host) (string, error) {
	if dir := h.Variable("VSCODE_PORTABLE"); dir != "" {
		return h.join(dir, "user-data", "User", "mcp.json"), nil
	}
	if dir := h.Variable("VSCODE_APPDATA"); dir != "" {
		return h.join(dir, "Code", "User", "mcp.json"), nil
	}
	return h.appData("Code", "User", "mcp.json")
}

func cursorPath(h Host) (string, error) { return h.home(".cursor", "mcp.json") }

func codexPath(h Host) (string, error) {
	if dir := h.Variable("CODEX_HOME"); dir != "" {
		return h.join(dir, "config.toml"), nil
	}
	return h.home(".codex", "config.toml")
}

// inspectorPath returns the path of the list of servers that the inspector loads at its start. Its --config accepts this file too.
func inspectorPath(h Host) (string, error) {
	if path := h.Variable("MCP_CATALOG_PATH"); path != "" {
		return path, nil
	}
	return h.home(".mcp-inspector", "mcp.json")
}
