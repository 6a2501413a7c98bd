package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Served is a server over HTTP that runs in its own process.
type Served struct {
	Address string // host:port
	child   *exec.Cmd
	end     func() error // asks the server to end
	drained chan struct{}
}

const anyPort = "127.0.0.1:0"

// ServeBare starts the bare server over HTTP. The server uses the model.
func (p Programs) ServeBare(m *Model) (*Served, error) {
	child := exec.Command(p.Bare, "-echo", p.Echo, "-http", anyPort)
	child.Env = append(os.Environ(), "OPENAI_BASE_URL="+m.URL, "OPENAI_API_KEY=none")
	stdin, out, err := startPiped(child)
	if err != nil {
		return nil, err
	}
	return (&Served{child: child, end: stdin.Close}).listen(out, strings.TrimSpace, nil)
}

// ServeOurs starts Patterngate over HTTP with a configuration. Its log is read, as in real use.
func (p Programs) ServeOurs(m *Model, config string) (*Served, error) {
	return p.serveOurs(m, config, nil)
}

// serveOurs is like [Programs.ServeOurs]. It also passes the lines of the log to read, and adds environ to the
// environment.
func (p Programs) serveOurs(m *Model, config string, read func(line string), environ ...string) (*Served, error) {
	child := exec.Command(p.Ours, "serve", "--http", anyPort, "--config", config, "--log-format", "json")
	child.Env = append(append(os.Environ(), "OPENAI_BASE_URL="+m.URL, "OPENAI_API_KEY=none"), environ...)
	out, err := child.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	return (&Served{child: child, end: func() error { return child.Process.Signal(syscall.SIGTERM) }}).listen(out, servingAddress, read)
}

// servingAddress returns the address in the log line "serving", or "" for other lines.
func servingAddress(line string) string {
	var said struct{ Msg, Address string }
	if json.Unmarshal([]byte(line), &said) != nil || said.Msg != "serving" {
		return ""
	}
	return said.Address
}

// listen waits for the line with the address. It passes the lines after it to read, if read is set.
func (s *Served) listen(out io.Reader, address func(line string) string, read func(line string)) (*Served, error) {
	lines := bufio.NewReader(out)
	var said strings.Builder
	for s.Address == "" {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("no address in %q: %w", said.String(), err), s.end(), s.child.Wait())
		}
		s.Address = address(line)
	}
	s.drained = make(chan struct{})
	go func() {
		defer close(s.drained)
		if read == nil {
			_, _ = io.Copy(io.Discard, lines) // until the server ends
			return
		}
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			read(line)
		}
	}()
	return s, nil
}

// MemoryMB returns the memory that the server has (VmRSS) or had at most (VmHWM), in MB.
func (s *Served) MemoryMB(which string) (float64, error) {
	return MemoryMB(strconv.Itoa(s.child.Process.Pid), which)
}

// Close ends the server.
func (s *Served) Close() error {
	err := s.end()
	<-s.drained
	return errors.Join(err, s.child.Wait())
}
