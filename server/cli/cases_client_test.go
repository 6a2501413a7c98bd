package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The protocol eras that a session may speak: with a handshake, or with every request complete in itself.
const (
	handshake = "2025-11-25"
	stateless = "2026-07-28"
)

// sessionTime bounds a whole session: a server that hangs is killed, not waited for.
const sessionTime = 60 * time.Second

// session is the built binary as an MCP client starts it, with pipes and an environment of its own. Answers are read while
// one is awaited; those to calls that are awaited later are put by.
type session struct {
	stateFile string
	era       string
	process   *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	errs      bytes.Buffer
	last      int
	unread    map[int]*rpcAnswer // requests that are not answered or whose answer nobody took, by their id
}

// rpcAnswer is what came to a request; without Result and Error nothing did.
type rpcAnswer struct {
	method        string
	Result, Error json.RawMessage
}

// toolResult is what tools/call returns.
type toolResult struct {
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
}

// serving is how the program is served.
type serving struct {
	binary, era string
	state       string // "": where it keeps it by itself
}

// startSession starts "patterngate serve" with this configuration file and model server, in empty directories.
func startSession(t *testing.T, served serving, config []byte, modelURL string) *session {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, "cases.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionTime)
	t.Cleanup(cancel)
	s := &session{era: served.era, unread: map[int]*rpcAnswer{}, process: exec.CommandContext(ctx, served.binary, "serve", "--config", file)}
	s.process.Dir = home
	s.process.Env = []string{"HOME=" + home, "OPENAI_BASE_URL=" + modelURL, "OPENAI_API_KEY=sk-cases"}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"} {
		dir := filepath.Join(home, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		s.process.Env = append(s.process.Env, name+"="+dir)
	}
	if served.state != "" {
		s.process.Args = append(s.process.Args, "--state", served.state)
	}
	s.stateFile = filepath.Join(home, "XDG_STATE_HOME", "patterngate", "demo.db")
	s.process.Stderr = &s.errs
	var err error
	if s.in, err = s.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	if err := s.open(); err != nil {
		t.Fatalf("handshake: %v\n%s", err, s.end())
	}
	return s
}

// open makes the official handshake, where the era has one.
func (s *session) open() error {
	if s.era == stateless {
		return nil
	}
	var hello struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	params := map[string]any{"protocolVersion": s.era, "capabilities": map[string]any{}, "clientInfo": clientInfo()}
	if err := s.request("initialize", params, &hello); err != nil {
		return err
	}
	if hello.ProtocolVersion != s.era {
		return fmt.Errorf("initialize: protocol version %q, want %q", hello.ProtocolVersion, s.era)
	}
	return s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

func clientInfo() map[string]any { return map[string]any{"name": "cases", "version": "1"} }

// call calls a tool. arguments go out as they are written.
func (s *session) call(tool string, arguments json.RawMessage) (toolResult, error) {
	id, err := s.begin(tool, arguments)
	if err != nil {
		return toolResult{}, err
	}
	return s.await(id)
}

// begin sends a call whose result is awaited by its id.
func (s *session) begin(tool string, arguments json.RawMessage) (id int, err error) {
	params := map[string]any{"name": tool, "arguments": arguments}
	if s.era == stateless {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    s.era,
			"io.modelcontextprotocol/clientInfo":         clientInfo(),
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	return s.send("tools/call", params)
}

// await is the result of a call that was sent.
func (s *session) await(id int) (toolResult, error) {
	var result toolResult
	return result, s.receive(id, &result)
}

func (s *session) request(method string, params, result any) error {
	id, err := s.send(method, params)
	if err != nil {
		return err
	}
	return s.receive(id, result)
}

func (s *session) send(method string, params any) (id int, err error) {
	s.last++
	s.unread[s.last] = &rpcAnswer{method: method}
	return s.last, s.write(map[string]any{"jsonrpc": "2.0", "id": s.last, "method": method, "params": params})
}

// receive reads until a request is answered.
func (s *session) receive(id int, result any) error {
	asked := s.unread[id]
	defer delete(s.unread, id)
	for asked.Result == nil && asked.Error == nil {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%s: no answer: %w", asked.method, err)
		}
		var answer struct {
			ID     *int            `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return fmt.Errorf("%s: stdout holds %.200q: %w", asked.method, line, err)
		}
		switch {
		case answer.ID == nil && answer.Method != "": // a notification
		case answer.ID == nil || s.unread[*answer.ID] == nil || answer.Result == nil && answer.Error == nil:
			return fmt.Errorf("%s: got %.200s, want the answer to %d", asked.method, line, id)
		default:
			s.unread[*answer.ID].Result, s.unread[*answer.ID].Error = answer.Result, answer.Error
		}
	}
	if asked.Error != nil {
		return fmt.Errorf("%s: %s", asked.method, asked.Error)
	}
	return json.Unmarshal(asked.Result, result)
}

func (s *session) write(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = s.in.Write(append(line, '\n'))
	return err
}

// close ends the session as a client does, by closing the pipe, and reports how the server took it.
func (s *session) close() error {
	if err := s.in.Close(); err != nil {
		return err
	}
	if rest, err := io.ReadAll(s.out); err != nil || len(rest) > 0 {
		return errors.Join(err, fmt.Errorf("after the last answer stdout holds %.200q", rest))
	}
	return s.process.Wait()
}

// end kills the server and returns what it wrote to stderr.
func (s *session) end() string {
	_ = s.process.Process.Kill() // it may have ended
	_ = s.process.Wait()
	return s.errs.String()
}
