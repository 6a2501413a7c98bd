package examples

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPages plays the sessions that pages show: blocks that begin with ```console, whose lines after "$ " a shell carries
// out, those of one page in one home. What stands below a command is what it printed; below one in the background stands
// the line that is waited for, and $! is its process. A block that begins with ```yaml NAME.yaml or ```json NAME.json is that file. Ids and digests of
// questions are numbered, times, durations and other hashes are examples.
func TestPages(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the sessions are for a Unix shell")
	}
	tutorials := []string{"docs/approve-on-the-page.md", "docs/behind-the-gate.md", "docs/crashes.md", "docs/first-http-tool.md", "docs/first-rule.md", "docs/with-a-model.md"}
	for _, name := range append(tutorials, "docs/start.md", "docs/durability.md", "docs/approvals.md", "docs/planning.md", "docs/own-tools.md") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "docs/approvals.md" && name != "docs/own-tools.md" { // in the others runs take their time
				onlyInCI(t)
			}
			path := filepath.Join("..", filepath.FromSlash(name))
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := &shell{t: t, home: t.TempDir(), runs: map[string]string{}}
			if slices.Contains(tutorials, name) {
				p.learn("/home/anna/"+strings.TrimSuffix(filepath.Base(name), ".md"), string(text))
			}
			want := consoleBlock.ReplaceAllStringFunc(string(text), func(block string) string {
				if m := fileBlock.FindStringSubmatch(block); m != nil {
					p.put(m[1], m[2])
					return block
				}
				return p.play(block)
			})
			if *update && want != string(text) {
				if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var (
	consoleBlock = regexp.MustCompile("(?ms)^```(console|yaml [a-z]+\\.yaml|json [a-z]+\\.json)\n.*?^```$")
	fileBlock    = regexp.MustCompile("(?s)^```(?:yaml|json) ([a-z]+\\.(?:yaml|json))\n(.*)```$")
)

// TestReadmeConfiguration holds that the configuration in README is the one that docs/own-tools.md plays.
func TestReadmeConfiguration(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/own-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlock.FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 1 || !strings.Contains(string(page), "```yaml tools.yaml\n"+blocks[0][1]+"```") {
		t.Errorf("README has %d blocks of YAML, want the one that docs/own-tools.md calls tools.yaml", len(blocks))
	}
}

// learn prepares what a tutorial says before its first command: two programs, a configuration file and a token. Each command ends with
// 0, or with the code in the comment behind it. The page calls the home shown.
func (p *shell) learn(shown, page string) {
	p.shown = shown
	bin := built(p.t, "shop", "refunds")
	p.env = []string{
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"PAY_TOKEN=a-token-of-the-shop",
	}
	if strings.Contains(page, "\nexport PATTERNGATE_CONFIG=$PWD/patterngate.yaml\n") {
		p.env = append(p.env, "PATTERNGATE_CONFIG="+filepath.Join(p.home, "patterngate.yaml"))
	}
	p.exits = true
	p.models = pageModels(p.t)
	p.addresses = map[string]string{}
	for _, shown := range []string{"127.0.0.1:8765", "127.0.0.1:8766", "127.0.0.1:9090"} {
		free, err := freeAddress() // what the page starts listens there
		if err != nil {
			p.t.Fatal(err)
		}
		p.addresses[shown] = free
	}
}

// freeAddress returns a loopback address where nothing listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// put writes a block that a page gives a file's name.
func (p *shell) put(name, text string) {
	for shown, address := range p.addresses {
		text = strings.ReplaceAll(text, shown, address)
	}
	for shown, stub := range p.models {
		text = strings.ReplaceAll(text, shown, stub)
	}
	if err := os.WriteFile(filepath.Join(p.home, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// shell plays the sessions of a page.
type shell struct {
	t    *testing.T
	home string
	runs map[string]string // the page's names of runs and questions, by their ids
	last int               // the newest process in the background
	// env is added to the environment of commands. With exits a command ends with 0, or as a comment behind it says: # exit 3.
	env   []string
	exits bool
	// In a tutorial, addresses are free ones by those that the page shows, and models are stubs by the model servers that it names.
	// shown is what it calls home.
	addresses, models map[string]string
	shown             string
}

// play plays a block and returns it as it should be.
func (p *shell) play(block string) string {
	lines := strings.Split(block, "\n")
	played := lines[:1:1]
	for i := 1; i < len(lines)-1; {
		command, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			p.t.Fatalf("no command: %q", lines[i])
		}
		end := i + 1
		for end < len(lines)-1 && !strings.HasPrefix(lines[end], "$ ") {
			end++
		}
		shown := strings.Join(lines[i+1:end], "\n")
		played = append(played, lines[i])
		if got := p.run(command, shown); got != "" {
			played = append(played, got)
		}
		i = end
	}
	return strings.Join(append(played, lines[len(lines)-1]), "\n")
}

// run runs a command and returns the output that the page should show.
func (p *shell) run(command, shown string) string {
	p.t.Helper()
	line := strings.ReplaceAll(p.unnamed(command), "$!", strconv.Itoa(p.last))
	if before, ok := strings.CutSuffix(line, " &"); ok {
		p.start(before, shown)
		return shown
	}
	out, err := p.command(line).CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		p.t.Fatalf("%s: %v", command, err)
	}
	if m := pageExit.FindStringSubmatch(command); p.exits {
		wanted := "0"
		if m != nil {
			wanted = m[1]
		}
		if code := strconv.Itoa(exitCode(err)); code != wanted {
			p.t.Errorf("$ %s: exit %s, want %s\n%s", command, code, wanted, out)
		}
	}
	got := p.named(strings.TrimRight(string(out), "\n"))
	if masked(got) == masked(shown) {
		return shown
	}
	if !*update {
		p.t.Errorf("the page shows below $ %s\n%s\nit prints\n%s\n(-update writes it)", command, shown, got)
	}
	return got
}

// start starts a command in the background and waits for a line.
func (p *shell) start(line, wanted string) {
	cmd := p.command("exec " + line)
	out, err := cmd.StderrPipe()
	if err == nil {
		cmd.Stdout = cmd.Stderr
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.last = cmd.Process.Pid
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if masked(p.named(lines.Text())) == masked(wanted) {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return
		}
	}
	p.t.Fatalf("$ %s & did not print %q", line, wanted)
}

func (p *shell) command(line string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // a page may wait for what does not come
	p.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.WaitDelay = time.Second
	cmd.Dir = p.home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "XDG_CONFIG_HOME=" + p.home, "XDG_STATE_HOME=" + filepath.Join(p.home, ".state")}
	cmd.Env = append(cmd.Env, p.env...)
	return cmd
}

// pageExit is a comment that says how a command ends.
var pageExit = regexp.MustCompile(`# exit ([0-9]+)$`)

// exitCode is how a program that ran ended.
func exitCode(err error) int {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	return 0
}

var (
	pageRun    = regexp.MustCompile(`(run|ap|plan)_[0-9a-f]{16}`)
	pageDigest = regexp.MustCompile(`(?:--digest |Digest +)(sha256:[0-9a-f]{64})`)
)

// named is what was printed with the page's names of runs.
func (p *shell) named(text string) string {
	text = regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, "")
	for shown, address := range p.addresses {
		text = strings.ReplaceAll(text, address, shown)
	}
	if p.shown != "" {
		text = strings.ReplaceAll(text, p.home, p.shown)
	}
	text = pageRun.ReplaceAllStringFunc(text, func(id string) string {
		kind, _, _ := strings.Cut(id, "_")
		return p.name(id, kind+"_%04d000000000000")
	})
	for _, m := range pageDigest.FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(text, m[1], p.name(m[1], "sha256:%04d"+strings.Repeat("0", 60)))
	}
	return regexp.MustCompile(`\blocal:[0-9]+( \([^()\n]*\))?`).ReplaceAllString(text, "local:1000 (anna)")
}

// name is the page's name of an id: numbered, each kind by itself.
func (p *shell) name(id, format string) string {
	if p.runs[id] == "" {
		kind, n := format[:strings.IndexByte(format, '%')], 1
		for _, other := range p.runs {
			if strings.HasPrefix(other, kind) {
				n++
			}
		}
		p.runs[id] = fmt.Sprintf(format, n)
	}
	return p.runs[id]
}

// unnamed is a command with the runs' own ids; a run's number alone is its name too.
func (p *shell) unnamed(command string) string {
	for shown, address := range p.addresses {
		command = strings.ReplaceAll(command, shown, address)
	}
	for id, name := range p.runs {
		command = strings.ReplaceAll(command, name, id)
		if short, ok := strings.CutPrefix(name, "run_"); ok {
			command = regexp.MustCompile(`\b`+short[:4]+`\b`).ReplaceAllString(command, id)
		}
	}
	return command
}

// masked is a text without what differs from one time to the next.
func masked(text string) string {
	for _, m := range []struct{ what, by string }{
		{`\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\dZ)?`, "TIME"}, {`([A-Z][a-z]{2} [ \d]\d )?\d\d:\d\d:\d\d\.\d{3}`, "TIME"}, {`(under )?\b[0-9]+\.[0-9]+\b`, "N"},
		{`, [0-9]+ events`, ", N events"}, {`pg_[0-9a-f]{32}`, "KEY"}, {`sha256:[0-9a-f]{64}|\b[0-9a-f]{64}\b`, "HASH"}, {`\b[A-Z2-7]{12,26}(\.\.\.)?`, "PROCESS"}, {`\[[= ]+\]`, "BAR"}, {` +`, " "},
	} {
		text = regexp.MustCompile(m.what).ReplaceAllString(text, m.by)
	}
	return text
}
