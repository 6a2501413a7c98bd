package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Programs holds the paths of the built programs that the benchmarks start, and of their files.
type Programs struct {
	Model  string // bench/stubmodel
	Bare   string // bench/bareserver
	Ours   string // Patterngate
	Many   string // bench/manyruns
	Config string // Patterngate's configuration
	Echo   string // file with the answer of the bare server's describe_catalog; "": it has no such tool
}

// config sets no delays, keeps runs in memory, and simulates an approver with a cap of 800 USD.
const config = `version: 1
llm: {provider: openai, model: ` + modelName + `, max_retries: 0}
demo: {delay_factor: 0}
state: ":memory:"
patterns:
  supervised_refund: {approver: {kind: simulated, cap_usd: 800}}
`

// Build builds the stub model into dir, which should be a temporary directory. If servers is set, it builds the servers
// too.
func Build(dir string, servers bool) (Programs, error) {
	p := Programs{
		Model: filepath.Join(dir, "stubmodel"), Bare: filepath.Join(dir, "bareserver"), Ours: filepath.Join(dir, "patterngate"),
		Many:   filepath.Join(dir, "manyruns"),
		Config: filepath.Join(dir, "config.yaml"),
	}
	args := []string{"build", "-o", dir + string(filepath.Separator), "patterngate/bench/stubmodel"}
	if servers {
		args = append(args, "patterngate/bench/bareserver", "patterngate/bench/manyruns", "patterngate")
	}
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as in a release, also when a test uses the race detector
	if out, err := build.CombinedOutput(); err != nil {
		return p, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return p, os.WriteFile(p.Config, []byte(config), 0o600)
}

// Model is a stub model that runs in its own process. The process ends on Close, or with this process.
type Model struct {
	URL   string // the base URL
	child *exec.Cmd
	stdin io.Closer
}

// StartModel starts the stub model.
func (p Programs) StartModel() (*Model, error) {
	child := exec.Command(p.Model)
	stdin, out, err := startPiped(child)
	if err != nil {
		return nil, err
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the stub model said no address: %w", err), stdin.Close(), child.Wait())
	}
	return &Model{strings.TrimSpace(url), child, stdin}, nil
}

// startPiped starts a child process and returns its standard input and output. The child shares the standard error of
// this process.
func startPiped(child *exec.Cmd) (in io.WriteCloser, out io.Reader, err error) {
	child.Stderr = os.Stderr
	if in, err = child.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if out, err = child.StdoutPipe(); err != nil {
		return nil, nil, err
	}
	return in, out, child.Start()
}

// Close ends the stub model.
func (m *Model) Close() error { return errors.Join(m.stdin.Close(), m.child.Wait()) }

// StartBare starts the bare server, which uses the model.
func (p Programs) StartBare(m *Model) (*Session, error) {
	return startSession(m, p.Bare, "-echo", p.Echo)
}

// StartOurs starts Patterngate, which uses the model.
func (p Programs) StartOurs(m *Model) (*Session, error) {
	return startSession(m, p.Ours, "serve", "--config", p.Config, "--log-level", "error")
}

// StartDurable starts Patterngate, which uses the model, with a state file beside the configuration. name is the name
// of the state file without its extension.
func (p Programs) StartDurable(m *Model, name string) (*Session, error) {
	state := filepath.Join(filepath.Dir(p.Config), name+".db")
	return startSession(m, p.Ours, "serve", "--config", p.Config, "--log-level", "error", "--state", state)
}

// MemoryMB returns how much memory a process has (VmRSS) or had at most (VmHWM), in MB. It works only on Linux.
func MemoryMB(pid, which string) (float64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if size, ok := strings.CutPrefix(line, which+":"); ok {
			kB, err := strconv.ParseFloat(strings.Fields(size)[0], 64)
			return kB / 1024, err
		}
	}
	return 0, fmt.Errorf("no %s", which)
}
