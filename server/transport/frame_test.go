package transport

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

// An id in an answer of mcp-go is found as the one that its request was noted by.
func TestIDsComeBack(t *testing.T) {
	for _, id := range []string{
		`0`, `7`, `-7`, `1.0`, `1.5`, `1e2`, `12345678901234567`, `"a"`, `""`, `"a\"b\\"`, `"\u00e9\u2028<&>"`, `"7"`, `"é,"`, `9007199254740991`,
		`-0`, `"\/"`,
	} {
		f, err := readFrame([]byte(`{"jsonrpc":"2.0","method":"ping","id":` + id + `}`))
		if err != nil {
			if id != `12345678901234567` {
				t.Errorf("id %s is refused: %v", id, err)
			}
			continue
		}
		var decoded any
		if err := json.Unmarshal([]byte(id), &decoded); err != nil {
			t.Fatal(err)
		}
		for kind, message := range map[string]any{
			"result": mcp.NewJSONRPCResultResponse(mcp.NewRequestId(decoded), mcp.EmptyResult{}),
			"error":  mcp.JSONRPCError{JSONRPC: "2.0", ID: mcp.NewRequestId(decoded), Error: mcp.NewJSONRPCErrorDetails(1, "x", nil)},
		} {
			line, err := json.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			if got := answered(line); got != f.id {
				t.Errorf("id %s: the %s answers %q, noted was %q", id, kind, got, f.id)
			}
		}
	}
}

func TestAnsweredIsNothingElse(t *testing.T) {
	for name, line := range map[string]string{
		"notification": `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`,
		"cut":          `{"jsonrpc":"2.0","id":`,
		"cut text":     `{"jsonrpc":"2.0","id":"a`,
		"cut escape":   `{"jsonrpc":"2.0","id":"a\`,
		"no comma":     `{"jsonrpc":"2.0","id":5}`,
		"empty":        ``,
	} {
		if got := answered([]byte(line)); got != "" {
			t.Errorf("%s answers %q", name, got)
		}
	}
}

// Numbers that mcp-go could not read are replaced, and nothing else.
func TestTamed(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`:                                `{"a":1}`,
		`{"a":1e308,"b":-1E+5}`:                  `{"a":1e308,"b":-1E+5}`,
		`{"a":1e309}`:                            `{"a":9007199254740992}`,
		`{"a":-1E400,"b":[2e999,1e1]}`:           `{"a":-9007199254740992,"b":[9007199254740992,1e1]}`,
		`{"a":"1e400 \" 1e400"}`:                 `{"a":"1e400 \" 1e400"}`,
		`{"a":"\\","b":1e400}`:                   `{"a":"\\","b":9007199254740992}`,
		`{"a":` + strings.Repeat("9", 400) + `}`: `{"a":9007199254740992}`,
		`{"a":1e-400}`:                           `{"a":1e-400}`,
		`1e400`:                                  `9007199254740992`,
	} {
		if got := string(tamed([]byte(in))); got != want {
			t.Errorf("tamed(%.60s) = %.60s, want %s", in, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	tests := map[string]struct {
		in   string
		want []string // "!" is a line that is too long
	}{
		"empty":                 {"", nil},
		"one":                   {"a\n", []string{"a"}},
		"last without its end":  {"a\nb", []string{"a", "b"}},
		"blank ones":            {"\n\na\n", []string{"", "", "a"}},
		"just fits":             {strings.Repeat("x", 7) + "\ny\n", []string{"xxxxxxx", "y"}},
		"one byte too long":     {strings.Repeat("x", 8) + "\ny\n", []string{"!", "y"}},
		"far too long":          {strings.Repeat("x", 300_000) + "\ny\n" + strings.Repeat("x", 200_000), []string{"!", "y", "!"}},
		"too long and no end":   {strings.Repeat("x", 8), []string{"xxxxxxxx"}},
		"too long and no end 2": {strings.Repeat("x", 9), []string{"!"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLines(strings.NewReader(tt.in), 8)
			var got []string
			for {
				line, err := l.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if errors.Is(err, errLongLine) {
					line = []byte("!")
				} else if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// A line is taken just as encoding/json, which mcp-go uses, would read it; a tamed one keeps all but its numbers.
func FuzzFrame(f *testing.F) {
	for _, seed := range []string{helloExample, readyExample, callExample, `{"jsonrpc":"2.0","id":"a","method":"x","ID":1}`, `[]`, `{"a":1e400}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		fr, err := readFrame(line)
		if err != nil {
			fault, ok := errors.AsType[*frameFault](err)
			if !ok || !json.Valid(fault.line()) {
				t.Fatalf("readFrame(%q): %v", line, err)
			}
			return
		}
		if fr.id != "" && !json.Valid([]byte(fr.id)) {
			t.Fatalf("readFrame(%q): id %s", line, fr.id)
		}
		var raw struct {
			ID any `json:"id"`
		}
		tame := tamed(line)
		if err := json.Unmarshal(tame, &raw); err != nil {
			t.Fatalf("tamed(%q) = %q: %v", line, tame, err)
		}
		if fr.id == "" || raw.ID == nil {
			return
		}
		if id, err := json.Marshal(raw.ID); err != nil || string(id) != fr.id {
			t.Fatalf("readFrame(%q): id %s, answered as %s", line, fr.id, id)
		}
	})
}
