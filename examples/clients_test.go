package examples

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/testscript"
)

// samples is absolute: sessions have a directory of their own.
var samples = func() string {
	path, err := filepath.Abs("clients")
	if err != nil {
		panic(err)
	}
	return path
}()

// command is a path to the program, as setup writes it.
var command = regexp.MustCompile(`"[^"\n]*patterngate(\.exe)?"(,?)\n`)

// sample compares a file that setup wrote with the one of that name in examples/clients: sample NAME.
func sample(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sample NAME")
	}
	written := command.ReplaceAllString(ts.ReadFile(args[0]), `"/path/to/patterngate"$2`+"\n")
	shown, err := os.ReadFile(filepath.Join(samples, args[0]))
	ts.Check(err)
	if want := string(shown); strings.TrimSpace(written) != strings.TrimSpace(want) {
		ts.Fatalf("examples/clients/%s shows\n%s\nsetup writes\n%s", args[0], want, written)
	}
}

// entry is a server as a client's file has it.
type entry struct {
	Name    string            `json:"name"` // where servers are a list
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Options struct {
		Headers map[string]string `json:"headers"`
	} `json:"requestOptions"` // Continue's
	Token string `json:"bearer_token_env_var"` // Codex's
}

// authorization is all that the file says of a token.
func (e entry) authorization() string {
	return strings.TrimPrefix(e.Headers["Authorization"]+e.Options.Headers["Authorization"]+e.Token, "Bearer ")
}

// TestClientFiles parses every file in clients as its client does: each has one server, patterngate, which is the program
// or an address; no file holds a token, only where the client takes it from.
func TestClientFiles(t *testing.T) {
	files, err := filepath.Glob("clients/*")
	if err != nil || len(files) < 10 {
		t.Fatalf("clients has %q, %v, want files", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			e := parse(t, file, text)
			switch program := e.Command == "/path/to/patterngate" && slices.Equal(e.Args, []string{"serve"}); {
			case strings.Contains(file, "-http.") == program:
				t.Errorf("%s starts %q %q", file, e.Command, e.Args)
			case !program && e.URL != "http://127.0.0.1:8765/mcp":
				t.Errorf("%s is at %q", file, e.URL)
			}
			if token := e.authorization(); !regexp.MustCompile(`^$|^PATTERNGATE_TOKEN$|^\$\{.*\}$`).MatchString(token) {
				t.Errorf("%s holds the token %q", file, token)
			}
		})
	}
}

// parse finds the one server in a file: under its name, or in a list of named ones.
func parse(t *testing.T, file string, text []byte) entry {
	t.Helper()
	read := map[string]func([]byte, any) error{
		".json": json.Unmarshal, ".toml": toml.Unmarshal, ".yaml": func(b []byte, v any) error { return yaml.Unmarshal(b, v) },
	}
	var in map[string]any
	if err := read[filepath.Ext(file)](text, &in); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var named map[string]entry
	var listed []entry
	for _, key := range []string{"mcpServers", "servers", "mcp_servers"} {
		servers, err := json.Marshal(in[key])
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(servers, &named) == nil && len(named) == 1 {
			return named["patterngate"]
		}
		if json.Unmarshal(servers, &listed) == nil && len(listed) == 1 && listed[0].Name == "patterngate" {
			return listed[0]
		}
	}
	t.Fatalf("%s has no server of its own", file)
	return entry{}
}
