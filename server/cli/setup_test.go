package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/setup"
	"patterngate/server/settings/yamldoc"
)

// installedSetup is this program where somebody could have installed it: setup refuses go test's temporary build.
func installedSetup(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(openSetupDir(t))
	if err != nil {
		t.Fatal(err)
	}
	name := "patterngate"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(dir, name)
	if os.Link(self, path) == nil {
		return path
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// openSetupDir is a directory that every user can reach.
func openSetupDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; strings.HasPrefix(d, os.TempDir()+string(filepath.Separator)); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// setupProgram is the program at a path, as a child with a home of its own.
func setupProgram(t *testing.T, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := program(t, args...)
	cmd.Path, cmd.Args[0] = path, path
	home := t.TempDir()
	cmd.Env = append(cmd.Env, "HOME="+home, "USERPROFILE="+home, "APPDATA="+filepath.Join(home, "Roaming"),
		"GORACE=atexit_sleep_ms=0") // else the race detector keeps each child for a second
	cmd.Dir = home
	return cmd
}

// setupRun is the child's standard output and error, and its exit code.
func setupRun(t *testing.T, cmd *exec.Cmd) (out, err string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the code tells
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// setupJSON is what setup says with --json.
func setupJSON(t *testing.T, cmd *exec.Cmd) setup.SetupReport {
	t.Helper()
	cmd.Args = append(cmd.Args, "--json")
	out, err, code := setupRun(t, cmd)
	var r setup.SetupReport
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	if e := d.Decode(&r); e != nil || d.More() || code != console.ExitDone {
		t.Fatalf("%q ends with %d, %v: %s%s", cmd.Args, code, e, out, err)
	}
	return r
}

// The block of every client, run as the client runs it, is an MCP server that lists its tools.
func TestSetupBlocksWork(t *testing.T) {
	t.Parallel()
	self := installedSetup(t)
	for _, client := range clientfile.Clients() {
		t.Run(client.Name, func(t *testing.T) {
			config := filepath.Join(t.TempDir(), "my config.yaml")
			putFile(t, config, "version: 1\npatterns: {supervised_refund: {enabled: false}}\n")
			r := setupJSON(t, setupProgram(t, self, "setup", client.Name, "--config", config, "--name", "gate_1"))
			servers, _, err := client.Format.Decode([]byte(r.Block))
			if err != nil {
				t.Fatalf("the block does not parse: %v\n%s", err, r.Block)
			}
			entry := servers["gate_1"].(map[string]any)
			var args []string
			for _, a := range entry["args"].([]any) {
				args = append(args, a.(string))
			}
			if entry["command"] != self || !slices.Equal(args, []string{"serve", "--config", config}) || r.Command != self || !slices.Equal(r.Args, args) {
				t.Errorf("the block starts %v %q, want %s serve --config %s", entry["command"], args, self, config)
			}
			tools := listSetupTools(t, setupProgram(t, entry["command"].(string), args...))
			if !strings.Contains(tools, `"route_ticket"`) || strings.Contains(tools, `"supervised_refund"`) {
				t.Errorf("tools/list answers %.300s, want the tools of the configuration", tools)
			}
		})
	}
}

// listSetupTools shakes hands with a server and asks for its tools.
func listSetupTools(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	in, out := pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answer := func(message string) string {
		fmt.Fprintln(in, message)
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatalf("no answer to %s: %v", message, err)
		}
		return line
	}
	hello := answer(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"setup-test","version":"1"}}}`)
	if !strings.Contains(hello, `"serverInfo"`) {
		t.Fatalf("initialize answers %s", hello)
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	tools := answer(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	return tools
}

// Every client's own file: shown, written, there, undone; the dry runs write nothing.
func TestSetupWritesAndUndoes(t *testing.T) {
	t.Parallel()
	self := installedSetup(t)
	for _, client := range clientfile.Clients() {
		t.Run(client.Name, func(t *testing.T) {
			if client.Name != "claude-code" && client.Name != "codex" { // one with JSON, one with TOML
				inCI(t, "it starts seven processes")
			}
			home := t.TempDir()
			setup := func(args ...string) setup.SetupReport {
				cmd := setupProgram(t, self, append([]string{"setup", client.Name}, args...)...)
				cmd.Env = append(cmd.Env, "HOME="+home, "USERPROFILE="+home, "APPDATA="+filepath.Join(home, "Roaming"))
				return setupJSON(t, cmd)
			}
			shown := setup()
			if !strings.HasPrefix(shown.File, home) || shown.Exists || shown.Action != "print" || shown.Changed || len(shown.Checks) == 0 || len(shown.Sources) == 0 {
				t.Errorf("setup says %+v", shown)
			}
			if dry := setup("--dry-run"); dry.Result != clientfile.Added || dry.Changed || !dry.DryRun || dry.Diff == "" || filesIn(t, home) != "" {
				t.Errorf("--dry-run says %+v and makes %q", dry, filesIn(t, home))
			}
			wrote := setup("--write")
			if wrote.Result != clientfile.Added || !wrote.Changed || wrote.File != shown.File || wrote.Diff == "" {
				t.Errorf("--write says %+v", wrote)
			}
			wantFile(t, shown.File, shown.Block+"\n")
			if again := setup("--write"); again.Result != clientfile.Present || again.Changed || again.Diff != "" {
				t.Errorf("a second --write says %+v", again)
			}
			if dry := setup("--undo", "--dry-run"); dry.Result != clientfile.Deleted || dry.Changed || dry.Diff == "" {
				t.Errorf("--undo --dry-run says %+v", dry)
			}
			wantFile(t, shown.File, shown.Block+"\n")
			if undone := setup("--undo"); undone.Result != clientfile.Deleted || !undone.Changed {
				t.Errorf("--undo says %+v", undone)
			}
			if _, err := os.Stat(shown.File); !os.IsNotExist(err) {
				t.Errorf("after the undo the file is there: %v", err)
			}
			if undone := setup("--undo"); undone.Result != clientfile.Absent || undone.Changed {
				t.Errorf("a second --undo says %+v", undone)
			}
		})
	}
}

// What a person reads.
func TestSetupText(t *testing.T) {
	self := installedSetup(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "my mcp.json")
	putFile(t, path, "{\n  \"mcpServers\": {}, // none\n}\n")
	say := func(args ...string) (out, err string, code int) {
		return setupRun(t, setupProgram(t, self, append([]string{"setup", "claude-code", "--file", path, "--name", "gate"}, args...)...))
	}
	replace := strings.NewReplacer(self, "PROGRAM", path, "FILE")
	out, err, code := say()
	want := "Claude Code reads FILE\n\n{\n  \"mcpServers\": {\n    \"gate\": {\n      \"type\": \"stdio\",\n      \"command\": \"PROGRAM\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n\n" +
		"write  PROGRAM setup claude-code --name gate --file 'FILE' --write\n       use --dry-run and not --write to see the change first\n" +
		"check  claude mcp get gate says Connected; in a session /mcp lists it\n       close Claude Code while its file is edited: a running session overwrites it\n"
	if got := replace.Replace(out); got != want || err != "" || code != console.ExitDone {
		t.Errorf("setup ends with %d, %q and\n%s\nwant\n%s", code, err, got, want)
	}
	diff := "--- FILE\n+++ FILE\n@@ -2,1 +2,7 @@\n-  \"mcpServers\": {}, …\n+  \"mcpServers\": {\n+    \"gate\": {\n+      \"type\": \"stdio\",\n" +
		"+      \"command\": \"PROGRAM\",\n+      \"args\": [\"serve\"]\n+    }\n+  }, …\n\n"
	out, err, code = say("--write")
	got, backup, _ := strings.Cut(replace.Replace(out), "\nbackup ")
	if want := diff + "added gate to FILE"; got != want || code != console.ExitDone {
		t.Errorf("--write ends with %d and\n%s\nwant\n%s", code, got, want)
	}
	if !strings.Contains(backup, "\nundo   PROGRAM setup claude-code --name gate --file 'FILE' --undo\nthen   restart Claude Code\ncheck  ") {
		t.Errorf("--write goes on with %s", backup)
	}
	if want := "warning: FILE:2:19: a comment or a trailing comma; Claude Code reads strict JSON and may refuse the file\n"; replace.Replace(err) != want {
		t.Errorf("--write warns %s, want %s", replace.Replace(err), want)
	}
	if out, _, _ = say("--write"); !strings.HasPrefix(replace.Replace(out), "gate is already in FILE, and nothing changes\ncheck ") {
		t.Errorf("a second --write says %s", out)
	}
	if out, _, _ = say("--undo"); !strings.Contains(replace.Replace(out), "removed gate: FILE is restored, byte for byte\nthen   restart Claude Code\n") {
		t.Errorf("--undo says %s", out)
	}
	wantFile(t, path, "{\n  \"mcpServers\": {}, // none\n}\n")
}

// A write names the servers that the client still starts without Patterngate: not its own entry, and no disabled one.
func TestSetupNamesOtherServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	putFile(t, path, `{"mcpServers": {"notes": {"command": "prog"}, "files": {"command": "prog"}, "old": {"command": "prog", "disabled": true}, "pg": {"command": "/x/patterngate"}}}`)
	out, err, code := setupRun(t, setupProgram(t, installedSetup(t), "setup", "cursor", "--file", path, "--write"))
	want := "note   \"files\", \"notes\" stay reachable without your policy. To move what you allow behind Patterngate:\n" +
		"       patterngate init --import " + path + " --replace\n"
	if !strings.Contains(out, want) || code != console.ExitDone {
		t.Errorf("--write ends with %d, %q and\n%s\nwant in it\n%s", code, err, out, want)
	}
}

// What is typed or stands there wrongly ends with 2, names its place and changes nothing.
func TestSetupRefusals(t *testing.T) {
	t.Parallel()
	self := installedSetup(t)
	dir := t.TempDir()
	bad, faulty := filepath.Join(dir, "bad.json"), filepath.Join(dir, "faulty.yaml")
	putFile(t, bad, "{\n  \"a\": }")
	putFile(t, faulty, "version: 2\n")
	fixed := filepath.Join(dir, "fixed.json")
	putFile(t, fixed, "{}")
	if err := os.Chmod(fixed, 0o400); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		want string
	}{
		"no client":        {[]string{}, "setup: got 0 clients, want one of claude-desktop, claude-code, vscode, cursor, codex, inspector\ntry: patterngate setup claude-code\n"},
		"two clients":      {[]string{"vscode", "cursor"}, "setup: got 2 clients, want one of claude-desktop, "},
		"unknown client":   {[]string{"vs\x1bcode"}, `setup: no client "vs\x1bcode" (did you mean vscode?); have claude-desktop, `},
		"opposites":        {[]string{"vscode", "--write", "--undo"}, "setup: --write and --undo exclude each other\n"},
		"name":             {[]string{"vscode", "--name", "a.b"}, `setup --name: got "a.b", want 1 to 64 of a-z, A-Z, 0-9, _ and -`},
		"empty name":       {[]string{"vscode", "--name", ""}, `setup --name: got ""`},
		"long name":        {[]string{"vscode", "--name", strings.Repeat("a", 65)}, "setup --name: got "},
		"bad JSON":         {[]string{"vscode", "--file", bad, "--write"}, bad + ":2:8: not valid JSON: a value must begin here, not '}'; fix it by hand\n"},
		"bad JSON, dry":    {[]string{"vscode", "--file", bad, "--dry-run"}, bad + ":2:8: "},
		"bad JSON, undo":   {[]string{"vscode", "--file", bad, "--undo"}, bad + ":2:8: "},
		"a directory":      {[]string{"codex", "--file", dir, "--write"}, dir + ": a directory; name a file with --file\n"},
		"read-only":        {[]string{"cursor", "--file", fixed, "--write"}, fixed + ": read-only; make it writable, or name another file with --file\n"},
		"faulty config":    {[]string{"codex", "--config", faulty}, faulty + ":1:10: version: got 2; this program reads 1\n"},
		"missing config":   {[]string{"codex", "--config", faulty + "x"}, faulty + "x: no such file; "},
		"a flag too many":  {[]string{"codex", "--force"}, "patterngate setup: unknown flag: --force\n"},
		"a flag's value":   {[]string{"codex", "--file"}, "patterngate setup: flag needs an argument: --file\n"},
		"the wrong format": {[]string{"codex", "--file", bad, "--write"}, bad + ":1:1: invalid character at start of key: U+007B '{'; fix it by hand\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, err, code := setupRun(t, setupProgram(t, self, append([]string{"setup"}, tt.args...)...))
			if code != console.ExitUsage || out != "" || !strings.Contains(err, tt.want) {
				t.Errorf("setup %q ends with %d, %q and %q; want %d, nothing and %q", tt.args, code, out, err, console.ExitUsage, tt.want)
			}
		})
	}
	wantFile(t, bad, "{\n  \"a\": }")
	if got := filesIn(t, dir); got != "bad.json faulty.yaml fixed.json" {
		t.Errorf("left behind: %s", got)
	}
}

// A bad file is told in one document too.
func TestSetupRefusalJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.json")
	putFile(t, path, "[")
	out, err, code := setupRun(t, setupProgram(t, installedSetup(t), "setup", "vscode", "--file", path, "--write", "--json"))
	var faults []yamldoc.Fault
	if e := json.Unmarshal([]byte(out), &faults); e != nil || len(faults) != 1 || faults[0].Line != 1 || code != console.ExitUsage || err == "" {
		t.Errorf("setup ends with %d, %s and %s: %v", code, out, err, e)
	}
}

// go run's and go test's programs are refused, but for taking back what another one wrote.
func TestSetupFromTemporaryBuild(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clientfile.ProgramPath(nil); err == nil {
		t.Skip("this test was built with go test -c")
	}
	for _, flag := range []string{"--json", "--dry-run", "--write"} {
		out, err, code := setupRun(t, setupProgram(t, self, "setup", "vscode", flag))
		if code != console.ExitUsage || out != "" || !strings.Contains(err, "temporary build") || !strings.HasSuffix(err, "\ntry: go build -o patterngate .\n") {
			t.Errorf("setup vscode %s ends with %d, %q, %q", flag, code, out, err)
		}
	}
	if r := setupJSON(t, setupProgram(t, self, "setup", "vscode", "--undo")); r.Result != clientfile.Absent {
		t.Errorf("--undo says %+v", r)
	}
}

// The path in the block is that by which the program was called, where that leads to it: a link outlives what it is to.
func TestSetupProgramPath(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	self := installedSetup(t)
	bin, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(bin, "pg")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(bin, "liar"), "another program")
	for name, tt := range map[string]struct{ argv0, path, want string }{
		"by path":         {self, "", self},
		"by link":         {link, "", link},
		"from PATH":       {"pg", "relative:" + t.TempDir() + ":" + bin, link},
		"not in PATH":     {"pg", t.TempDir(), self},
		"another in PATH": {"liar", bin, self},
		"relative":        {"./pg", "", link},
		"a lie":           {"/bin/sh", "", self},
		"nothing":         {"", "", self},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := setupProgram(t, self, "setup", "codex")
			cmd.Args[0], cmd.Dir = tt.argv0, bin
			cmd.Env = append(cmd.Env, "PATH="+tt.path)
			if r := setupJSON(t, cmd); r.Command != tt.want {
				t.Errorf("called %q with PATH %q the block starts %s, want %s", tt.argv0, tt.path, r.Command, tt.want)
			}
		})
	}
}

// A configuration is named by its absolute path; one that only the environment names is warned of.
func TestSetupConfigPath(t *testing.T) {
	cmd := setupProgram(t, installedSetup(t), "--config", "pg.yaml", "setup", "codex")
	putFile(t, filepath.Join(cmd.Dir, "pg.yaml"), "version: 1\n")
	dir, err := filepath.EvalSymlinks(cmd.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if r := setupJSON(t, cmd); len(r.Args) != 3 || r.Args[2] != filepath.Join(dir, "pg.yaml") && r.Args[2] != filepath.Join(cmd.Dir, "pg.yaml") {
		t.Errorf("the block has the arguments %q", r.Args)
	}
	cmd = setupProgram(t, installedSetup(t), "setup", "codex")
	cmd.Env = append(cmd.Env, "PATTERNGATE_CONFIG=/pg.yaml")
	if r := setupJSON(t, cmd); len(r.Args) != 1 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "PATTERNGATE_CONFIG is set here") {
		t.Errorf("setup says %+v", r)
	}
}

// A shell completes the clients.
func TestSetupCompletion(t *testing.T) {
	var out, err bytes.Buffer
	if code := Main([]string{"__complete", "setup", "c"}, strings.NewReader(""), &out, &err); code != console.ExitDone {
		t.Fatalf("completion ends with %d: %s", code, err.String())
	}
	var got []string
	for s := bufio.NewScanner(&out); s.Scan() && !strings.HasPrefix(s.Text(), ":"); {
		got = append(got, s.Text())
	}
	if want := []string{"claude-desktop", "claude-code", "cursor", "codex"}; !slices.Equal(got, want) {
		t.Errorf("c is completed by %q, want %q", got, want)
	}
}
