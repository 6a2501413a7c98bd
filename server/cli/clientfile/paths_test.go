package clientfile

import (
	"slices"
	"strings"
	"testing"
)

// The file of each client on each system, whatever system the test runs on.
func TestSetupPaths(t *testing.T) {
	linux, mac := []string{"HOME=/home/ann"}, []string{"HOME=/Users/ann"}
	windows := []string{`USERPROFILE=C:\Users\ann`, `APPDATA=C:\Users\ann\AppData\Roaming`, `LOCALAPPDATA=C:\Users\ann\AppData\Local`}
	with := func(environ []string, more ...string) []string { return append(slices.Clone(environ), more...) }
	const msix = `C:\Users\ann\AppData\Local\Packages\Claude_pzs8sxrjxfjjc`
	tests := map[string]struct {
		client, goos string
		environ      []string
		there        []string // paths that exist
		want         string   // a path, or the failure
	}{
		"desktop, linux":            {"claude-desktop", "linux", linux, nil, "/home/ann/.config/Claude/claude_desktop_config.json"},
		"desktop, XDG":              {"claude-desktop", "linux", with(linux, "XDG_CONFIG_HOME=/conf/"), nil, "/conf/Claude/claude_desktop_config.json"},
		"desktop, mac":              {"claude-desktop", "darwin", with(mac, "XDG_CONFIG_HOME=/conf"), nil, "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json"},
		"desktop, windows":          {"claude-desktop", "windows", windows, nil, `C:\Users\ann\AppData\Roaming\Claude\claude_desktop_config.json`},
		"desktop, windows package":  {"claude-desktop", "windows", windows, []string{msix}, msix + `\LocalCache\Roaming\Claude\claude_desktop_config.json`},
		"desktop, two packages":     {"claude-desktop", "windows", windows, []string{msix, msix + "2"}, "setup: several packages of Claude Desktop: " + msix + ", " + msix + "2"},
		"desktop, no local dir":     {"claude-desktop", "windows", windows[:2], []string{msix}, `C:\Users\ann\AppData\Roaming\Claude\claude_desktop_config.json`},
		"desktop, profile alone":    {"claude-desktop", "windows", windows[:1], nil, `C:\Users\ann\AppData\Roaming\Claude\claude_desktop_config.json`},
		"desktop, relative XDG":     {"claude-desktop", "linux", with(linux, "XDG_CONFIG_HOME=conf"), nil, `setup: XDG_CONFIG_HOME is a relative path, "conf"`},
		"desktop, nowhere":          {"claude-desktop", "darwin", nil, nil, "setup: HOME is not set, so there is no home directory to look in"},
		"code, linux":               {"claude-code", "linux", linux, nil, "/home/ann/.claude.json"},
		"code, mac":                 {"claude-code", "darwin", mac, nil, "/Users/ann/.claude.json"},
		"code, windows":             {"claude-code", "windows", windows, nil, `C:\Users\ann\.claude.json`},
		"code, moved":               {"claude-code", "linux", with(linux, "CLAUDE_CONFIG_DIR=/c"), nil, "/c/.claude.json"},
		"code, the old file":        {"claude-code", "linux", linux, []string{"/home/ann/.claude/.config.json"}, "/home/ann/.claude/.config.json"},
		"code, moved, old file":     {"claude-code", "linux", with(linux, "CLAUDE_CONFIG_DIR=/c"), []string{"/c/.config.json", "/home/ann/.claude/.config.json"}, "/c/.config.json"},
		"code, moved, case":         {"claude-code", "windows", with(windows, `claude_config_dir=D:\c\`), nil, `D:\c\.claude.json`},
		"code, nowhere":             {"claude-code", "windows", nil, nil, "setup: USERPROFILE is not set, so there is no home directory to look in"},
		"vscode, linux":             {"vscode", "linux", linux, nil, "/home/ann/.config/Code/User/mcp.json"},
		"vscode, XDG":               {"vscode", "linux", with(linux, "XDG_CONFIG_HOME=/conf"), nil, "/conf/Code/User/mcp.json"},
		"vscode, mac":               {"vscode", "darwin", mac, nil, "/Users/ann/Library/Application Support/Code/User/mcp.json"},
		"vscode, windows":           {"vscode", "windows", windows, nil, `C:\Users\ann\AppData\Roaming\Code\User\mcp.json`},
		"vscode, portable":          {"vscode", "windows", with(windows, `VSCODE_PORTABLE=D:\code\data`, `VSCODE_APPDATA=E:\`), nil, `D:\code\data\user-data\User\mcp.json`},
		"vscode, its own directory": {"vscode", "linux", with(linux, "VSCODE_APPDATA=/data"), nil, "/data/Code/User/mcp.json"},
		"cursor, linux":             {"cursor", "linux", with(linux, "XDG_CONFIG_HOME=/conf"), nil, "/home/ann/.cursor/mcp.json"},
		"cursor, mac":               {"cursor", "darwin", mac, nil, "/Users/ann/.cursor/mcp.json"},
		"cursor, windows":           {"cursor", "windows", windows, nil, `C:\Users\ann\.cursor\mcp.json`},
		"codex, linux":              {"codex", "linux", linux, nil, "/home/ann/.codex/config.toml"},
		"codex, mac":                {"codex", "darwin", mac, nil, "/Users/ann/.codex/config.toml"},
		"codex, windows":            {"codex", "windows", windows, nil, `C:\Users\ann\.codex\config.toml`},
		"codex, moved":              {"codex", "linux", with(linux, "CODEX_HOME=/x"), nil, "/x/config.toml"},
		"inspector, linux":          {"inspector", "linux", linux, nil, "/home/ann/.mcp-inspector/mcp.json"},
		"inspector, mac":            {"inspector", "darwin", mac, nil, "/Users/ann/.mcp-inspector/mcp.json"},
		"inspector, windows":        {"inspector", "windows", windows, nil, `C:\Users\ann\.mcp-inspector\mcp.json`},
		"inspector, another list":   {"inspector", "linux", with(linux, "MCP_CATALOG_PATH=/l.json"), nil, "/l.json"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			client, _ := Find(tt.client)
			got, err := client.Path(Host{
				Goos: tt.goos, Environ: tt.environ,
				Exists: func(path string) bool { return slices.Contains(tt.there, path) },
				Glob: func(pattern string) []string {
					return slices.DeleteFunc(slices.Clone(tt.there), func(path string) bool { return !strings.HasPrefix(path, strings.TrimSuffix(pattern, "*")) })
				},
			})
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s on %s with %q\n got %s\nwant %s", tt.client, tt.goos, tt.environ, got, tt.want)
			}
		})
	}
	for _, client := range Clients() { // none is forgotten
		for _, goos := range []string{"linux", "mac", "windows"} {
			if _, ok := tests[strings.TrimPrefix(client.Name, "claude-")+", "+goos]; !ok {
				t.Errorf("no case for %s on %s", client.Name, goos)
			}
		}
	}
}

// The difference is what diff -u shows.
func TestUnifiedDiff(t *testing.T) {
	long := strings.Repeat("é", 1000)
	tests := map[string]struct{ before, after, want string }{
		"none":         {"a\n", "a\n", ""},
		"new file":     {"", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"gone":         {"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		"in between":   {"1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nx\n5\n6\n7\n8\n", "@@ -4,0 +5,1 @@\n+x\n"},
		"no last end":  {"a", "a,\nb", "@@ -1,1 +1,2 @@\n-a\n\\ No newline at end of file\n+a,\n+b\n\\ No newline at end of file\n"},
		"CRLF, tab":    {"a\r\n", "a\r\n\tb\r\n", "@@ -1,0 +2,1 @@\n+\tb\n"},
		"terminal":     {"", "\x1b[31m\u202e\n", "@@ -0,0 +1,1 @@\n+\\u001b[31m\\u202e\n"},
		"twice a line": {"a\na\n", "a\na\na\n", "@@ -2,0 +3,1 @@\n+a\n"},
		"a long line": {
			long + "x" + long, long + "y" + long,
			"@@ -1,1 +1,1 @@\n-…" + strings.Repeat("é", 30) + "x" + strings.Repeat("é", 89) + "…\n\\ No newline at end of file\n" +
				"+…" + strings.Repeat("é", 30) + "y" + strings.Repeat("é", 89) + "…\n\\ No newline at end of file\n",
		},
	}
	whole := func(line string) string { return line }
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := tt.want
			if want != "" {
				want = "--- F\n+++ F\n" + want
			}
			if got := UnifiedDiff("F", []byte(tt.before), []byte(tt.after), whole); got != want {
				t.Errorf("unifiedDiff(%q, %q)\n got %s\nwant %s", tt.before, tt.after, got, want)
			}
		})
	}
}
