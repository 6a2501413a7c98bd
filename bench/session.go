package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// Session is a lean MCP client of a server over stdio. It writes lines, waits for the line with the answer, and decodes
// nothing. So a measured call is the work of the server and not of the client. One goroutine at a time can use it.
type Session struct {
	child *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	id    int
	line  []byte // buffer for requests
}

func startSession(m *Model, name string, args ...string) (*Session, error) {
	child := exec.Command(name, args...)
	child.Env = append(os.Environ(), "OPENAI_BASE_URL="+m.URL, "OPENAI_API_KEY=none")
	in, out, err := startPiped(child)
	if err != nil {
		return nil, err
	}
	const whole = 256 << 10 // more than any answer
	return &Session{child: child, in: in, out: bufio.NewReaderSize(out, whole)}, nil
}

// Initialize makes the handshake.
func (s *Session) Initialize() error {
	_, err := s.Request("initialize", []byte(initializeParams))
	if err == nil {
		_, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	return err
}

// Request sends a request and returns the line with its answer, which is valid until the next call. It returns an error
// if the answer is an error.
func (s *Session) Request(method string, params []byte) ([]byte, error) {
	if err := s.write(method, params); err != nil {
		return nil, err
	}
	answer := strconv.AppendInt([]byte(answerHead), int64(s.id), 10)
	for {
		line, err := s.out.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if !bytes.HasPrefix(line, answer) {
			continue // a notification
		}
		if bytes.HasPrefix(line[len(answer):], []byte(`,"error"`)) {
			return nil, fmt.Errorf("%s: %s", method, line)
		}
		return line, nil
	}
}

// write writes a request with a new id.
func (s *Session) write(method string, params []byte) error {
	s.id++
	s.line = strconv.AppendInt(append(s.line[:0], answerHead...), int64(s.id), 10)
	s.line = append(append(append(s.line, `,"method":"`...), method...), `","params":`...)
	s.line = append(append(s.line, params...), "}\n"...)
	_, err := s.in.Write(s.line)
	return err
}

// Run lets the server execute a workload. It returns an error if the run does not succeed.
func (s *Session) Run(w Workload) ([]byte, error) { return s.run(w.Name, w.params()) }

func (s *Session) run(name string, params []byte) ([]byte, error) {
	line, err := s.Request("tools/call", params)
	if err == nil && !bytes.Contains(line, []byte(`"stop_reason":"success"`)) {
		err = fmt.Errorf("%s: %s", name, line)
	}
	return line, err
}

// result returns the structured content of an answer.
func result(line []byte) (map[string]any, error) {
	var answer struct {
		Result struct {
			Structured map[string]any `json:"structuredContent"`
		} `json:"result"`
	}
	err := json.Unmarshal(line, &answer)
	return answer.Result.Structured, err
}

// ResidentMB returns the server's resident memory, in MB.
func (s *Session) ResidentMB() (float64, error) {
	return MemoryMB(strconv.Itoa(s.child.Process.Pid), "VmRSS")
}

// Close ends the server.
func (s *Session) Close() error { return errors.Join(s.in.Close(), s.child.Wait()) }
