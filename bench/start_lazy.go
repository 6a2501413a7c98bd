package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Lazy writes a configuration with several MCP servers and returns its path. The servers are bare ones. Each has its
// own tool, which Lazy accepts and the configuration offers to clients.
func (p Programs) Lazy(servers int) (path string, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(p.Config), "lazy")
	if err != nil {
		return "", err
	}
	text := strings.Builder{}
	fmt.Fprintf(&text, "%scatalog:\n  servers:\n", config[:strings.Index(config, "patterns:")])
	var expose []string
	for i := range servers {
		fmt.Fprintf(&text, "    s%d: {stdio: {command: %q, env: {OPENAI_BASE_URL: 'http://127.0.0.1:9/v1'}}, tools: {route_ticket: {as: s%d_look, effect: read}}}\n", i, p.Bare, i)
		expose = append(expose, fmt.Sprintf("s%d_look", i))
	}
	fmt.Fprintf(&text, "  expose: [%s]\n", strings.Join(expose, ", "))
	path = filepath.Join(dir, "lazy.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		return "", err
	}
	accept := exec.Command(p.Ours, "--config", path, "catalog", "accept", "--yes")
	accept.Env = append(os.Environ(), "OPENAI_API_KEY=none")
	if out, err := accept.CombinedOutput(); err != nil {
		return "", fmt.Errorf("catalog accept: %w\n%s", err, out)
	}
	return path, nil
}

// MeasureListed starts a server and returns the time from the start of the process to the answer to tools/list. The
// answer must name tool.
func MeasureListed(m *Model, start func(*Model) (*Session, error), tool string) (time.Duration, error) {
	began := time.Now()
	s, err := start(m)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if err := s.Initialize(); err != nil {
		return 0, err
	}
	list, err := s.Request("tools/list", []byte(`{}`))
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	if !bytes.Contains(list, []byte(`"name":"`+tool+`"`)) {
		return 0, fmt.Errorf("tools/list has no %s", tool)
	}
	return took, s.Close()
}
