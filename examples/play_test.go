package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ownPatterns are the examples of own patterns: the folders that have a configuration.
func ownPatterns(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*/patterngate.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example has a patterngate.yaml: %v", err)
	}
	for i, file := range files {
		files[i] = filepath.Dir(file)
	}
	return files
}

// TestPlays plays each example as its page says, over standard input and output and over HTTP, and compares what it prints with the
// session that the page shows.
func TestPlays(t *testing.T) {
	t.Parallel()
	onlyInCI(t) // it builds three programs
	dir := programs(t)
	t.Run("faults", func(t *testing.T) { playsFail(t, dir) })
	for _, name := range ownPatterns(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printed := play(t, dir, name)
			path := filepath.Join(name, "README.md")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			page := string(text)
			shown := session(t, page, name)
			got := (&shell{t: t, runs: map[string]string{}}).named(paidKey.ReplaceAllString(printed, "pg_"+strings.Repeat("0", 32)))
			if alike(got) == alike(shown) {
				return
			}
			if !*update {
				t.Fatalf("the page shows\n%s\nit prints\n%s\n(-update writes it)", shown, got)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(page, playOf(name)+shown, playOf(name)+got, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		})
		t.Run(name+" over HTTP", func(t *testing.T) {
			t.Parallel()
			play(t, dir, "-http", name)
		})
	}
}

// paidKey is an idempotency key, as the refund service writes it down.
var paidKey = regexp.MustCompile(`pg_[0-9a-f]{32}`)

// alike is a session without what differs between two plays. Of a long line with a time only the beginning counts: where it is cut
// depends on how the time is written.
func alike(session string) string {
	lines := strings.Split(differs.ReplaceAllString(masked(session), "OTHER"), "\n")
	for i, line := range lines {
		if strings.Contains(line, " N s") {
			lines[i] = line[:min(len(line), 150)]
		}
	}
	return strings.Join(lines, "\n")
}

// differs is what no two plays have in common: the hash of arguments with a plan's id in them, the beginning of an id; and what no page should hang on: how
// large tools/list is, which each word in a schema changes.
var differs = regexp.MustCompile(`"args_hash":"[0-9a-f]{12}"|run_[0-9a-f]{4,15}\.\.\.|tools/list [0-9]+ bytes, about [0-9]+ tokens`)

// playOf is the line that plays an example.
func playOf(name string) string { return "\n$ go run ./examples/play " + name + "\n" }

// session is what a page shows below the command that plays its example.
func session(t *testing.T, page, name string) string {
	t.Helper()
	_, after, ok := strings.Cut(page, playOf(name))
	shown, _, ended := strings.Cut(after, "\n```")
	if !ok || !ended {
		t.Fatalf("the page of %s shows no session", name)
	}
	return shown
}

// filesystemServer is npm's program that the example orders puts behind the gate.
const filesystemServer = "mcp-server-filesystem"

// play plays an example and returns what it printed. What needs npm is played where its program is there, and in CI: NPM_BIN is the
// directory of npm's programs.
func play(t *testing.T, dir string, args ...string) string {
	t.Helper()
	path := dir + string(filepath.ListSeparator) + os.Getenv("PATH")
	if dir := os.Getenv("NPM_BIN"); dir != "" {
		path += string(filepath.ListSeparator) + dir
	}
	if _, err := exec.LookPath(filesystemServer); err != nil && slices.Contains(args, "orders") && os.Getenv("NPM_BIN") == "" && os.Getenv("CI") == "" {
		t.Skipf("%s of npm is not in PATH, and NPM_BIN does not name where it is", filesystemServer)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "play"), append([]string{"-built"}, args...)...)
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "PATH="+path)
	var faults strings.Builder
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("play %q: %v\n%s\n%s", args, err, out, &faults)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// programs builds the programs of a play and returns their directory, which lasts as long as the test. patterngate is this program, as
// in sessions.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./examples/play", "./examples/refunds", "./examples/shop")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir
}

// playsFail: a fault ends a play with exit code 1 and a word on it, and an unknown example with the usage.
func playsFail(t *testing.T, dir string) {
	t.Parallel()
	home := t.TempDir()
	for name, tt := range map[string]struct {
		args []string
		dir  string // where it is started
		code int
		want string
	}{
		"no such example":       {[]string{"lunch"}, "..", 2, "usage"},
		"no example":            {nil, "..", 2, "usage"},
		"not the root":          {[]string{"-built", "desk"}, ".", 1, "root of the repository"},
		"no programs are there": {[]string{"-built", "desk"}, "..", 1, "refunds"},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "play"), tt.args...)
		cmd.Dir, cmd.Env = tt.dir, append(os.Environ(), "TMPDIR="+home, "TMP="+home)
		out, _ := cmd.CombinedOutput() // its code says
		if cmd.ProcessState.ExitCode() != tt.code || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: exit %d, %s; want %d and %q", name, cmd.ProcessState.ExitCode(), out, tt.code, tt.want)
		}
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// yamlBlock is what a page shows of a file.
var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// TestPlayPages holds that what an example's page shows of its file stands there, and that the gallery has each example.
func TestPlayPages(t *testing.T) {
	t.Parallel()
	gallery, err := os.ReadFile("../docs/examples.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range ownPatterns(t) {
		page, err := os.ReadFile(filepath.Join(name, "README.md"))
		if err != nil {
			t.Error(err)
			continue
		}
		file, err := os.ReadFile(filepath.Join(name, "patterngate.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		blocks := yamlBlock.FindAllStringSubmatch(string(page), -1)
		if len(blocks) == 0 {
			t.Errorf("%s/README.md shows nothing of its file", name)
		}
		for _, m := range blocks {
			if !strings.Contains(unindented(string(file)), unindented(m[1])) {
				t.Errorf("%s/README.md shows of patterngate.yaml what does not stand there:\n%s", name, m[1])
			}
		}
		for _, want := range []string{"](../examples/" + name + "/README.md)", "`go run ./examples/play " + name + "`"} {
			if !strings.Contains(string(gallery), want) {
				t.Errorf("docs/examples.md has no %s", want)
			}
		}
	}
}
