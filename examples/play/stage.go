package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// options are the flags.
type options struct {
	http  bool
	built bool
}

// stage is where a story plays: a directory of its own, the programs that run there, and a client. After the first fault its
// methods do nothing, so that a story reads from top to bottom; close tells that fault.
type stage struct {
	ctx     context.Context
	name    string
	options options
	out     io.Writer
	dir     string // the copy of the example's folder; home of all that runs
	env     []string
	running []*exec.Cmd // in the order in which they were started
	url     string      // of the server, over HTTP
	client  *mcp.ClientSession
	log     *words // of patterngate
	err     error
}

// payToken is the secret between the gate and the refund service; the client never sees it.
const payToken = "example-pay-token"

func newStage(ctx context.Context, name string, o options, out io.Writer) *stage {
	s := &stage{ctx: ctx, name: name, options: o, out: out, log: &words{}}
	s.dir, s.err = os.MkdirTemp("", "patterngate-"+name+"-")
	if s.err != nil {
		return s
	}
	if s.dir, s.err = filepath.EvalSymlinks(s.dir); s.err != nil { // the gate compares paths as the system names them
		return s
	}
	path := os.Getenv("PATH")
	if !o.built {
		s.must(s.in(".", "go", "build", "-o", s.programs()+string(filepath.Separator), ".", "./examples/refunds", "./examples/shop"))
		path = s.programs() + string(filepath.ListSeparator) + path
	}
	s.env = []string{
		"PATH=" + path, "PAY_TOKEN=" + payToken, "SystemRoot=" + os.Getenv("SystemRoot"),
		"HOME=" + s.dir, "XDG_CONFIG_HOME=" + s.dir, "XDG_STATE_HOME=" + s.dir, "LOCALAPPDATA=" + s.dir, "TMPDIR=" + s.dir, "TMP=" + s.dir,
		"PATTERNGATE_CONFIG=" + s.config(), "PATTERNGATE_STATE=" + s.state(),
	}
	return s
}

// work is the copy of the example's folder; home has what else belongs to the story.
func (s *stage) work() string   { return filepath.Join(s.dir, s.name) }
func (s *stage) config() string { return filepath.Join(s.work(), "patterngate.yaml") }
func (s *stage) state() string  { return filepath.Join(s.dir, "state.db") }

// programs is where our programs are, where they were built for this story.
func (s *stage) programs() string { return filepath.Join(s.dir, "bin") }

// must keeps the first fault.
func (s *stage) must(err error) {
	if s.err == nil {
		s.err = err
	}
}

// fail says what was not as it should be.
func (s *stage) fail(format string, values ...any) { s.must(fmt.Errorf(format, values...)) }

// say prints a word on what comes.
func (s *stage) say(text string) {
	if s.err == nil {
		fmt.Fprintf(s.out, "\n# %s\n", text)
	}
}

// open copies the example's folder, starts the services that its file names, and accepts what they declare.
func (s *stage) open() {
	if s.err != nil {
		return
	}
	folder := filepath.Join("examples", s.name)
	if _, err := os.Stat(folder); err != nil {
		s.fail("no folder %s here; start in the root of the repository", folder)
		return
	}
	s.must(os.CopyFS(s.work(), os.DirFS(folder)))
	text, err := os.ReadFile(s.config())
	s.must(err)
	if strings.Contains(string(text), refundsAddress) {
		s.refunds(string(text))
	}
	if strings.Contains(string(text), filesystem) {
		s.install(filesystem)
	}
	if strings.Contains(string(text), "servers:") {
		s.accept()
	}
	s.run("validate --strict")
}

// refundsAddress is what the examples' files say; here the system picks the port.
const refundsAddress = "127.0.0.1:9090"

// refunds starts the refund service of examples/refunds and writes its address into the file.
func (s *stage) refunds(text string) {
	if s.err != nil {
		return
	}
	cmd := s.command("refunds", "--addr", "127.0.0.1:0", "--ledger", filepath.Join(s.dir, "ledger.jsonl"))
	out, err := cmd.StdoutPipe()
	s.must(err)
	address := s.start(cmd, out, "^(.+)$")
	s.must(os.WriteFile(s.config(), []byte(strings.ReplaceAll(text, refundsAddress, address)), 0o600))
}

// The npm package that the example orders puts behind the gate, as its program is called.
const (
	filesystem        = "mcp-server-filesystem"
	filesystemPackage = "@modelcontextprotocol/server-filesystem@2026.8.31"
)

// install has npm put a server's program here, unless it is on PATH.
func (s *stage) install(program string) {
	if _, err := exec.LookPath(program); err == nil || s.err != nil {
		return
	}
	s.must(s.in(s.dir, "npm", "install", "--prefix", s.dir, "--ignore-scripts", "--no-audit", "--no-fund", "--silent", filesystemPackage))
	s.env[0] += string(filepath.ListSeparator) + filepath.Join(s.dir, "node_modules", ".bin")
}

// in runs a command of the reader's own system and returns what it says where it fails.
func (s *stage) in(dir string, argv ...string) error {
	cmd := exec.CommandContext(s.ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

// run prints a patterngate command and what it prints. A word of the command holds no blank.
func (s *stage) run(line string) { s.print(line, "", s.ask(line)) }

// head prints a command and the first lines of what it prints.
func (s *stage) head(line string, lines int) {
	all := s.ask(line)
	s.print(line, fmt.Sprintf(" | head -%d", lines), all[:min(lines, len(all))])
}

// accept accepts what the servers declare. The command shows every definition; here stands only what each is.
func (s *stage) accept() {
	const line = "catalog accept --yes"
	all := slices.DeleteFunc(s.ask(line), func(l string) bool {
		return !strings.Contains(l, "/") || strings.HasPrefix(l, " ") || strings.HasPrefix(l, "warning")
	})
	s.print(line, " | grep ^[a-z]*/", all)
}

func (s *stage) print(line, rest string, lines []string) {
	if s.err == nil {
		fmt.Fprintf(s.out, "$ patterngate %s%s\n%s\n", line, rest, strings.TrimRight(strings.Join(lines, "\n"), "\n"))
	}
}

// ask runs a patterngate command and returns the lines that it prints, without the path of the story's directory.
func (s *stage) ask(line string) []string {
	if s.err != nil {
		return nil
	}
	out, err := s.command("patterngate", strings.Fields(line)...).CombinedOutput()
	text := strings.ReplaceAll(strings.TrimSpace(string(out)), s.work()+string(filepath.Separator), "")
	if err != nil {
		s.fail("patterngate %s: %w\n%s", line, err, text)
	}
	return strings.Split(text, "\n")
}

// command is one of our programs, in the story's home.
func (s *stage) command(program string, args ...string) *exec.Cmd {
	if !s.options.built {
		program = filepath.Join(s.programs(), program)
	}
	cmd := exec.CommandContext(s.ctx, program, args...)
	cmd.Dir, cmd.Env = s.work(), s.env
	return cmd
}

// close ends what was started, the last first, removes the directory and returns the story's first fault.
func (s *stage) close() error {
	if s.client != nil {
		if err := s.client.Close(); err != nil && s.err == nil {
			s.fail("the server did not end well: %w", err)
		}
	}
	for i := len(s.running) - 1; i >= 0; i-- {
		s.end(s.running[i])
	}
	if s.err != nil {
		s.err = errors.Join(s.err, s.log.last())
	}
	if s.dir != "" {
		s.must(os.RemoveAll(s.dir))
	}
	return s.err
}

// show prints a file that the services wrote.
func (s *stage) show(name string) {
	if s.err != nil {
		return
	}
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	s.must(err)
	fmt.Fprintf(s.out, "%s\n", strings.TrimSpace(string(text)))
}
