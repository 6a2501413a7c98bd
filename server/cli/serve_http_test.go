package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"patterngate/server/cli/console"
	"patterngate/server/settings"
)

const secretToken = "0123456789abcdef0123456789abcdef"

// writeTokens writes a token file of one token with that mode.
func writeTokens(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// The program serves over HTTP where it is told to, says in its log where that is, and ends in order on SIGTERM.
func TestServeHTTP(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM there")
	}
	tokens := writeTokens(t, "# one\nci: "+secretToken+"\n", 0o600)
	for name, tt := range map[string]struct {
		args    []string
		headers map[string]string
		status  int
	}{
		"same user":     {[]string{"--http", "127.0.0.1:0"}, nil, 200},
		"with a token":  {[]string{"--http", "localhost:0", "--token-file", tokens}, map[string]string{"Authorization": "Bearer " + secretToken}, 200},
		"without one":   {[]string{"--http", "localhost:0", "--token-file", tokens}, nil, 401},
		"all addresses": {[]string{"--http", "0.0.0.0:0", "--token-file", tokens}, map[string]string{"Authorization": "Bearer " + secretToken}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS != "linux" && len(tt.args) == 2 {
				t.Skip("only Linux tells who is at the other end of a connection")
			}
			cmd := program(t, append([]string{"serve", "--log-format", "json"}, tt.args...)...)
			cmd.Stdout = failing{t}
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			log := bufio.NewReader(stderr)
			port := servedPort(t, log)
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
				`"io.modelcontextprotocol/clientCapabilities":{}},"name":"route_ticket","arguments":%s}}`, routeArguments)
			request, err := http.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1:"+port+"/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "route_ticket",
			} {
				request.Header.Set(name, value)
			}
			for name, value := range tt.headers {
				request.Header.Set(name, value)
			}
			response, err := (&http.Client{Timeout: 20 * time.Second}).Do(request)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != tt.status || tt.status == 200 && !strings.Contains(string(text), `"status":"ok"`) {
				t.Errorf("status %d: %s", response.StatusCode, text)
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			rest, _ := io.ReadAll(log)
			if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), `"msg":"stopping"`) {
				t.Errorf("the program ended with %v: %s", err, rest)
			}
			if strings.Contains(string(rest), secretToken) {
				t.Error("the log holds a token")
			}
		})
	}
}

const routeArguments = `{"ticket":"refund user_id=42","route":{"target":"billing_specialist"}}`

// failing is an output to which nothing may be written.
type failing struct{ t *testing.T }

func (f failing) Write(p []byte) (int, error) {
	f.t.Errorf("standard output: %q", p)
	return len(p), nil
}

// servedPort is the port that the log names. Warnings come before.
func servedPort(t *testing.T, log *bufio.Reader) string {
	t.Helper()
	for {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("the program ended before it served: %v: %s", err, line)
		}
		var record struct{ Msg, Transport, Address string }
		if json.Unmarshal([]byte(line), &record) == nil && record.Msg == "serving" {
			if record.Transport != "http" {
				t.Errorf("the log: %s", line)
			}
			return record.Address[strings.LastIndexByte(record.Address, ':')+1:]
		}
	}
}

// A token file that others can read, or that holds no tokens, lets nobody in: the program does not start.
func TestTokenFileFaults(t *testing.T) {
	good := "ci: " + secretToken + "\n"
	dir := t.TempDir()
	tests := map[string]struct{ path, want string }{
		"missing":     {filepath.Join(dir, "none"), "http.token_file: no such file; write the path of a file"},
		"a directory": {dir, "http.token_file: not a regular file; write the path of a file"},
		"empty":       {writeTokens(t, "", 0o600), ": no token; write a line name: token"},
		"no tokens":   {writeTokens(t, "ci: short\n\nx\n", 0o400), ": line 1: ci: a token has 20 to 512 characters; make one with openssl rand -hex 32"},
		"too long":    {writeTokens(t, strings.Repeat("#", 300_000), 0o600), ": more than 262144 bytes"},
	}
	if runtime.GOOS != "windows" {
		tests["for its group"] = struct{ path, want string }{writeTokens(t, good, 0o640), "http.token_file: mode 0640 lets other users open it; chmod 600 it"}
		tests["for all"] = struct{ path, want string }{writeTokens(t, good, 0o604), "http.token_file: mode 0604 lets other users open it; chmod 600 it"}
		open := writeTokens(t, good, 0o600)
		if err := os.Chmod(filepath.Dir(open), 0o777); err != nil {
			t.Fatal(err)
		}
		tests["in an open directory"] = struct{ path, want string }{open, "everyone can write to its directory"}
	}
	for name, tt := range tests {
		_, err := tokensOf(settings.HTTP{Listen: "127.0.0.1:0", TokenFile: tt.path})
		failed, ok := errors.AsType[*console.Error](err)
		if !ok || failed.Code != console.ExitUsage || !strings.HasPrefix(err.Error(), tt.path+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s: %s", name, err, tt.path, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), secretToken) {
			t.Errorf("%s: the token is told", name)
		}
	}
	for name, mode := range map[string]os.FileMode{"0600": 0o600, "0400": 0o400} {
		tokens, err := tokensOf(settings.HTTP{Listen: "127.0.0.1:0", TokenFile: writeTokens(t, good, mode)})
		if err != nil || tokens.Len() != 1 {
			t.Errorf("mode %s: %v, %v", name, tokens, err)
		}
	}
	if tokens, err := tokensOf((settings.HTTP{TokenFile: "none"})); err != nil || tokens.Len() != 0 {
		t.Errorf("a file that is not needed: %v, %v", tokens, err)
	}
}
